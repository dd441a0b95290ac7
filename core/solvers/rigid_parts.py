"""Connected parts of a body that can move as a whole, since nothing holds them, or too few pins to keep them from
turning: and how each does.

By the mass, a part's movement falls into c of it as a whole, along ``A`` (n,3,c), and the rest: three ways and three
turns about its centre, or the turns about its pins. ``A^T M v`` are its momenta: they go on as it turns, its velocities
do not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from ..model.model import Model
from ..model.nodes import Nodes, islands

UNRESOLVED = 1e-6
"""Of how far a part's vertices move in it, what pins or nodes move by in a motion that they do not see."""

GIVEN = 0.1
"""Of the kinetic energy of what vibrates, that it is given at most in a step that has settled to less."""


class RigidComponent(NamedTuple):
    """A part's vertices (r,) and where they are about its centre, (r,3) m; how A's columns are mixed of three ways and
    three turns, (6,c); A (n,3,c), M A, and ``A^T M A``'s inverse.
    """

    vertices: np.ndarray
    centred_positions: np.ndarray
    mixed: np.ndarray
    motions: np.ndarray
    weighed: np.ndarray
    inverse: np.ndarray

    def rigid_motion(self, momenta: np.ndarray) -> np.ndarray:
        """Of momenta (n,3), how it moves as a whole: by A's columns, (c,)."""
        return self.inverse @ np.tensordot(self.motions, momenta, axes=((0, 1), (0, 1)))

    def rotation(self, momenta: np.ndarray) -> np.ndarray:
        """Of momenta (n,3), how it turns in a step, (3,): by its inertia halfway, which turns with it. By that at the
        beginning a body that tumbles would gain energy.
        """
        turn, Q = (self.mixed @ self.rigid_motion(momenta))[3:], self.mixed[3:, -3:]
        if Q.shape[1] < 3:  # about a line
            return turn
        inverse = Q @ self.inverse[-3:, -3:] @ Q.T
        half = Rotation.from_rotvec(0.5 * turn)
        return half.apply(inverse @ half.inv().apply(np.linalg.solve(inverse, turn)))


class RigidParts:
    """Of a model."""

    def __init__(self, model: Model) -> None:
        self._mass, self._weights, label = model.mass, model.lumped_masses, islands(model.mesh)
        held = np.zeros(len(label), dtype=bool)
        held[model.held] = True
        self._parts = []
        for rows in (np.flatnonzero(label == part) for part in range(label.max() + 1)):
            pins = rows[held[rows]]
            if _mixes(model.mesh.rest_positions, rows, pins)[0].size:
                self._parts.append((rows, pins))

    def components_at(self, x: np.ndarray) -> list[RigidComponent]:
        """Those of each part at positions (n,3)."""
        found = []
        for rows, pins in self._parts:
            mixed, centre = _mixes(x, rows, pins, self._weights)
            away, A = x[rows] - centre, np.zeros((*x.shape, mixed.shape[1]))
            A[rows] = _ways(away) @ mixed
            weighed = (self._mass @ A.reshape(len(A), -1)).reshape(A.shape)
            products = np.tensordot(A, weighed, axes=((0, 1), (0, 1)))
            found.append(RigidComponent(rows, away, mixed, A, weighed, np.linalg.pinv(products, hermitian=True)))
        return found

    def balanced(self, gradient: np.ndarray, wholes: list[RigidComponent]) -> np.ndarray:
        """A gradient (n,3) without what moves each part as a whole, as seen by those who move with it."""
        for each in wholes:
            gradient = gradient - each.weighed @ each.rigid_motion(gradient)
        return gradient

    def turned(self, dx: np.ndarray, wholes: list[RigidComponent]) -> np.ndarray:
        """A movement (n,3) with turns of parts as turns are, where it has them as they begin."""
        moved = dx.copy()
        for each in wholes:
            turn = each.rotation(self._mass @ dx)
            moved[each.vertices] += (
                Rotation.from_rotvec(turn).apply(each.centred_positions)
                - each.centred_positions
                - np.cross(turn, each.centred_positions)
            )
        return moved

    def without_rigid_motion(self, velocities: np.ndarray, wholes: list[RigidComponent]) -> np.ndarray:
        """Velocities (n,3) without those of parts as a whole."""
        momenta = self._mass @ velocities
        for each in wholes:
            velocities = velocities - each.motions @ each.rigid_motion(momenta)
        return velocities

    def carried(
        self, velocities: np.ndarray, before: list[RigidComponent], after: list[RigidComponent], weight: np.ndarray
    ) -> np.ndarray:
        """Velocities (n,3), a step's way each, of a body that was where some say, once it is where others do: with its
        momenta, and what vibrates turned with it. Its weight (n,3), of which they had the pull at the beginning, pulls
        by the mean of that and the one at the end, as in Verlet's rule: a pendulum's energy stays.
        """
        momenta, own = self._mass @ velocities, self.without_rigid_motion(velocities, before)
        for one in before:
            own[one.vertices] = Rotation.from_rotvec(one.rotation(momenta)).apply(own[one.vertices])
        own = self.without_rigid_motion(own, after)
        for one, other in zip(before, after):
            kept = np.tensordot(one.motions, momenta - 0.5 * weight, axes=((0, 1), (0, 1)))
            pulled = np.tensordot(other.motions, 0.5 * weight, axes=((0, 1), (0, 1)))
            own = own + other.motions @ (other.inverse @ (kept + pulled))
        return own

    def remove_energy(
        self,
        velocities: np.ndarray,
        rows: slice,
        wholes: list[RigidComponent],
        excess: float,
        kinetic: float,
        unsure: float,
    ) -> None:
        """Take from velocities (n,3) of one body, whose vertices are ``rows``, so much kinetic energy, or give it where
        that is negative: of what vibrates, beside parts as a whole. What hangs, and has no momentum to keep, has no
        more then than what is left of the ``kinetic`` energy. Less than is ``unsure`` is nothing.
        """
        if abs(excess) > unsure:
            own = self.without_rigid_motion(velocities, wholes)
            vibrating = 0.5 * float(np.sum(own[rows] * (self._mass @ own)[rows]))
            left = np.sqrt(np.clip(1.0 - excess / vibrating, 0.0, 1.0 + GIVEN)) if vibrating > 0.0 else 0.0
            velocities[rows] -= (1.0 - left) * own[rows]
        vertices = range(*rows.indices(len(velocities)))
        wholes = [each for each in wholes if each.vertices[0] in vertices]
        if wholes and all(each.mixed.shape[1] < 6 for each in wholes):
            now = 0.5 * float(np.sum(velocities[rows] * (self._mass @ velocities)[rows]))
            velocities[rows] *= np.sqrt(np.clip((kinetic - excess) / now, 0.0, 1.0)) if now > 0.0 else 1.0

    def exact(self, J: np.ndarray, nodes: Nodes, wholes: list[RigidComponent]) -> np.ndarray:
        """J (n,3,k) with the round-off taken out that it has where nodes move as a part does as a whole."""
        for each in wholes:
            seen = (nodes.rows @ each.motions.reshape(len(J), -1)).reshape(-1, each.motions.shape[2])
            J = J + (each.motions - J @ seen) @ np.linalg.pinv(seen, UNRESOLVED)
        return J

    def unresolved_motions(self, nodes: Nodes, wholes: list[RigidComponent]) -> np.ndarray:
        """Motions of parts as a whole that leave all nodes where they are, (n,3,c), orthonormal by the mass."""
        found = [np.zeros((self._mass.shape[0], 3, 0))]
        for each in wholes:
            values, vectors = np.linalg.eigh(each.inverse)
            R = each.motions @ (vectors * np.sqrt(np.maximum(values, 0.0)))
            seen = (nodes.rows @ R.reshape(len(R), -1)).reshape(-1, R.shape[2])
            size = np.sqrt(np.sum(R[each.vertices] ** 2) / len(each.vertices))
            values, vectors = np.linalg.eigh(seen.T @ seen)
            found.append(R @ vectors[:, values < (UNRESOLVED * size) ** 2])
        return np.concatenate(found, axis=2)


def _ways(away: np.ndarray) -> np.ndarray:
    """Three ways and three turns of points (r,3), (r,3,6)."""
    ways = np.zeros((len(away), 3, 6))
    ways[:, :, :3] = np.eye(3)
    ways[:, :, 3:] = np.stack([np.cross(axis, away) for axis in np.eye(3)], axis=2)
    return ways


def _mixes(
    x: np.ndarray, rows: np.ndarray, pins: np.ndarray, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Mixtures (6,c) of a part's ways and turns that move none of its pins, and the centre that it turns about."""
    if not len(pins):
        return np.eye(6), np.average(x[rows], axis=0, weights=None if weights is None else weights[rows])
    centre = x[pins].mean(axis=0)
    reach = float(np.linalg.norm(x[rows] - centre, axis=1).max())
    moved = _ways((x[pins] - centre) / reach).reshape(-1, 6)
    values, vectors = np.linalg.eigh(moved.T @ moved / len(pins))
    mixed = vectors[:, values < UNRESOLVED**2]
    return mixed * np.array([1.0, 1.0, 1.0, *3 * [1.0 / reach]])[:, None], centre
