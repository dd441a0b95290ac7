"""Elastic potential of a body in a subspace, integrated by cubature ([SubMFEM23] Eqs. 2, 3)."""

from __future__ import annotations

import copy
from typing import Self

import numpy as np

from ...foundation.kernels.jit import kernel, summing_kernel
from ...mechanics.energies.kinematics import Deformation
from ...mechanics.forces.elastic import ElasticDensity, ElasticPotential
from ...mechanics.forces.stabilization import ReducedStabilization
from ...mechanics.materials.plastic_flow import inverse_gradients


class CubatureElastic(ElasticDensity):
    """Elastic energy of a body in a subspace, integrated over cubature points.

    The energy is ``sum_i w_i psi_i(F_i)`` over c points i. w_i is the volume and psi_i the energy density of a point.
    The deformation gradient is ``F_i = I + U^T G_i^T`` for the unknowns U (r,3). G_i (3,r) holds the gradients of the r
    basis functions at a point.

    Parameters
    ----------
    elastic : ElasticPotential of the body
    basis : (n,r) scalar basis, ``x = X + basis U``
    points : (c,) indices of the elements that are cubature points
    weights : (c,) m³, volume that each cubature point represents
    """

    def __init__(self, elastic: ElasticPotential, basis: np.ndarray, points: np.ndarray, weights: np.ndarray) -> None:
        plasticity = None if elastic.plasticity is None else elastic.plasticity[points]
        if plasticity is not None and not plasticity[:, 0].any():
            plasticity = None
        like = elastic.energies, elastic.energy_index[points], elastic.parameters[points], plasticity
        super().__init__(weights, *like)
        # Otherwise the points resist all motions of the basis, and the matched materials are fitted to them alone.
        if elastic.stabilization is not None and len(points) < basis.shape[1]:
            self.stabilization = ReducedStabilization(basis.T @ (elastic.stabilization.matrix() @ basis))
        rows = (3 * np.asarray(points)[:, None] + np.arange(3)).ravel()
        self.G = np.ascontiguousarray(elastic.elements.gradient_operator[rows] @ basis)
        self._rest = np.tile(np.eye(3), (len(weights), 1, 1))

    def scaled(self, scale: np.ndarray) -> Self:
        """Return a copy with scaled Lame parameters, as :meth:`ElasticDensity.scaled`.

        The stabilization is scaled by the mean change of the shear moduli. The stabilization is not scaled if ``scale``
        is (c,2): these factors are fitted to vibrations of the body with the unscaled stabilization.
        """
        other = super().scaled(scale)
        if self.stabilization is not None and scale.ndim == 1:
            mean = float(self.weights @ other.shear_modulus) / float(self.weights @ self.shear_modulus)
            other.stabilization = ReducedStabilization(mean * self.stabilization.stiffness)
        return other

    def flowed(self, plastic: np.ndarray) -> Self:
        """Return a copy whose deformation gradients are the elastic parts ``F F_p^-1``.

        ``plastic`` (c,10): plastic state of the cubature points. This density itself has not flowed.
        """
        other = copy.copy(self)
        other._rest = np.ascontiguousarray(inverse_gradients(plastic))
        G = self.G.reshape(len(plastic), 3, -1)
        other.G = (other._rest.transpose(0, 2, 1) @ G).reshape(self.G.shape)
        return other

    def gradients(self, U: np.ndarray) -> np.ndarray:
        """Return the deformation gradients (c,3,3) at the cubature points for unknowns U (r,3)."""
        return self._times(U, self._rest)

    def delta_F(self, dU: np.ndarray) -> np.ndarray:
        """Return the changes (c,3,3) of the deformation gradients for changes dU (r,3) of the unknowns."""
        return self._times(dU, np.zeros_like(self._rest))

    def _times(self, U: np.ndarray, rest: np.ndarray) -> np.ndarray:
        F = np.empty((len(self.weights), 3, 3))
        _gradients(self.G, np.ascontiguousarray(U.T), rest, F)
        return F

    def deformation(self, U: np.ndarray, near: Deformation | None = None) -> Deformation:
        """Return the deformation at the cubature points, with its SVD, for unknowns U (r,3).

        ``near``: deformation of similar unknowns, to speed up the SVD, or None.
        """
        return Deformation.of(self.gradients(U), None if near is None else near.V)

    def nodal_forces(self, stress: np.ndarray) -> np.ndarray:
        """Return the gradient (r,3) of the elastic energy by the unknowns.

        ``stress`` (c,3,3), Pa: stresses at the cubature points. The gradient's unit is newton times the unit of the
        basis.
        """
        return self.pulled(self.weights[:, None, None] * stress)

    def pulled(self, stress: np.ndarray) -> np.ndarray:
        """Return the gradient (r,3) by the unknowns, from ``stress`` (c,3,3), J: derivatives by the gradients F."""
        forces = np.zeros((3, self.G.shape[1]))
        _pull(self.G, stress, forces)
        return np.ascontiguousarray(forces.T)


@summing_kernel
def _gradients(G, U, rest, F):
    """Fill ``F`` (c,3,3) with ``rest_i + U G_i^T`` for each cubature point i. ``rest``: (c,3,3).

    ``U`` (3,r): transposed unknowns. ``G`` (3c,r): gradients of the basis functions; G_i are the three rows of point i.
    """
    x, y, z = U[0], U[1], U[2]
    for c in range(len(F)):
        first, second, third = G[3 * c], G[3 * c + 1], G[3 * c + 2]
        xx, xy, xz = rest[c, 0, 0], rest[c, 0, 1], rest[c, 0, 2]
        yx, yy, yz = rest[c, 1, 0], rest[c, 1, 1], rest[c, 1, 2]
        zx, zy, zz = rest[c, 2, 0], rest[c, 2, 1], rest[c, 2, 2]
        for k in range(len(x)):
            a, b, d = first[k], second[k], third[k]
            xx += x[k] * a
            xy += x[k] * b
            xz += x[k] * d
            yx += y[k] * a
            yy += y[k] * b
            yz += y[k] * d
            zx += z[k] * a
            zy += z[k] * b
            zz += z[k] * d
        F[c, 0, 0], F[c, 0, 1], F[c, 0, 2] = xx, xy, xz
        F[c, 1, 0], F[c, 1, 1], F[c, 1, 2] = yx, yy, yz
        F[c, 2, 0], F[c, 2, 1], F[c, 2, 2] = zx, zy, zz


@kernel
def _pull(G, stress, forces):
    """Add ``sum_i P_i G_i`` over the cubature points i to ``forces`` (3,r).

    ``stress`` (c,3,3): stresses P_i times volumes. ``G`` (3c,r): gradients of the basis functions; G_i are the three
    rows of point i.
    """
    x, y, z = forces[0], forces[1], forces[2]
    for c in range(len(stress)):
        P = stress[c]
        xx, xy, xz = P[0, 0], P[0, 1], P[0, 2]
        yx, yy, yz = P[1, 0], P[1, 1], P[1, 2]
        zx, zy, zz = P[2, 0], P[2, 1], P[2, 2]
        first, second, third = G[3 * c], G[3 * c + 1], G[3 * c + 2]
        for k in range(len(x)):
            a, b, d = first[k], second[k], third[k]
            x[k] += xx * a + xy * b + xz * d
            y[k] += yx * a + yy * b + yz * d
            z[k] += zx * a + zy * b + zz * d
