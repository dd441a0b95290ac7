"""Springs of rest length zero that stiffen with elongation.

Under large loads the springs are ``FIRM`` times as stiff as under small loads. Each spring consists of two in series: a
soft one of stiffness k, whose elongation is limited to its reach g, and a linear one of stiffness ``m k``, m = FIRM. In
units of g for lengths and ``k g`` for forces, the spring's elongation under a force f is

    c(f) = f / m + (1 - 1/m) f / (1 + f)        about f for small forces, 1 + f / m for large ones

A spring's energy is a convex function of its elongation, but Newton's method converges slowly on it: each iteration
reduces a large elongation by a fraction only. So each iteration of a solver linearises the springs about a force vector
f_0 of length f. At the elongation vector a, the linearised force is

    f_0 + K (a - c(f) f_0 / f)

The stiffness matrix K has the eigenvalue ``1 / c'(f)`` in the direction of f_0, and ``f / c(f)`` across f_0.

At the solution of each iteration, a spring has an elongation a and a linearised force. The component of this force
along a is the f_0 of the next iteration. The method is Newton's method on forces, which hardly change for a hanging
body. The first iteration takes the forces at the step's beginning as f_0.
"""

from __future__ import annotations

import numpy as np

from .springs import Springs
from .step_potential import Motion
from .unilateral_springs import Points

FIRM = 4000.0

NEAR = 1e-4
"""Convergence tolerance for each spring's elongation, as a fraction of the spring's reach, at which the spring
stiffens. The elongation vector is compared with the elongation that the linearised force causes by the exact law. The
springs have converged if no component differs by more.
"""


class StiffeningSprings:
    """Springs between points and targets, as the load of one step. The springs stiffen at elongations near ``reach``.

    Parameters
    ----------
    points : the c points of the body
    stiffness : (c,) N/m, at small elongation
    reach : (c,) m
    before, targets : (c,3) m, targets at the beginning and at the end of the step
    """

    def __init__(
        self, points: Points, stiffness: np.ndarray, reach: np.ndarray, before: np.ndarray, targets: np.ndarray
    ) -> None:
        self._points, self._stiffness, self._reach = points, stiffness, reach
        self._before, self._targets = before, targets

    def begin(self, motion: Motion) -> LinearSprings:
        """Return the springs for the step, linearised at the forces at the beginning of the step."""
        away = (self._points.positions(motion.x_prev) - self._before) / self._reach[:, None]
        length = np.linalg.norm(away, axis=1)
        forces = _along(away, length, force_of(length))
        return LinearSprings(self._points, self._stiffness, self._reach, self._targets, forces)


class LinearSprings(Springs):
    """Stiffening springs, linearised at ``forces`` (c,3).

    The unit of a spring's force is the spring's stiffness times the spring's reach.
    """

    def __init__(
        self, points: Points, stiffness: np.ndarray, reach: np.ndarray, targets: np.ndarray, forces: np.ndarray
    ) -> None:
        super().__init__(points, stiffness, targets)
        self._reach = reach
        self._go_on_from(forces)

    def value(self, positions: np.ndarray) -> float:
        """Return the potential, J, at vertex ``positions`` (n,3) m, up to a constant.

        The constant changes with each :meth:`update`.
        """
        further = self._away(positions) - self._give
        each = np.sum((self._forces + 0.5 * np.einsum("cij,cj->ci", self._K, further)) * further, axis=1)
        return float(np.sum(self._stiffness * self._reach**2 * each))

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """Return the gradient of the potential by the vertex positions, (n,3) N."""
        return self._points.spread((self._stiffness * self._reach)[:, None] * self._forces_at(self._away(positions)))

    def add_stiffness(self, _positions: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Add ``scale`` times the stiffness of the linearised springs to the ``blocks`` of a solver's matrix."""
        self._points.add_stiffness(self._stiffness[:, None, None] * self._K, scale, blocks)

    def update(self, positions: np.ndarray) -> bool:
        """Linearise at the forces that the springs have at ``positions`` (n,3), m.

        Only the component of each force along the elongation is kept. Return False, without a change, if the
        linearisation was already accurate.
        """
        away = self._away(positions)
        forces = self._forces_at(away)
        if (np.abs(_gives(forces) - away) <= NEAR).all():
            return False
        length = np.linalg.norm(away, axis=1)
        pull = np.maximum(np.sum(forces * away, axis=1), 0.0)
        self._go_on_from(_along(away, length**2, pull))
        return True

    def _go_on_from(self, forces: np.ndarray) -> None:
        size = np.linalg.norm(forces, axis=1)
        across = 1.0 / _softness(size)
        more = 1.0 / _softness(size, 2) - across
        directions = _along(forces, size, np.ones_like(size))
        self._forces, self._give = forces, _gives(forces)
        self._K = across[:, None, None] * np.eye(3) + more[:, None, None] * (
            directions[:, :, None] * directions[:, None, :]
        )

    def _away(self, positions: np.ndarray) -> np.ndarray:
        """Return the vector from each target to the spring's point, (c,3), in units of the spring's reach."""
        return (self._points.positions(positions) - self._targets) / self._reach[:, None]

    def _forces_at(self, away: np.ndarray) -> np.ndarray:
        return self._forces + np.einsum("cij,cj->ci", self._K, away - self._give)


def force_of(give: np.ndarray) -> np.ndarray:
    """Return the force that elongates each spring by ``give`` (c,), (c,).

    The elongation of a spring under a force f is ``f / m + (1 - 1/m) f / (1 + f)``, where ``m = FIRM``; the function
    inverts this formula. Elongations are in units of a spring's reach, forces in units of stiffness times reach.
    """
    beyond = give - 1.0
    root = np.hypot(beyond, 2.0 * np.sqrt(give / FIRM))
    # The two forms of a quadratic equation's root, each where it does not cancel.
    return np.where(beyond > 0.0, 0.5 * FIRM * (beyond + root), 2.0 * give / (root - beyond))


def _softness(force: np.ndarray, power: int = 1) -> np.ndarray:
    """Return the secant compliance of each spring under a ``force``, or the tangent compliance if ``power`` is 2.

    The elongation under a force f is ``f / m + (1 - 1/m) f / (1 + f)``, where ``m = FIRM``.
    """
    return 1.0 / FIRM + (1.0 - 1.0 / FIRM) / (1.0 + force) ** power


def _gives(forces: np.ndarray) -> np.ndarray:
    """Return the elongation of each spring under ``forces`` (c,3), (c,3), in units of the spring's reach."""
    return forces * _softness(np.linalg.norm(forces, axis=1))[:, None]


def _along(displacements: np.ndarray, lengths: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return ``displacements`` (c,3) scaled by ``sizes / lengths`` (c,), or by 0 if a length is 0."""
    return displacements * np.divide(sizes, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)[:, None]
