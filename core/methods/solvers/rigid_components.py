"""Rigid motion of connected parts of a body without pins, or with too few pins to prevent rotation.

A part's motion is split into c rigid motions, the columns of ``A`` (n,3,c), and a remainder. The remainder is
orthogonal to the rigid motions in the mass product. A free part has three translations and three rotations about its
centre; a part on few pins has the rotations about its pins. ``A^T M v`` are the momenta of the part. A rotating part
conserves its momenta, not its velocities.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from ..model.model import Model
from ..model.nodes import Nodes, islands

UNRESOLVED = 1e-6
"""Relative displacement of pins or nodes below which a rigid motion of a part leaves them at rest.

The displacement is relative to the displacement of the part.
"""

GIVEN = 0.1
"""Largest kinetic energy added to a body's vibrations, relative to the kinetic energy of the vibrations.

The addition makes up for the energy that a step lost.
"""


class RigidComponent(NamedTuple):
    """Rigid motions of one connected component of a body at given positions.

    ``vertices`` (r,): indices of the component's vertices. ``centred_positions`` (r,3) m: positions of these vertices
    relative to the centre of rotation. ``combinations`` (6,c): each of the c motions as a combination of three
    translations and three rotations. ``motions`` A (n,3,c): displacements of all vertices in each motion.
    ``mass_motions`` (n,3,c): M A with the mass matrix M. ``inverse`` (c,c): inverse of ``A^T M A``.
    """

    vertices: np.ndarray
    centred_positions: np.ndarray
    combinations: np.ndarray
    motions: np.ndarray
    mass_motions: np.ndarray
    inverse: np.ndarray

    def rigid_motion(self, momenta: np.ndarray) -> np.ndarray:
        """Return the rigid motion with given momenta, as coefficients (c,) of the component's motions.

        ``momenta`` (n,3): mass matrix times the velocities.
        """
        return self.inverse @ np.tensordot(self.motions, momenta, axes=((0, 1), (0, 1)))

    def rotation(self, momenta: np.ndarray) -> np.ndarray:
        """Return the rotation vector (3,) of the component in a step.

        ``momenta`` (n,3): nodal momenta. The rotation is computed with the moment of inertia after half of the
        rotation. With the initial moment of inertia, a tumbling body would gain energy.
        """
        turn, Q = (self.combinations @ self.rigid_motion(momenta))[3:], self.combinations[3:, -3:]
        if Q.shape[1] < 3:  # one axis
            return turn
        inverse = Q @ self.inverse[-3:, -3:] @ Q.T
        half = Rotation.from_rotvec(0.5 * turn)
        return half.apply(inverse @ half.inv().apply(np.linalg.solve(inverse, turn)))


class RigidParts:
    """Connected components of a model that can move as rigid bodies.

    These components have no pins, or too few pins to prevent rotation.
    """

    def __init__(self, model: Model) -> None:
        self._mass, self._weights, label = model.mass, model.lumped_masses, islands(model.mesh)
        held = np.zeros(len(label), dtype=bool)
        held[model.held] = True
        self._parts = []
        for rows in (np.flatnonzero(label == part) for part in range(label.max() + 1)):
            pins = rows[held[rows]]
            if _free_motions(model.mesh.rest_positions, rows, pins)[0].size:
                self._parts.append((rows, pins))

    def components_at(self, x: np.ndarray) -> list[RigidComponent]:
        """Return the rigid motions at positions x (n,3) m, one entry per component that can move as a rigid body."""
        found = []
        for rows, pins in self._parts:
            combinations, centre = _free_motions(x, rows, pins, self._weights)
            away, A = x[rows] - centre, np.zeros((*x.shape, combinations.shape[1]))
            A[rows] = _unit_motions(away) @ combinations
            mass_motions = (self._mass @ A.reshape(len(A), -1)).reshape(A.shape)
            products = np.tensordot(A, mass_motions, axes=((0, 1), (0, 1)))
            found.append(
                RigidComponent(rows, away, combinations, A, mass_motions, np.linalg.pinv(products, hermitian=True))
            )
        return found

    def balanced(self, gradient: np.ndarray, components: list[RigidComponent]) -> np.ndarray:
        """Return the gradient (n,3) without the forces that accelerate the ``components`` as rigid bodies."""
        for each in components:
            gradient = gradient - each.mass_motions @ each.rigid_motion(gradient)
        return gradient

    def turned(self, dx: np.ndarray, components: list[RigidComponent]) -> np.ndarray:
        """Replace the linearized rotation of each component in a displacement by the finite rotation.

        ``dx`` (n,3), m: the displacement. Return the new displacement.
        """
        moved = dx.copy()
        for each in components:
            turn = each.rotation(self._mass @ dx)
            moved[each.vertices] += (
                Rotation.from_rotvec(turn).apply(each.centred_positions)
                - each.centred_positions
                - np.cross(turn, each.centred_positions)
            )
        return moved

    def without_rigid_motion(self, velocities: np.ndarray, components: list[RigidComponent]) -> np.ndarray:
        """Return velocities (n,3) without their rigid motions.

        The result is the vibrations, mass-orthogonal to the motions of the ``components``.
        """
        momenta = self._mass @ velocities
        for each in components:
            velocities = velocities - each.motions @ each.rigid_motion(momenta)
        return velocities

    def transported(
        self, velocities: np.ndarray, before: list[RigidComponent], after: list[RigidComponent], weight: np.ndarray
    ) -> np.ndarray:
        """Return the velocities (n,3) at the end of a step, in m per step.

        The components moved from ``before`` to ``after`` in the step. Their momenta are conserved, except for a
        correction of the torque of gravity. Vibrations rotate with the components.

        The step applied the torque of gravity with the initial lever arms. This method replaces the torque by the mean
        of two torques, with the initial and with the final lever arms. The mean is that of Verlet's rule, which keeps
        the energy of a pendulum. ``weight`` (n,3): forces of gravity, times the squared step.
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
        components: list[RigidComponent],
        excess: float,
        kinetic: float,
        unsure: float,
    ) -> None:
        """Remove kinetic energy from the vibrations of a body, in place.

        ``velocities`` (n,3): velocities to change. ``rows``: vertices of the body. ``excess``: energy to remove; a
        negative excess is added. ``unsure``: absolute value of ``excess`` up to which the excess counts as round-off,
        and the vibrations are unchanged. Rigid motions are unchanged.

        A body on few pins need not conserve momenta. All velocities of such a body are therefore scaled, so that its
        kinetic energy is at most ``kinetic - excess``.
        """
        if abs(excess) > unsure:
            own = self.without_rigid_motion(velocities, components)
            vibrating = 0.5 * float(np.sum(own[rows] * (self._mass @ own)[rows]))
            left = np.sqrt(np.clip(1.0 - excess / vibrating, 0.0, 1.0 + GIVEN)) if vibrating > 0.0 else 0.0
            velocities[rows] -= (1.0 - left) * own[rows]
        vertices = range(*rows.indices(len(velocities)))
        components = [each for each in components if each.vertices[0] in vertices]
        if components and all(each.combinations.shape[1] < 6 for each in components):
            now = 0.5 * float(np.sum(velocities[rows] * (self._mass @ velocities)[rows]))
            velocities[rows] *= np.sqrt(np.clip((kinetic - excess) / now, 0.0, 1.0)) if now > 0.0 else 1.0

    def exact(self, J: np.ndarray, nodes: Nodes, components: list[RigidComponent]) -> np.ndarray:
        """Correct the map from nodes to vertices for exact rigid motions.

        ``J`` (n,3,k): the map. ``components``: the rigid motions, which the corrected map reproduces without round-off
        error. Return the corrected map.
        """
        for each in components:
            seen = (nodes.rows @ each.motions.reshape(len(J), -1)).reshape(-1, each.motions.shape[2])
            J = J + (each.motions - J @ seen) @ np.linalg.pinv(seen, UNRESOLVED)
        return J

    def unresolved_motions(self, nodes: Nodes, components: list[RigidComponent]) -> np.ndarray:
        """Return the rigid motions of the ``components`` in which all nodes stay at rest, (n,3,c).

        The c motions are orthonormal in the mass product.
        """
        found = [np.zeros((self._mass.shape[0], 3, 0))]
        for each in components:
            values, vectors = np.linalg.eigh(each.inverse)
            R = each.motions @ (vectors * np.sqrt(np.maximum(values, 0.0)))
            seen = (nodes.rows @ R.reshape(len(R), -1)).reshape(-1, R.shape[2])
            size = np.sqrt(np.sum(R[each.vertices] ** 2) / len(each.vertices))
            values, vectors = np.linalg.eigh(seen.T @ seen)
            found.append(R @ vectors[:, values < (UNRESOLVED * size) ** 2])
        return np.concatenate(found, axis=2)


def _unit_motions(away: np.ndarray) -> np.ndarray:
    """Return the displacements (r,3,6) of r points in three translations and three linearized rotations about the
    origin.
    """
    motions = np.zeros((len(away), 3, 6))
    motions[:, :, :3] = np.eye(3)
    motions[:, :, 3:] = np.stack([np.cross(axis, away) for axis in np.eye(3)], axis=2)
    return motions


def _free_motions(
    x: np.ndarray, rows: np.ndarray, pins: np.ndarray, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rigid motions (6,c) of a component that move none of its pins, and the centre of rotation (3,) m.

    The columns are combinations of three translations and three rotations.
    """
    if not len(pins):
        return np.eye(6), np.average(x[rows], axis=0, weights=None if weights is None else weights[rows])
    centre = x[pins].mean(axis=0)
    reach = float(np.linalg.norm(x[rows] - centre, axis=1).max())
    moved = _unit_motions((x[pins] - centre) / reach).reshape(-1, 6)
    values, vectors = np.linalg.eigh(moved.T @ moved / len(pins))
    combinations = vectors[:, values < UNRESOLVED**2]
    return combinations * np.array([1.0, 1.0, 1.0, *3 * [1.0 / reach]])[:, None], centre
