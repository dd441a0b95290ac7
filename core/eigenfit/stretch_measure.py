"""A measure of stretch that grows as the energy does: ``phi(S) = sqrt(psi(S) / psi_2(S)) (S - I)``.

``psi_2 = 1/2 (S - I) : C : (S - I)`` is what the energy density psi is near rest, so that ``1/2 phi : C : phi = psi``
everywhere. What modes with ``u_i . K u_j = lambda_i delta_ij`` see of phi is a projection of it in the product of C:
``1/2 sum_i lambda_i q_i² <= W``, and a potential ``1/2 q . C q`` stays within the same shares of W at any stretch as of
the energy near rest (:mod:`.stretch_potential`). Of energies quadratic in S it is ``S - I`` itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..energies.kinematics import Stretch
from ..energies.tangent import Tangent
from ..forces.elastic import ElasticDensity
from ..small_matrix import UNSTRETCHED
from .stretch_kernels import LEAST, fill_along, fill_measure, take_bend


class Measured(NamedTuple):
    """phi of m elements: ``factor`` (m,) times the ``shift`` (m,6), S - I; ``bend`` (m,6) is the factor's derivative.
    Off-diagonal entries of derivatives stand for two. ``energies`` (m,), Pa, ``stresses`` (m,3), principal ones,
    ``values`` (m,3), principal stretches; ``at_rest`` (m,2): 2 mu and lambda.
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
        """(m,6)."""
        return self.factor[:, None] * self.shift

    def change(self, ds: np.ndarray) -> np.ndarray:
        """What changes of stretches (m,6) do to phi, (m,6)."""
        out = np.empty_like(self.shift)
        fill_along(len(out), ds, self.factor, self.bend, self.shift, out)
        return out

    def slope(self, by: np.ndarray) -> np.ndarray:
        """Derivative of ``by . phi`` by stretches, for by (m,6), (m,6)."""
        out = np.empty_like(self.shift)
        fill_along(len(out), by, self.factor, self.shift, self.bend, out)
        return out

    def soften(self, by: np.ndarray, tangent: Tangent) -> None:
        """Add to second derivatives of psi, in place, what ``by . phi`` has by how phi bends, as if by (m,6) were along
        ``C : phi``; nothing where it firms an element up. Without it, what takes most of a body's stiffness back wants
        up to five times the iterations.
        """
        taken = -(by * self.phi).sum(axis=1) / np.maximum(2.0 * self.energies, LEAST * self.at_rest[:, 0])
        share = np.where(np.isfinite(self.energies), np.clip(taken, 0.0, 1.0), 0.0)
        take_bend(len(by), share, self.values, self.stresses, self.factor, self.at_rest, *tangent[2:])


class StretchMeasure:
    """phi of a body's elements, made of some elasticity."""

    def __init__(self, elastic: ElasticDensity) -> None:
        self._elastic = elastic
        still = Stretch.of(np.tile(UNSTRETCHED, (len(elastic.weights), 1)))
        curvature = elastic.stretch_tangent(still).curvature
        lam = curvature[:, 0, 1]
        self.at_rest = np.stack([curvature[:, 0, 0] - lam, lam], axis=1)
        """2 mu and lambda, (m,2), Pa."""

    def at(self, stretch: Stretch) -> Measured:
        """Of m stretches."""
        m, elastic = len(stretch.s), self._elastic
        energies, stresses = elastic.stretch_energies(stretch), elastic.stretch_stress(stretch)
        shift, factor, bend = stretch.s - UNSTRETCHED, np.empty(m), np.empty((m, 6))
        fill_measure(m, shift, energies, stresses, stretch.Q, self.at_rest, factor, bend)
        return Measured(shift, factor, bend, energies, stresses, stretch.values, self.at_rest)
