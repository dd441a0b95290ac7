"""Handles that display a deformed surface by linear blend skinning on the graphics card.

A handle is an affine displacement. Skinning weights blend the handles. The simulated surface follows its tets. The
subspace's handles, which move the vertices of the tets, are inaccurate for surface points between these vertices
(``skinning.py``). Therefore separate display handles with small displacements are fitted: for each unknown of the
subspace, they reproduce the displacement of the surface that the unknown causes. Handles of hard pins are displayed
unchanged, since no other handle moves the points of a pin.
"""

from __future__ import annotations

import numpy as np

from ...geometry.mesh.embedding import Embedding
from .handle_fit import HandleFit
from .reduced_model import WATCHED, Subspace
from .skinning_basis import skinning_columns

POINTS_A_COLUMN, FEWEST_FITTED = 40, 4000
"""Largest number of surface points in the fit: POINTS_A_COLUMN per column of the fit's matrix, but at least
FEWEST_FITTED.

Each column holds the products of one skinning weight and one homogeneous coordinate.
"""


class DisplayHandles:
    """Handles that display the surface of a body in a subspace by linear blend skinning.

    The handles are fitted to the simulated motion of the surface's p vertices. ``embedding``: positions of these
    vertices in the tets.

    Attributes
    ----------
    weights : (p,h) skinning weights of the surface's vertices: first of the modes' handles, then of the pins' handles
    """

    def __init__(self, subspace: Subspace, embedding: Embedding) -> None:
        space, skinning = subspace.model, subspace.model.skinning
        mesh, modes = space.mesh, len(subspace.parts.transform)
        self.weights = skinning.weights_at(embedding)
        fitted = _spread(len(self.weights), max(FEWEST_FITTED, POINTS_A_COLUMN * modes))
        rest = embedding.take(fitted).apply(mesh.rest_positions, mesh.tets)
        largest = np.abs(self.weights).max(axis=0)
        largest[largest == 0.0] = 1.0
        scaled = self.weights[fitted] / largest
        movements = space.points(embedding.take(fitted)).shares
        pins = subspace.parts.transform.shape[1]
        movements[:, pins:] -= skinning_columns(self.weights[fitted][:, modes // 4 :], skinning.coordinates.of(rest))
        fit = HandleFit(rest, scaled[:, : modes // 4], skinning.coordinates)
        own = fit.coefficients(movements) / np.repeat(largest[: modes // 4], 4)[:, None]
        self._transform = np.vstack([own, np.eye(4 * subspace.pins.count, own.shape[1], pins)])
        watched = embedding.take(_spread(len(self.weights), WATCHED))
        rest, weights = watched.apply(mesh.rest_positions, mesh.tets), skinning.weights_at(watched)
        shown = skinning_columns(weights, skinning.coordinates.of(rest)) @ self._transform
        self._beside = shown - space.points(watched).shares

    def of(self, unknowns: np.ndarray) -> np.ndarray:
        """Return the handles (h,4,3), m, that display the surface.

        ``unknowns`` (r,3): unknowns of the subspace. A handle is an affine displacement, which is zero at rest. The
        skinning weights blend the handles.
        """
        return (self._transform @ unknowns).reshape(-1, 4, 3)

    def max_difference(self, unknowns: np.ndarray) -> float:
        """Return the largest distance, m, between displayed and simulated positions.

        ``unknowns`` (r,3): unknowns of the subspace. Only a sample of the surface vertices is compared.
        """
        return float(np.linalg.norm(self._beside @ unknowns, axis=1).max(initial=0.0))


def _spread(count: int, most: int) -> np.ndarray:
    """Return at most ``most`` evenly spaced indices from 0 to ``count`` - 1."""
    return np.arange(0, count, -(-count // most) or 1)
