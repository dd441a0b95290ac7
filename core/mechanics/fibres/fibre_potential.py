"""Potential of the fibres of a muscle during a step: ``sum_f w_f psi(|v_f|)`` with the fibre vectors ``v = F a``.

With ``n = v/|v|``, the gradient by v is ``w psi' n``, and the second derivative is

    w (psi'' n n^T + psi'/l (I - n n^T)),      l = |v|

which is semi-definite if ``psi'' >= 0``, since fibres never push (``psi' >= 0``). The descending part of Hill's law has
``psi'' < 0``, which counts as 0. A fibre of no length has no direction: its tension there is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from ..forces.step_potential import Motion, StepPotential
from .law import FibreTerms

SHORTEST = 1e-12
"""Stretch below which a fibre has no direction."""


class LinearVectors(Protocol):
    """Vectors that are linear functions of the unknowns: :class:`.fibre_vectors.FibreVectors`, or points of a
    subspace.
    """

    def positions(self, x: np.ndarray) -> np.ndarray:
        """Return the vectors (f,3) for unknowns x (n,3)."""

    def moved(self, change: np.ndarray) -> np.ndarray:
        """Return the changes (f,3) of the vectors due to a ``change`` (n,3) of the unknowns."""

    def spread(self, forces: np.ndarray) -> np.ndarray:
        """Return the gradient (n,3) by the unknowns, from derivatives by the vectors (f,3)."""

    def add_stiffness(self, K: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Add ``scale`` times the stiffness to a matrix of the space. ``K`` (f,3,3): derivatives by the vectors."""


class VectorPotential(StepPotential):
    """Potential of vectors that are linear functions of the unknowns.

    Attributes
    ----------
    vectors : f vectors as functions of the unknowns
    """

    vectors: LinearVectors

    def hessians(self, positions: np.ndarray) -> np.ndarray:
        """Return the semi-definite second derivatives (f,3,3) by the vectors, at ``positions`` (n,3) m."""
        raise NotImplementedError

    def add_stiffness(self, positions: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Add ``scale`` times the semi-definite Hessian to ``blocks`` (:meth:`StepPotential.add_stiffness`)."""
        self.vectors.add_stiffness(self.hessians(positions), scale, blocks)


class FibrePotential(VectorPotential):
    """Potential of f fibres, which is also the load that makes it.

    Parameters
    ----------
    vectors : fibre vectors as functions of the unknowns
    weights : (f,) m³, volume of each fibre
    law : function of the stretches (f,) that returns :class:`.law.FibreTerms` at the activation of the step
    """

    def __init__(self, vectors: LinearVectors, weights: np.ndarray, law: Callable[[np.ndarray], FibreTerms]) -> None:
        self.vectors, self.weights, self.law = vectors, weights, law

    def in_merged_model(self, unknowns: int, vertices: slice, blocks: slice) -> FibrePotential:
        """Return the potential as a function of the ``unknowns`` (a count) of a merged model of several bodies.

        ``vertices``, ``blocks``: slices of the body's vertices and element blocks in the merged model.
        """
        return FibrePotential(_MergedVectors(self.vectors, unknowns, vertices, blocks), self.weights, self.law)

    def begin(self, _motion: Motion) -> FibrePotential:
        """Return this potential, which does not depend on the motion in the step."""
        return self

    def value(self, positions: np.ndarray) -> float:
        """Return the potential, J, at ``positions`` (n,3) m."""
        return float(self.weights @ self.law(self.stretches(positions)).density)

    def stretches(self, positions: np.ndarray) -> np.ndarray:
        """Return the stretches (f,) of the fibres at ``positions`` (n,3) m."""
        return np.linalg.norm(self.vectors.positions(positions), axis=1)

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """Return the gradient by the ``positions`` (n,3) m. The result is (n,3), N."""
        stretch, along = directions_of(self.vectors.positions(positions))
        return self.vectors.spread((self.weights * self.law(stretch).slope)[:, None] * along)

    def hessians(self, positions: np.ndarray) -> np.ndarray:
        """Return the semi-definite second derivatives (f,3,3) by the fibre vectors (:class:`VectorPotential`)."""
        stretch, along = directions_of(self.vectors.positions(positions))
        terms = self.law(stretch)
        return fibre_stiffness(self.weights, terms.slope, terms.curvature, stretch, along)


class _MergedVectors:
    """Vectors of one body as functions of the unknowns of a merged model."""

    def __init__(self, own: LinearVectors, unknowns: int, vertices: slice, blocks: slice) -> None:
        self._own, self._unknowns, self._vertices, self._blocks = own, unknowns, vertices, blocks

    def positions(self, x: np.ndarray) -> np.ndarray:
        return self._own.positions(x[self._vertices])

    def moved(self, change: np.ndarray) -> np.ndarray:
        return self._own.moved(change[self._vertices])

    def spread(self, forces: np.ndarray) -> np.ndarray:
        out = np.zeros((self._unknowns, 3))
        out[self._vertices] = self._own.spread(forces)
        return out

    def add_stiffness(self, K: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        own = blocks[:, self._vertices, :, self._vertices] if blocks.ndim == 4 else blocks[self._blocks]
        self._own.add_stiffness(K, scale, own)


def directions_of(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lengths (f,) of ``vectors`` (f,3) and their unit directions (f,3), zero for vectors of no length."""
    length = np.linalg.norm(vectors, axis=1)
    return length, np.where(length[:, None] > SHORTEST, vectors / np.maximum(length, SHORTEST)[:, None], 0.0)


def fibre_stiffness(
    weights: np.ndarray, slope: np.ndarray, curvature: np.ndarray, stretch: np.ndarray, along: np.ndarray
) -> np.ndarray:
    """Return ``w (max(psi'', 0) n n^T + psi'/l (I - n n^T))``, the second derivatives by the fibre vectors, (f,3,3).

    ``slope`` psi' and ``curvature`` psi'' (f,), Pa. ``stretch`` l (f,) and ``along`` n (f,3): lengths and directions.
    """
    across = weights * slope / np.maximum(stretch, SHORTEST)
    across = np.where(stretch > SHORTEST, across, 0.0)
    more = weights * np.maximum(curvature, 0.0) - across
    K = more[:, None, None] * (along[:, :, None] * along[:, None, :])
    K[:, [0, 1, 2], [0, 1, 2]] += across[:, None]
    return K
