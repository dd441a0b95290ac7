"""Linear system of a body's free vertices, assembled from element matrices.

The matrix is ``M + h² sum_e w_e B_e^T H_e B_e``, with the mass matrix M and the time step h. B_e (9 x 3k) maps the k
nodes of element e to its deformation gradient, H_e (9 x 9) is the Hessian of its energy density, w_e its volume. B_e is
never formed: :mod:`...mechanics.assembly.elements` computes the 3 x 3 blocks of the element matrix from the shape
gradients. Other potentials of points inside a tet add to the blocks of the tet's element. So the sparsity pattern
depends on the mesh alone and is built once.

Dirichlet conditions: rows and columns of pinned vertices are left out, not set to the identity. Solvers set pinned
vertices to their targets at the start of a step (``StepSolver.start``) and zero the gradient there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...foundation.errors import FactorizationError
from ...mechanics.assembly.low_rank import LowRank
from ...mechanics.assembly.pairs import Pairs, joined_pairs
from ...mechanics.forces.elastic import ElasticPotential
from ...mechanics.forces.step_potential import CrossElementPotential, StepPotential
from .body import Body
from .conjugate_gradient import EXACT_TOLERANCE, TOLERANCE, ConjugateGradients
from .direct import Direct
from .linear_system import LinearSystem
from .protocol import ErrorEstimate, SystemSolver, not_definite
from .registry import ITERATIVE, SLOW_STEPS, SWITCHED, Choice, is_slower, why_iterative


class ElasticSystem(LinearSystem):
    """Linear system of a body, assembled from element matrices and solved directly or by conjugate gradients.

    ``blocks`` (b,3,3) are the values of the element matrices at the last call of :meth:`assemble`: 3 x 3 blocks, in the
    order of ``ElementNodes.block_starts``.

    Parameters
    ----------
    body : Body
    choice : Choice of the linear solver
    by_counts : True to choose between conjugate gradients and the direct solver ``choice.solver`` by counts of vertices
        and matrix entries
    is_exact : True to solve every system to a relative error of 1e-8, for steps that do not iterate
    """

    blocks: np.ndarray | None = None
    _coupling: tuple[Sequence[Pairs], float, Pairs | None] = (), 1.0, None
    """Arguments and result of the last call of :meth:`_joined`."""

    def __init__(self, body: Body, choice: Choice, by_counts: bool = False, is_exact: bool = False) -> None:
        super().__init__(body.weights)
        self._body = body
        self._mass = body.element_mass
        self._choice = choice
        self._number = body.free_numbers()
        self._solver: SystemSolver
        sparsity = None if choice.name == ITERATIVE else body.sparsity()
        reason = why_iterative(body, sparsity.pattern) if by_counts and sparsity is not None else ""
        self._can_switch = bool(reason)
        if reason:
            self._choice = Choice(ITERATIVE, choice.solver, reason)
        if sparsity is None or reason:
            self._solver = ConjugateGradients(body, choice.solver, EXACT_TOLERANCE if is_exact else TOLERANCE)
        else:
            self._solver = Direct(sparsity, choice.solver)

    @property
    def free(self) -> np.ndarray:
        """Indices of the vertices that are not pinned, (f,)."""
        return self._solver.free

    def follow(self, shear_modulus: np.ndarray) -> None:
        """Update the solver for new shear moduli. ``shear_modulus`` (e,), Pa: modulus of each element."""
        self._solver.follow(shear_modulus)

    def flow(self, elastic: ElasticPotential) -> None:
        """Assemble later matrices with the shape gradients of ``elastic``. The preconditioner stays."""
        self._body = self._body._replace(elements=elastic.elements)

    @property
    def choice(self) -> str:
        """Name of the linear solver and the reason for the choice, for reports."""
        solver = self._solver
        entries = solver.factor_entries
        size = "" if entries is None else f" (factor {8e-6 * entries:.3g} MB)"
        return f"{solver.label}, {solver.ordering}{size}: {self._choice.reason}"

    def assemble(
        self,
        scale: float,
        positions: np.ndarray,
        potentials: tuple[StepPotential, ...] = (),
        added: np.ndarray | None = None,
        low_rank: LowRank | None = None,
    ) -> None:
        """Assemble the matrix from the mass matrix, the elastic Hessians and further terms.

        The caller fills ``hessians`` beforehand, including the factor ``scale``.

        ``scale``: factor of the stiffness, h² for a step h. ``positions`` (n,3), m: vertex positions. ``potentials``:
        potentials whose Hessians are added, times ``scale``. ``added`` (e,6,3,3): values added to ``hessians``, without
        the factor ``scale``. ``low_rank``: matrix that is added, times ``scale``.
        """
        self.low_rank = low_rank and low_rank.scaled(scale)
        coupling = [
            each.cross_element_hessian(positions) for each in potentials if isinstance(each, CrossElementPotential)
        ]
        pairs = self._joined(coupling, scale)
        self.blocks = self._body.elements.matrices(self.hessians, self._mass, self.blocks)
        if added is not None:
            self.blocks += self._body.elements.matrices(added)
        for potential in potentials:
            potential.add_stiffness(positions, scale, self.blocks)
        low_rank = self.low_rank and self.low_rank.of(self.free)
        self._solver.fill(self.blocks, low_rank, pairs)

    def _joined(self, coupling: Sequence[Pairs], scale: float) -> Pairs | None:
        """Return the sum of Hessians that couple vertices, times ``scale``, over the free vertices.

        The result is the same object until other objects are passed. Joints and glue pass the same in each iteration.
        """
        known, factor, _ = self._coupling
        if factor != scale or len(known) != len(coupling) or any(a is not b for a, b in zip(known, coupling)):
            pairs = joined_pairs([each.renumbered(self._number) for each in coupling])
            self._coupling = coupling, scale, pairs and pairs.scaled(scale)
        return self._coupling[2]

    def begin_step(self, slow_steps: int = 0, negligible: float = 0.0) -> None:
        """Forget the systems of earlier steps, so that results do not depend on them.

        ``slow_steps``: result of :meth:`slow_steps` after the step before. From ``SLOW_STEPS`` on, the direct solver
        replaces conjugate gradients. ``negligible``, m: displacement that the step's stop rule neglects.
        """
        if self._can_switch and slow_steps >= SLOW_STEPS:
            self._can_switch = False
            self._choice = replace(self._choice, name=self._choice.solver.name, reason=SWITCHED)
            self._solver = Direct(self._body.sparsity(), self._choice.solver)
        self._solver.begin_step(negligible)

    def slow_steps(self, before: int) -> int:
        """Return the number of steps up to now whose systems a direct solver would have solved faster.

        ``before``: the number before the step. The number starts again from 0 after a faster step, but stays once the
        direct solver has replaced conjugate gradients.
        """
        if before >= SLOW_STEPS or not self._can_switch:
            return before
        return before + 1 if is_slower(self._solver.mean_iterations, self._body) else 0

    def try_factorize(self) -> bool:
        """Factorise the last assembled matrix; return False if the matrix is not positive definite.

        A term ``low_rank`` that makes the matrix indefinite is dropped. Conjugate gradients test only a coarse space
        and few other blocks, so True is then not a proof (``is_indefinite``).
        """
        definite = self._solver.try_factorize()
        if self._solver.low_rank is None:
            self.low_rank = None
        return definite

    def error(self) -> FactorizationError:
        """Return the error that names the vertex at which the matrix is not positive definite."""
        return not_definite(self._solver.weak_vertex(), len(self._body.rest_positions))

    def solve(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Return the solution (n,3) for a right-hand side (n,3). Pinned vertices get 0."""
        out = np.zeros((len(self._body.rest_positions), 3))
        out[self.free] = self._solver.solve(right_hand_side[self.free])
        if self._solver.low_rank is None:
            self.low_rank = None
        self.residual_work, self.is_indefinite = self._solver.residual_work, self._solver.is_indefinite
        return out

    def solve_columns(self, x: np.ndarray) -> None:
        """Solve k right-hand sides x (n,3,k) in place. Pinned vertices get 0."""
        if x.size:
            x[self._number < 0] = 0.0
            self._solver.solve_columns(x)

    def error_estimate(self) -> ErrorEstimate:
        """Return the estimated error of the last solution; zeros from a direct solver."""
        return self._solver.error_estimate()
