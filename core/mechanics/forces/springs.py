"""Springs of rest length zero from points y_p of the body to targets t_p: ``1/2 sum_p k_p |y_p - t_p|²``.

Soft pins are such springs, with the positions in the body's animation as targets.
"""

from __future__ import annotations

import numpy as np

from ...foundation.errors import SpringError
from ...geometry.mesh.surface_mesh import SurfaceMesh
from .embedded_points import EmbeddedPoints
from .step_potential import Motion, StepPotential


def shared_stiffness(total: float, weights: np.ndarray) -> np.ndarray:
    """Return the stiffness (p,), N/m, of p springs: ``total``, N/m, divided in proportion to ``weights`` (p,).

    Raises
    ------
    SpringError
        A weight is negative or not a number, or none is positive.
    """
    weights = np.asarray(weights, dtype=np.float64)
    if not (np.isfinite(weights) & (weights >= 0.0)).all() or not 0.0 < weights.sum() < np.inf:
        raise SpringError(
            "The weights of a spring are negative, not numbers or all zero.",
            "Set them to at least 0, and at least one of them above 0.",
        )
    return total * (weights / weights.sum())


def goal_stiffness(surface: SurfaceMesh, vertices: np.ndarray, weights: np.ndarray, modulus: float) -> np.ndarray:
    """Return the stiffness (p,), N/m, of soft pins of strength 1 at the surface vertices ``vertices`` (p,).

    The stiffness is ``E L w a / A`` at a vertex of weight w (``weights``, (p,)) and area a, on a surface of size L and
    area A with Young's modulus E (``modulus``, Pa). If all vertices have the weight 1, the total is ``E L`` at any mesh
    resolution.
    """
    areas = surface.vertex_areas
    return modulus * surface.size / areas.sum() * weights * areas[vertices]


class Springs(StepPotential):
    """Springs of rest length zero from points to targets, during one step.

    Parameters
    ----------
    points : the p points of the body
    stiffness : (p,) N/m; 0 disables a spring
    targets : (p,3) m, at the end of the step

    Raises
    ------
    SpringError
        A stiffness is negative, or a stiffness or target is not a number.
    """

    def __init__(self, points: EmbeddedPoints, stiffness: np.ndarray, targets: np.ndarray) -> None:
        if not (np.isfinite(stiffness) & (np.asarray(stiffness) >= 0.0)).all():
            raise SpringError("The stiffness of a spring is negative or not a number.", "Set it to at least 0 N/m.")
        if not np.isfinite(targets).all():
            raise SpringError("The target position of a spring is not a number.", "Check the animation of the target.")
        self._points, self._stiffness, self._targets = points, stiffness, targets

    def begin(self, _motion: Motion) -> Springs:
        """Return these springs, independent of the motion in the step."""
        return self

    def value(self, positions: np.ndarray) -> float:
        """Return the potential, J, at vertex ``positions`` (n,3) m."""
        away = self._points.positions(positions) - self._targets
        return 0.5 * float(np.sum(self._stiffness * np.sum(away * away, axis=1)))

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """Return the gradient of the potential by the vertex positions, (n,3) N."""
        away = self._points.positions(positions) - self._targets
        return self._points.spread(self._stiffness[:, None] * away)

    def add_stiffness(self, _positions: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Add ``scale`` times the Hessian to ``blocks``: the stiffness ``k_p`` times the identity at each point."""
        self._points.add_stiffness(self._stiffness[:, None, None] * np.eye(3), scale, blocks)
