"""Elastic potential of a mesh: energy densities weighted by volume and summed.

Elements are processed in groups of the same energy; a mesh with one energy is one group, without copies.
"""

from __future__ import annotations

import copy
from typing import Self

import numpy as np

from ..assembly.elements import Elements
from ..energies import energy
from ..energies.inversion_step_bound import upright_part
from ..energies.kinematics import Deformation, Stretch
from ..energies.tangent import Tangent
from ..materials.lame import youngs_modulus
from ..materials.plastic_flow import flow, inverse_gradients, secant_ratio, unflowed
from .stabilization import ReducedStabilization, Stabilization


class ElasticDensity:
    """Elastic energy of m points as a function of the deformation gradients at the points.

    The points are all or some elements of a mesh.

    Parameters
    ----------
    weights : (m,) m³
        Volume of material per point.
    energies : names of the energies
    energy_index : (m,) index into ``energies`` per point
    parameters : (m,2+) Lame parameters mu, lambda, Pa, and further parameters of the energies
    plasticity : (m,3) parameters of :func:`..materials.plastic_flow.flow`, or None if no point flows
    """

    stabilization: Stabilization | ReducedStabilization | None = None

    def __init__(
        self,
        weights: np.ndarray,
        energies: tuple[str, ...],
        energy_index: np.ndarray,
        parameters: np.ndarray,
        plasticity: np.ndarray | None = None,
    ) -> None:
        self.weights, self.parameters, self.plasticity = weights, parameters, plasticity
        self.energies, self.energy_index = energies, energy_index
        used = np.unique(energy_index)
        self.groups = [
            (energy(energies[k]), slice(None) if len(used) == 1 else np.flatnonzero(energy_index == k)) for k in used
        ]

    def scaled(self, scale: np.ndarray) -> Self:
        """Return a copy with scaled Lame parameters.

        ``scale``: (m,) for one factor per point, or (m,2) for two factors per point, one for mu, one for lambda.
        """
        other = copy.copy(self)
        other.parameters = self.parameters.copy()
        other.parameters[:, :2] *= scale.reshape(len(scale), -1)
        return other

    @property
    def shear_modulus(self) -> np.ndarray:
        """Shear modulus mu of each point at rest, (m,) Pa."""
        return self.parameters[:, 0]

    @property
    def youngs_modulus(self) -> np.ndarray:
        """Young's modulus of each point at rest, (m,) Pa."""
        return youngs_modulus(*self.parameters[:, :2].T)

    # -- functions of deformation gradients -------------------------------------------------------------------------

    def value(self, deformation: Deformation) -> float:
        """Return the total elastic energy of all points, J."""
        return self._weighted_sum(self.densities(deformation))

    def densities(self, deformation: Deformation) -> np.ndarray:
        """Return the energy density of each point, (m,) Pa."""
        return self._collect("value", deformation, ())

    def stress(self, deformation: Deformation) -> np.ndarray:
        """Return the first Piola-Kirchhoff stress of each point, (m,3,3) Pa."""
        return self._collect("gradient", deformation, (3, 3))

    def cauchy(self, deformation: Deformation) -> np.ndarray:
        """Return the Cauchy stress ``P F^T / det F`` of each point, (m,3,3) Pa."""
        P, F = self.stress(deformation), deformation.F
        return P @ F.transpose(0, 2, 1) / np.linalg.det(F)[:, None, None]

    def von_mises(self, deformation: Deformation) -> np.ndarray:
        """Return the von Mises stress of each point, (m,) Pa: ``sqrt(3/2)`` times the norm of the Cauchy deviator."""
        stress = self.cauchy(deformation)
        deviator = stress - np.trace(stress, axis1=1, axis2=2)[:, None, None] / 3.0 * np.eye(3)
        return np.sqrt(1.5 * np.einsum("mij,mij->m", deviator, deviator))

    def tangent(self, deformation: Deformation, projected: bool = True) -> Tangent:
        """Return the second derivatives of the densities by F, Pa.

        If ``projected``, the result is the nearest positive semi-definite matrices.
        """
        return self._collect_tangent("tangent", deformation, projected)

    def strained(self, deformation: Deformation) -> tuple[Deformation, Stretch]:
        """Return the deformation and the stretch of each point, as strain potentials need them.

        The result is ``deformation`` and its polar stretch. At points with a linear energy, the rotations U and V are
        replaced by the identity, and the polar stretch by ``(F + F^T)/2``.
        """
        small = [rows for law, rows in self.groups if not law.rotation_invariant]
        if not small:
            return deformation, deformation.polar()
        U, sigma, V, s = (each.copy() for each in (*deformation[1:], deformation.stretch()))
        for rows in small:
            F = deformation.F[rows]
            U[rows], sigma[rows], V[rows] = np.eye(3), 1.0, np.eye(3)
            s[rows] = (0.5 * (F + F.transpose(0, 2, 1))).reshape(-1, 9)[:, [0, 4, 8, 5, 2, 1]]
        return Deformation(deformation.F, U, sigma, V), Stretch.of(s)

    @property
    def prevents_inversion(self) -> bool:
        """True if the energy of any element forbids inversion.

        In a step with a contact barrier, the solver then limits its step sizes so that no element with such an energy
        inverts.
        """
        return any(law.prevents_inversion for law, _rows in self.groups)

    def inversion_free_step_size(self, positions: np.ndarray, dx: np.ndarray) -> float:
        """Return a step size, at most 1, that inverts no element whose energy forbids inversion.

        ``positions`` (n,3), m: vertex positions; elements that are already inverted are ignored. ``dx`` (n,3), m: full
        step.
        """
        rows, F = self._inversion_free_gradients(positions)
        return float(upright_part(F, self.delta_F(dx)[rows]).min()) if len(rows) else 1.0

    def min_det_F(self, positions: np.ndarray) -> float:
        """Return the smallest positive det F among elements whose energy forbids inversion, or inf without such
        elements.
        """
        _rows, F = self._inversion_free_gradients(positions)
        return float(np.linalg.det(F).min(initial=np.inf))

    def _inversion_free_gradients(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the elements that must not invert, by index (k,), and their deformation gradients (k,3,3).

        Elements that are already inverted at ``positions`` (n,3), m, are left out.
        """
        chosen = np.zeros(len(self.weights), dtype=bool)
        for law, rows in self.groups:
            chosen[rows] = law.prevents_inversion
        if not chosen.any():
            return np.zeros(0, dtype=np.int64), np.zeros((0, 3, 3))
        F = self.gradients(positions)
        chosen &= np.linalg.det(F) > 0.0
        return np.flatnonzero(chosen), F[chosen]

    def without_flow(self) -> Self:
        """Return a copy without plastic flow."""
        other = copy.copy(self)
        other.plasticity = None
        return other

    def unflowed(self) -> np.ndarray | None:
        """Return the plastic state (m,10) of points that have not flowed, or None if no point flows."""
        return None if self.plasticity is None else unflowed(len(self.weights))

    def flow(
        self, positions: np.ndarray, plastic: np.ndarray, time_step: float
    ) -> tuple[np.ndarray, np.ndarray, Deformation]:
        """Return the result of :func:`..materials.plastic_flow.flow` at the end of a step.

        ``positions``: unknowns at the end of the step. ``plastic`` (m,10): plastic state of the points, with which the
        gradients of this density are elastic parts (``flowed``). ``time_step``, s.
        """
        return flow(plastic, self.deformation(positions), self.plasticity, time_step)

    # -- functions of independent stretches -------------------------------------------------------------------------

    def stretch_value(self, stretch: Stretch) -> float:
        """Return the total elastic energy ``sum_e w_e psi_e(S_e)`` at the stretches S_e, J. w_e are the weights."""
        return self._weighted_sum(self.stretch_energies(stretch))

    def stretch_energies(self, stretch: Stretch) -> np.ndarray:
        """Return the energy density ``psi_e(S_e)`` of each point e at the stretches S_e of the points, (m,) Pa."""
        return self._collect("stretch_value", stretch, ())

    def stretch_stress(self, stretch: Stretch) -> np.ndarray:
        """Return the principal stresses of each point, (m,3) Pa.

        Principal stresses are the derivatives of the density by the principal stretches.
        """
        return self._collect("stretch_stress", stretch, (3,))

    def stretch_tangent(self, stretch: Stretch, projected: bool = True) -> Tangent:
        """Return the second derivatives of the densities by the stretches S, Pa.

        If ``projected``, the result is the nearest positive semi-definite matrices.
        """
        return self._collect_tangent("stretch_tangent", stretch, projected)

    # ---------------------------------------------------------------------------------------------------------------

    def _weighted_sum(self, density: np.ndarray) -> float:
        return float((self.weights * density).sum())

    def _collect(self, method: str, at: Deformation | Stretch, shape: tuple[int, ...]) -> np.ndarray:
        if len(self.groups) == 1:
            return getattr(self.groups[0][0], method)(at, self.parameters)
        out = np.empty((len(self.weights), *shape))
        for law, rows in self.groups:
            out[rows] = getattr(law, method)(at.take(rows), self.parameters[rows])
        return out

    def _collect_tangent(self, method: str, at: Deformation | Stretch, projected: bool) -> Tangent:
        parts = [getattr(law, method)(at.take(rows), self.parameters[rows], projected) for law, rows in self.groups]
        if len(parts) == 1:
            return parts[0]
        whole = Tangent(*(np.empty((len(self.weights), *array.shape[1:])) for array in parts[0]))
        for part, (_law, rows) in zip(parts, self.groups, strict=True):
            for array, values in zip(whole, part, strict=True):
                array[rows] = values
        return whole


class ElasticPotential(ElasticDensity):
    """Elastic energy ``W(x) = sum_e w_e psi_e(F_e(x))`` of a mesh with vertex positions x.

    Parameters
    ----------
    elements : Elements of the mesh
    weights, energies, energy_index, parameters, plasticity : per element, as in :class:`ElasticDensity`
    """

    def __init__(
        self,
        elements: Elements,
        weights: np.ndarray,
        energies: tuple[str, ...],
        energy_index: np.ndarray,
        parameters: np.ndarray,
        plasticity: np.ndarray | None = None,
    ) -> None:
        super().__init__(weights, energies, energy_index, parameters, plasticity)
        self.elements = self._unflowed = elements
        if elements.deviation is not None:
            self.stabilization = Stabilization(elements, self.shear_modulus)

    def scaled(self, scale: np.ndarray) -> Self:
        """Return a copy with scaled Lame parameters, as :meth:`ElasticDensity.scaled`."""
        other = super().scaled(scale)
        if other.stabilization is not None:
            other.stabilization = Stabilization(self._unflowed, other.shear_modulus)
        return other

    def flowed(self, plastic: np.ndarray) -> Self:
        """Return a copy whose deformation gradients are the elastic parts ``F F_p^-1``.

        The quadratic term of the stabilization has the secant shear modulus. ``plastic`` (m,10): plastic state of the
        elements. This potential itself has not flowed.
        """
        other = copy.copy(self)
        other.elements = self._unflowed.flowed(inverse_gradients(plastic))
        if self.stabilization is not None:
            other.stabilization = self.stabilization.softened(secant_ratio(plastic, self.plasticity))
        return other

    def gradients(self, positions: np.ndarray) -> np.ndarray:
        """Return the deformation gradient of each element, (m,3,3). ``positions`` (n,3), m: vertex positions."""
        return self.elements.gradients(positions)

    def delta_F(self, dx: np.ndarray) -> np.ndarray:
        """Return the change of each element's deformation gradient, (m,3,3). ``dx`` (n,3), m: vertex displacements."""
        return self.elements.gradients(dx)

    def deformation(self, positions: np.ndarray, near: Deformation | None = None) -> Deformation:
        """Return the deformation gradients of the elements with their singular value decompositions.

        ``positions`` (n,3), m: vertex positions. ``near``: deformation at similar positions, whose rotations V are
        initial guesses that save time.
        """
        return Deformation.of(self.gradients(positions), None if near is None else near.V)

    def nodal_forces(self, stress: np.ndarray) -> np.ndarray:
        """Return the gradient of the elastic energy by the vertex positions, (n,3) N: minus the nodal forces.

        ``stress`` (m,3,3), Pa: first Piola-Kirchhoff stresses of the elements.
        """
        return self.elements.nodal_forces(stress, self.weights)

    def gradient(self, deformation: Deformation) -> np.ndarray:
        """Return the gradient of the elastic energy by the vertex positions, (n,3) N: minus the elastic forces."""
        return self.nodal_forces(self.stress(deformation))
