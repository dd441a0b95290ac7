"""Potential of the stretches that gives a coarse body the vibrations of a fine one.

The method is [EigenFit19] without its eigenproblem in every step. Let u_i be mass-orthonormal modes at rest, with ``K
u_i = lambda_i M u_i`` for the stiffness K and the mass matrix M. The modes are the columns of U. In element e with the
volume w_e, mode i has the stress sigma_i,e. With a stiffness correction C, the modal coordinates q and the potential V
are

    q_i(x) = 1/lambda_i sum_e w_e sigma_i,e : phi(S(F_e)),     V(x) = 1/2 q . C q

S is the polar stretch of the deformation gradient F. phi is a strain measure (:mod:`.stretch_measure`): half of its
quadratic form with Hooke's tensor is the elastic energy density. Near rest phi is ``S - I``. At rest, without springs,
the derivative dq_i/dx is ``M u_i``. V therefore changes the stiffness to ``K + (M U) C (M U)^T``, the paper's Eq. 15.
The correction C for given frequencies and modes is computed once (:mod:`.matching`).

Let Lambda be the diagonal matrix of the lambda_i. Let the eigenvalues of ``Lambda + C``, relative to Lambda, be between
two bounds r and R, with ``r <= 1 <= R``. Then ``r W <= W + V <= R W`` for any elastic energy W at any deformation: a
softened body remains stable. q depends on F only by the stretch. V is therefore invariant under rigid motions, and the
forces of V have neither a resultant nor a torque.

Springs that hold the body are not part of V. Firm springs hardly deform in a mode. Soft springs are in series with the
body, and V corrects the stiffness of the body alone.

In Mixed FEM V is a function of the independent stretches, as the elastic energy is. A function of the positions would
be concave along directions that the independent stretches do not follow, so line searches would stop too early.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ...mechanics.assembly.low_rank import LowRank
from ...mechanics.energies.kinematics import Deformation, Stretch
from ...mechanics.energies.tangent import Tangent
from ...mechanics.forces.elastic import ElasticDensity
from ...mechanics.forces.step_potential import Motion, StrainPotential, StrainPotentialStep
from .stretch_kernels import fill_stress
from .stretch_measure import Measured, StretchMeasure

_TWICE = np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
"""Number of occurrences of the entries 11, 22, 33, 23, 13, 12 in a symmetric 3 x 3 tensor."""


STILL = 1e-12
"""Squared strain below which a body counts as undeformed."""


class StretchModes:
    """Modal coordinates q of k vibration modes u_i, as functions of the elements' polar stretches.

    At rest, without springs, the derivative dq_i/dx is ``M u_i`` with the mass matrix M.

    Parameters
    ----------
    elastic : elastic density of the space's unknowns
    rest : (r,3) unknowns at rest
    eigenvalues : (k,) 1/s²
    modes : (k,r,3) mass-orthonormal modes u_i
    """

    def __init__(
        self,
        elastic: ElasticDensity,
        rest: np.ndarray,
        eigenvalues: np.ndarray,
        modes: np.ndarray,
    ) -> None:
        self._elastic, self._eigenvalues, self.measure = elastic, eigenvalues, StretchMeasure(elastic)
        tangent = elastic.tangent(elastic.deformation(rest), projected=False)
        stresses = np.stack([tangent.stress_change(elastic.delta_F(u)) for u in modes], axis=-1) / eigenvalues
        six = stresses.reshape(len(stresses), 9, -1)[:, [0, 4, 8, 5, 2, 1]]
        self._stresses = np.ascontiguousarray(_TWICE[:, None] * six)  # (m,6,k), derivatives of q by phi, not weighted
        self._weighted = (elastic.weights[:, None, None] * self._stresses).reshape(-1, len(modes))
        self.gradients = self.gradients_at(elastic.deformation(rest))
        """Derivatives dq/dx of the modal coordinates at rest, (r,3,k)."""

    def gradients_at(self, deformation: Deformation, which: np.ndarray | None = None) -> np.ndarray:
        """Return the derivatives dq/dx of the modal coordinates at a deformation, (r,3,k).

        ``which``: indices of the modes to return; None: all k modes.
        """
        deformation, stretch = self._elastic.strained(deformation)
        at = self.measure.at(stretch)
        columns = np.eye(self._stresses.shape[2])
        columns = columns if which is None else columns[which]
        return np.stack([self._elastic.nodal_forces(self.forces(at, deformation, by)) for by in columns], axis=-1)

    def coordinates(self, at: Measured) -> np.ndarray:
        """Return the modal coordinates, (k,) kg^(1/2) m, for the strain measure of all elements."""
        return at.phi.reshape(-1) @ self._weighted

    def compliance(self, elastic: ElasticDensity) -> np.ndarray:
        """Return the modal compliance G (k,k), s².

        G consists of the products of the modes' stresses with the inverse of Hooke's tensor. By Cauchy-Schwarz ``1/2 q
        . G^-1 q <= W`` with the modal coordinates q and the energy W of ``elastic``. The stiffness of the elements in
        ``elastic`` may be scaled.
        """
        shear, lam = self.measure.at_rest.T
        weights = elastic.weights / (shear * elastic.shear_modulus / self._elastic.shear_modulus)
        normal = self._stresses[:, :3].sum(axis=1)
        whole = np.einsum("m,j,mjk,mjl->kl", weights, 1.0 / _TWICE, self._stresses, self._stresses, optimize=True)
        return whole - normal.T @ ((weights * lam / (shear + 3.0 * lam))[:, None] * normal)

    def scaled(self, scale: np.ndarray) -> np.ndarray:
        """Return the matrix L (k,k) that adapts a stiffness correction C to a changed stiffness of the elements.

        The adapted correction is ``L C L^T``. ``scale`` (m,): factor of each element's stiffness. The potential ``1/2 q
        . C q`` of the modal coordinates q lies between two multiples of the elastic energy. L leaves the two multiples
        unchanged. For a uniform scale, L is ``sqrt(scale)`` times the identity.
        """
        if (scale == scale[0]).all():
            return np.sqrt(scale[0]) * np.eye(len(self._eigenvalues))
        root = np.sqrt(self._eigenvalues)
        both = self._elastic, self._elastic.scaled(scale)
        before, after = (np.linalg.eigh(np.outer(root, root) * self.compliance(elastic)) for elastic in both)
        L = (after[1] / np.sqrt(after[0])) @ after[1].T @ (before[1] * np.sqrt(before[0])) @ before[1].T
        return root[:, None] * L / root

    def at(self, x: np.ndarray) -> np.ndarray:
        """Return the modal coordinates, (k,) kg^(1/2) m, at the unknowns x (r,3)."""
        return self.coordinates(self.measure.at(self._elastic.strained(self._elastic.deformation(x))[1]))

    def change(self, at: Measured, ds: np.ndarray) -> np.ndarray:
        """Return the linearized change (k,) of the modal coordinates.

        ``at``: strain measure before the change. ``ds`` (m,6): changes of the stretches.
        """
        return at.change(ds).reshape(-1) @ self._weighted

    def slope(self, at: Measured, by: np.ndarray) -> np.ndarray:
        """Return the derivative (m,6) of ``b . q`` by the polar stretch of each element, per unit volume.

        q (k,) are the modal coordinates. ``at``: current strain measure. ``by`` (k,): the constant vector b.
        """
        return at.slope(self.stresses(by))

    def stresses(self, by: np.ndarray) -> np.ndarray:
        """Return the derivative (m,6) of ``b . q`` by the strain measure of each element, per unit volume.

        q (k,) are the modal coordinates. ``by`` (k,): the constant vector b.
        """
        return (self._stresses.reshape(-1, len(by)) @ by).reshape(-1, 6)

    def forces(self, at: Measured, deformation: Deformation, by: np.ndarray) -> np.ndarray:
        """Return the derivative (m,3,3) of ``b . q`` by the deformation gradient of each element, per unit volume.

        q (k,) are the modal coordinates. ``at``: current strain measure. ``by`` (k,): the constant vector b.
        """
        P = np.empty_like(deformation.F)
        fill_stress(len(P), deformation.U, deformation.sigma, deformation.V, self.slope(at, by), P)
        return P

    def turned_gradients(self, deformation: Deformation) -> np.ndarray:
        """Return the derivatives dq/dx at rest, rotated by the body's mean rotation, (r,3,k).

        q are the modal coordinates.
        """
        return mean_rotation(self._elastic.weights, self._elastic.strained(deformation)[0]) @ self.gradients


def mean_rotation(weights: np.ndarray, deformation: Deformation) -> np.ndarray:
    """Return the mean rotation (3,3) of a deformed body.

    The mean rotation is nearest to the polar rotations of the elements. ``weights`` (m,): weights of the elements.
    """
    rows = (weights[:, None, None] * deformation.U).transpose(1, 0, 2).reshape(3, -1)
    U, _, Vt = np.linalg.svd(rows @ deformation.V.transpose(1, 0, 2).reshape(3, -1).T)
    return U @ np.diag([1.0, 1.0, np.linalg.det(U @ Vt)]) @ Vt


class StretchLoad:
    """Load with the potential ``V = 1/2 q . C q`` of the modal coordinates q, which are functions of the stretches.

    Parameters
    ----------
    modes : StretchModes, of k modes
    core : C (k,k), 1/s², stiffness correction
    beta : s, stiffness-proportional damping, which acts on V as on the elastic energy
    is_strong : True if C may be many times the stiffness of the modes
    """

    def __init__(self, modes: StretchModes, core: np.ndarray, beta: float = 0.0, is_strong: bool = False) -> None:
        self._modes, self._core, self._beta, self._is_strong = modes, core, beta, is_strong

    def begin(self, motion: Motion) -> StretchPotential:
        """Return the potential of the load in a step, with stiffness-proportional damping.

        The potential is ``1/2 q . C q + beta / (2 step) (q - q_b) . C (q - q_b)`` with the modal coordinates q and the
        stiffness correction C. The time integration rule extrapolates q_b from the coordinates of the previous steps.
        """
        if not self._beta:
            return StretchPotential(self._modes, self._core, 0.0, np.zeros(len(self._core)), self._is_strong)
        base = self._modes.at(motion.x_prev)
        if motion.x_prev2 is not None:
            base = base + motion.extrapolation * (base - self._modes.at(motion.x_prev2))
        return StretchPotential(self._modes, self._core, self._beta / motion.step, base, self._is_strong)

    def energy_fraction_removed(self, elastic: ElasticDensity, x: np.ndarray) -> float:
        """Return the elastic energy that the potential cancels, relative to the largest energy that it could cancel.

        The result is ``-V / ((1 - b) W)``, from 0 to 1, at the unknowns ``x`` (r,3). V is the potential, W is the
        energy of ``elastic``, and b is the lower bound of ``(W + V) / W`` over all strains.
        """
        G = self._modes.compliance(elastic)
        q, root = self._modes.at(x), np.linalg.cholesky(G)
        most = -np.linalg.eigvalsh(root.T @ self._core @ root)[0] * elastic.value(elastic.deformation(x))
        is_still = most <= STILL * (elastic.weights @ elastic.shear_modulus)
        return 0.0 if is_still else max(-0.5 * float(q @ self._core @ q) / most, 0.0)


class StretchPotential(StrainPotential):
    """Potential of the modal coordinates q (k,) in one time step, with stiffness-proportional damping.

    The potential is ``1/2 q . C q + friction / 2 (q - base) . C (q - base)``.

    ``core`` (k,k), 1/s²: stiffness correction C. ``friction``: ratio of the damping coefficient to the time step.
    ``base`` (k,): modal coordinates extrapolated from the previous steps. ``is_strong``: True if C may be many times
    the stiffness of the modes.
    """

    def __init__(
        self, modes: StretchModes, core: np.ndarray, friction: float, base: np.ndarray, is_strong: bool = False
    ) -> None:
        self._modes, self._core, self._friction, self._base = modes, core, friction, base
        self.is_strong = is_strong
        self._low_rank: LowRank | None = None
        self._last: tuple[np.ndarray, Measured, np.ndarray] | None = None
        self._apart: tuple[Measured, np.ndarray, np.ndarray] | None = None

    @cached_property
    def _curvature(self) -> np.ndarray:
        return (1.0 + self._friction) * self._core

    def _at(self, stretch: Stretch) -> tuple[Measured, np.ndarray]:
        """Return the strain measure and the modal coordinates (k,) at a stretch."""
        if self._last is None or self._last[0] is not stretch.values:
            at = self._modes.measure.at(stretch)
            self._last = stretch.values, at, self._modes.coordinates(at)
        return self._last[1:]

    def _change(self, at: Measured, residual: np.ndarray) -> np.ndarray:
        """Return the change (k,) of the modal coordinates due to the stretch residual (m,6) of Mixed FEM."""
        if self._apart is None or self._apart[0] is not at or self._apart[1] is not residual:
            self._apart = at, residual, self._modes.change(at, residual)
        return self._apart[2]

    def _slope(self, q: np.ndarray) -> np.ndarray:
        return self._core @ (q + self._friction * (q - self._base))

    def value(self, stretch: Stretch) -> float:
        """Return the potential, J, at the elements' stretches."""
        _, q = self._at(stretch)
        away = q - self._base
        return 0.5 * float(q @ self._core @ q + self._friction * (away @ self._core @ away))

    def forces(
        self, deformation: Deformation, stretch: Stretch, residual: np.ndarray | None = None, bends: bool = True
    ) -> np.ndarray:
        """Return the stresses (m,3,3), Pa, of the potential.

        The stresses are the derivative by the deformation gradient, per volume. ``stretch``: polar stretch, or
        independent stretch of Mixed FEM. ``residual`` (m,6): stretch of the positions minus the independent stretch;
        None outside Mixed FEM. ``bends``: True to add the second derivative of the potential times ``residual``. This
        term results from eliminating the independent stretches.
        """
        at, q = self._at(stretch)
        by = self._slope(q)
        if residual is not None and bends:
            by = by + self._curvature @ self._change(at, residual)
        return self._modes.forces(at, deformation, by)

    def low_rank(self, deformation: Deformation) -> LowRank:
        """Return the stiffness of the potential as the low-rank matrix ``Y C Y^T``, N/m.

        Y is the gradient dq/dx of the modal coordinates. C is the stiffness correction, multiplied by a factor for the
        damping.

        By default Y is the gradient at rest, rotated by the mean rotation that the body has in the first iteration of
        the step. A bar that swings by half its length needs as few iterations with this Y as with the exact gradient.

        A strong potential (``is_strong``) uses the exact Y in each iteration. If a potential makes the body ten times
        as stiff, the approximate Y takes up to three times the iterations, and may not give a descent direction of the
        merit of Mixed FEM.
        """
        if self.is_strong:  # The approximate Y would take up to three times the iterations.
            used = np.flatnonzero(self._core.any(axis=0))
            return LowRank(self._modes.gradients_at(deformation, used), self._curvature[np.ix_(used, used)])
        if self._low_rank is None:
            self._low_rank = LowRank(self._modes.turned_gradients(deformation), self._curvature)
        return self._low_rank

    def soften(self, stretch: Stretch, tangent: Tangent) -> None:
        """Subtract stiffness of the potential from the elastic ``tangent``, in place.

        The subtracted part is due to the curvature of q(S). q are the modal coordinates as functions of the stretches
        S. Elements that would become stiffer are left unchanged.
        """
        at, q = self._at(stretch)
        at.soften(self._modes.stresses(self._slope(q)), tangent)

    def step_by(self, stretch: Stretch, residual: np.ndarray, ds: np.ndarray, bends: bool) -> StrainPotentialStep:
        """Return the contributions of the potential to an iteration of Mixed FEM.

        The contributions are added to the Lagrange multipliers and to the predicted decrease of the merit. ``residual``
        (m,6): stretch of the positions minus the independent stretch. ``ds`` (m,6): changes of the independent
        stretches. ``bends``: False to leave out the potential's second derivative.
        """
        at, q = self._at(stretch)
        by, core = self._slope(q), self._curvature if bends else np.zeros_like(self._curvature)
        dq = self._modes.change(at, ds)
        of_positions = dq - self._change(at, residual)
        bent = core @ dq
        return StrainPotentialStep(
            self._modes.slope(at, by + bent), float(dq @ bent), float(of_positions @ core @ of_positions)
        )
