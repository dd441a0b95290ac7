"""Stretch damping: Rayleigh stiffness damping of the stretches of the elements, instead of the vertex positions.

Stretch damping acts on deformation and leaves rigid motion unchanged. The damping potential D is a function of the
elements' stretches s_e:

    D(s) = beta / (2 c) sum_e w_e (s_e - s_b) . C_e (s_e - s_b)

D is evaluated at the polar stretches s(F(x)) of the deformation gradients F. The polar stretch is the symmetric factor
s of ``F = R s``, with a rotation R. beta is the damping coefficient in seconds, w_e the volume of element e, and c the
effective step. s_b are the stretches extrapolated from the previous steps, and ``(s - s_b) / c`` is the rate of s by
the time integration rule. C is lagged: the projected second derivative of the energy density psi by s at the step's
beginning.

For small displacements the force is ``beta K v``: a vibration of angular frequency omega decays by ``beta omega² / 2``
per second (Sifakis and Barbic 2012, SIGGRAPH course notes, Sec. 1). A finite rotation by an angle a has the linearized
strain a²/2, so ``beta K v`` would damp rotations. A rotation does not change s, so D does not damp rotations, and the
forces of D have neither a resultant nor a torque.

In Mixed FEM, D is a function of the independent stretches, like the elastic energy. An iteration moves vertices along
straight lines, which stretches the tets of a rotating part. As a function of F, D would therefore resist rotations of
stiff parts. The formulas that condense elasticity (``condensation``) also yield the stress and stiffness of D. In these
formulas, s_b takes the place of the independent stretch, and ``beta C / c`` that of the second derivative of psi.

Limits: the polar stretch of an inverted tet jumps, and C of an extremely stretched tet is huge. A tet has no damping if
a singular value of F is outside ``UPRIGHT`` at the beginning of this step or of the previous one.
"""

from __future__ import annotations

import numpy as np

from ...mechanics.energies.kinematics import Deformation, Stretch
from ...mechanics.forces.elastic import ElasticDensity
from ...numerics.integrators.time_step import TimeStep
from ..model.state import State
from .condensation import Mixed, PolarHessianTerms, condense, condensed_stress, local_update

UPRIGHT = 0.1, 10.0
"""Smallest and largest signed singular value of the deformation gradient in a tet with stretch damping."""


class StretchDamping:
    """Stretch damping during one step: a Rayleigh damping potential D(s) of the stretches s of the elements.

    Parameters
    ----------
    elastic : elastic density of the space's unknowns
    beta : damping coefficient, s
    state : state at the beginning of the step
    time : TimeStep, the step in the time integration rule
    """

    def __init__(self, elastic: ElasticDensity, beta: float, state: State, time: TimeStep) -> None:
        start = elastic.deformation(state.positions)
        polar, upright = start.stretch(), _upright(start)
        base = polar
        if time.extrapolation:
            before = elastic.deformation(state.history.positions, start)
            upright &= _upright(before)
            base = time.base_of(polar, before.stretch())
        law, factor = elastic.stretch_tangent(Stretch(polar, start.sigma, start.V)), beta / time.step
        # Energies can be infinite in tets without damping.
        curvature = np.where(upright[:, None, None], factor * law.curvature, 0.0)
        flip = np.where(upright[:, None], factor * law.flip, 0.0)
        self._weights, self.start = elastic.weights, start
        self._lagged = base, start.V, np.zeros_like(start.sigma), curvature, flip

    def value(self, s: np.ndarray) -> float:
        """Return the damping potential, J, at the stretches s (m,6)."""
        return 0.5 * float(condensed_stress(self._mixed(self.start, s), self._weights)[1].sum())

    def stress(self, deformation: Deformation) -> np.ndarray:
        """Return the derivatives of the damping potential by the deformation gradients, per unit volume, (m,3,3) Pa."""
        return condensed_stress(self._mixed(deformation, deformation.stretch()), self._weights)[0]

    def condensed(self, deformation: Deformation, exact: bool, scale: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the stresses and second derivatives of the damping potential D by the deformation gradients.

        The stresses are (m,3,3) Pa. The second derivatives (m,6,3,3) are blocks in the order of ``tangent_blocks``,
        multiplied by ``scale``, the squared step. ``exact``: True for complete second derivatives. Otherwise they are
        the positive semi-definite part ``J^T C J``: J is the derivative of the stretch by the deformation gradient, and
        C the second derivative of D by the stretch.
        """
        return self._condensed(self._mixed(deformation, deformation.stretch()), exact, scale)

    def linearized(self, deformation: Deformation, dF: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the results of :meth:`condensed` for stretches that are linearized about a deformation.

        The deformation gradients are F + dF. ``deformation`` contains F (m,3,3); dF is (m,3,3).
        """
        mixed = self._mixed(deformation, deformation.stretch())
        away = local_update(mixed, PolarHessianTerms.NOTHING, dF, self._weights)[0]
        return self._condensed(mixed._replace(polar=mixed.s + away), False, scale)

    def step_by(self, s: np.ndarray, ds: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the stresses of the damping potential at the stretches ``s + ds``, and the energies of the changes.

        ``s`` and ``ds`` (m,6): stretches and their changes. The stresses (m,6), Pa, are the derivative of the potential
        D by the stretches. The energies (m,) are ``scale ds . D'' ds``, with the second derivative D'' of D by the
        stretches.
        """
        rest, still = self._lagged[0], np.zeros((len(s), 3, 3))
        at, along = (self._mixed(self.start, each) for each in (s + ds, rest + ds))
        stress = local_update(at, PolarHessianTerms.NOTHING, still, self._weights)[1]
        return stress, local_update(along, PolarHessianTerms.NOTHING, still, scale * self._weights)[2]

    def _condensed(self, mixed: Mixed, exact: bool, scale: float) -> tuple[np.ndarray, np.ndarray]:
        hessians = np.empty((len(self._weights), 6, 3, 3))
        terms = PolarHessianTerms.EXACT if exact else PolarHessianTerms.NOTHING
        return condense(mixed, terms, scale * self._weights, hessians)[0], hessians

    def _mixed(self, deformation: Deformation, s: np.ndarray) -> Mixed:
        return Mixed(*deformation[1:], s, *self._lagged)


def _upright(deformation: Deformation) -> np.ndarray:
    smallest, largest = UPRIGHT
    return (deformation.sigma[:, 2] >= smallest) & (deformation.sigma[:, 0] <= largest)
