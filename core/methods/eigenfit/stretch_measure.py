"""Strain measure whose quadratic form is the energy: ``phi(S) = sqrt(psi(S) / psi_2(S)) (S - I)``.

S is the polar stretch, psi the elastic energy density, and C Hooke's tensor. The quadratic energy density
``psi_2 = 1/2 (S - I) : C : (S - I)`` approximates psi near rest. The factor ``sqrt(psi / psi_2)`` makes
``1/2 phi : C : phi = psi`` everywhere. For energies quadratic in S, phi is ``S - I`` itself.

The modal coordinates q_i project phi onto the strains of vibration modes u_i. The modes satisfy
``u_i . K u_j = lambda_i delta_ij`` with the stiffness K at rest. The strains of the modes are therefore orthogonal in
the product of C, so ``1/2 sum_i lambda_i q_i² <= W`` for the elastic energy W. A potential that is a quadratic form of
q therefore lies between two fixed multiples of W at every stretch (:mod:`.stretch_potential`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...foundation.kernels.small_matrix import IDENTITY_STRETCH
from ...mechanics.energies.kinematics import Stretch
from ...mechanics.energies.tangent import Tangent
from ...mechanics.forces.elastic import ElasticDensity
from .stretch_kernels import LEAST, fill_along, fill_measure, subtract_curvature_share


class Measured(NamedTuple):
    """Strain measure ``phi = factor (S - I)`` of m elements with the polar stretches S.

    ``shift`` (m,6): S - I. ``factor`` (m,): ``sqrt(psi / psi_2)``, with the energy density psi and its quadratic
    approximation psi_2. ``bend`` (m,6): derivative of the factor by S; off-diagonal entries are doubled. ``energies``
    (m,), Pa: energy densities. ``stresses`` (m,3), Pa: principal stresses. ``values`` (m,3): principal stretches.
    ``at_rest`` (m,2), Pa: 2 mu and lambda.
    """

    shift: np.ndarray
    factor: np.ndarray
    bend: np.ndarray
    energies: np.ndarray
    stresses: np.ndarray
    values: np.ndarray
    at_rest: np.ndarray

    @property
    def phi(self) -> np.ndarray:
        """Strain measure per element, (m,6)."""
        return self.factor[:, None] * self.shift

    def change(self, ds: np.ndarray) -> np.ndarray:
        """Return the linearized change (m,6) of the strain measure.

        ``ds`` (m,6): changes of the polar stretches.
        """
        out = np.empty_like(self.shift)
        fill_along(len(out), ds, self.factor, self.bend, self.shift, out)
        return out

    def slope(self, by: np.ndarray) -> np.ndarray:
        """Return the derivative (m,6) of ``b . phi`` by the stretch of each element.

        phi is the strain measure. ``by`` (m,6): the constant vectors b.
        """
        out = np.empty_like(self.shift)
        fill_along(len(out), by, self.factor, self.shift, self.bend, out)
        return out

    def soften(self, by: np.ndarray, tangent: Tangent) -> None:
        """Add the Hessian of ``b . phi`` by the stretches to ``tangent``, in place.

        phi is the strain measure. ``by`` (m,6): the constant stresses b of the elements. The Hessian is approximated as
        if b were parallel to ``C : phi``, with Hooke's tensor C. Elements that would become stiffer are left unchanged.

        Without this term, a potential that cancels most of the stiffness needs up to five times the iterations.
        """
        taken = -(by * self.phi).sum(axis=1) / np.maximum(2.0 * self.energies, LEAST * self.at_rest[:, 0])
        share = np.where(np.isfinite(self.energies), np.clip(taken, 0.0, 1.0), 0.0)
        subtract_curvature_share(len(by), share, self.values, self.stresses, self.factor, self.at_rest, *tangent[2:])


class StretchMeasure:
    """Strain measure phi per element: ``1/2 phi : C : phi`` is the elastic energy density, with Hooke's tensor C."""

    def __init__(self, elastic: ElasticDensity) -> None:
        self._elastic = elastic
        still = Stretch.of(np.tile(IDENTITY_STRETCH, (len(elastic.weights), 1)))
        curvature = elastic.stretch_tangent(still).curvature
        lam = curvature[:, 0, 1]
        self.at_rest = np.stack([curvature[:, 0, 0] - lam, lam], axis=1)
        """2 mu and lambda per element at rest, (m,2), Pa."""

    def at(self, stretch: Stretch) -> Measured:
        """Return the strain measure of all elements at a stretch."""
        m, elastic = len(stretch.s), self._elastic
        energies, stresses = elastic.stretch_energies(stretch), elastic.stretch_stress(stretch)
        shift, factor, bend = stretch.s - IDENTITY_STRETCH, np.empty(m), np.empty((m, 6))
        fill_measure(m, shift, energies, stresses, stretch.Q, self.at_rest, factor, bend)
        return Measured(shift, factor, bend, energies, stresses, stretch.values, self.at_rest)
