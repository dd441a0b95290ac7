"""Deflated, preconditioned conjugate gradients: the linear solver of large bodies, also in contact.

The preconditioner (:mod:`.preconditioner`) is exact on few vertices and block Jacobi elsewhere; the deflation
(:mod:`.deflation`) is exact for the affine displacements of vertex groups. [MFEM22] Sec. 3.6 instead preconditions by a
prefactored Hessian, which knows nothing of contact and costs ten times as much per iteration.

After any number of iterations, the iterate x minimises ``1/2 x.A x - b.x`` over the search directions so far and the
coarse space of the deflation. So ``b.x = x.A x > 0``: x is a descent direction, and orthogonal to its residual.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ...mechanics.assembly.block_rows import BlockRows
from ...mechanics.assembly.low_rank import LowRank
from ...mechanics.assembly.pairs import Pairs
from .body import Body
from .deflation import AffineDeflation
from .iteration import Limits, Solution, iterate
from .preconditioner import Preconditioner
from .protocol import DirectSolver, ErrorEstimate
from .stiff_parts import lone_tets, thin_stiff_vertices, vertex_groups

TOLERANCE = 1e-2
"""Relative error at which the iteration ends.

The error is estimated by the residual in the norm of the preconditioner, relative to the energy norm of the solution.
"""

EXACT_TOLERANCE = 1e-8
"""The same for the systems of a step that does not iterate, and for several right-hand sides (ConJac's map)."""

MOVEMENT = 3e-3
"""Largest preconditioned residual at which the iteration ends, relative to the largest displacement, or to
the one of ``NEGLECTED`` if that is larger.

The energy norm hardly sees soft parts beside stiff ones, and bodies beside stiff contacts. Without this limit, a bear
with a part of 1e14 Pa beside 6e4 ended 2e-4 of its size from the solution of a step that converges to 1e-5, and steps
in self-contact took two more iterations. With 1e-3, each solution takes a quarter more iterations of conjugate
gradients, and a step at most 0.4 fewer iterations of its solver.
"""

NEGLECTED = 3.0
"""Displacement below which solutions need not be more accurate, relative to the one that the step's stop rule neglects.

The rule counts the estimated error of the solution too. With 1, each solution takes up to a sixth more iterations, and
steps take as many of their solver.
"""

BONE_ACCURACY = 3.0
"""Number by which ``MOVEMENT`` is divided if there are rigid bodies of one tet. ``NEGLECTED`` is multiplied by it, so
that the smallest limit is the same.

In a bar of 31,000 tets that a chain of 20 bones bends, steps take 3.7 iterations of their solver instead of 4.0, and as
many of conjugate gradients. Slabs without bones would take 15 % more of conjugate gradients for the same.
"""

CONTRAST = 1e3
"""Ratio of the stiffnesses of all bodies above which the preconditioned residuals of a step's first ``FIRST_SYSTEMS``
systems are also limited by ``FARTHEST``.
"""

FARTHEST = 1e-7
"""Largest preconditioned residual of bodies of high ``CONTRAST``, relative to the size of the body.

From a state far from equilibrium, inaccurate first iterations lead Mixed FEM astray: without this limit, a twisted arm
took 15 to 29 iterations at contrasts of 1e4 and 3e4, and 75 to 165 at 1e6, with it 7 to 10 and 11 to 16, with a direct
solver 7 to 9 and 9 to 16. Flesh with 20 bones glued to it took 36 instead of 33 in eight steps.
"""

FIRST_SYSTEMS = 3
"""Number of a step's systems to which ``FARTHEST`` applies. Two would do for contrasts up to 1e5. A limit in all
systems doubles the iterations of conjugate gradients in a hand that lands on its fingers.
"""


class ConjugateGradients:
    """Solver of a body's linear system by preconditioned conjugate gradients; see :class:`SystemSolver`.

    Parameters
    ----------
    solver : class of the direct solver that factorises the preconditioner's exact part
    tolerance : relative error at which a solution ends
    groups : (f,) index of each free vertex's group for the deflation; by default from :func:`vertex_groups`
    """

    label = "conjugate gradients"

    most_iterations = 400
    """Largest number of iterations per solution."""

    def __init__(
        self,
        body: Body,
        solver: type[DirectSolver],
        tolerance: float = TOLERANCE,
        groups: np.ndarray | None = None,
    ) -> None:
        number = body.free_numbers()
        self._body, self.free = body, np.flatnonzero(number >= 0)
        self._A = BlockRows(body.elements.nodes, number)
        self._kind, self._tolerance = solver, tolerance
        self._partition(body.shear_modulus, groups)
        self._weak = self._systems = self._total = 0
        self._negligible = 0.0
        self._last: Solution
        self.residual_work = 0.0
        self.is_indefinite = False
        self.low_rank: LowRank | None = None

    def _partition(self, shear_modulus: np.ndarray, groups: np.ndarray | None = None) -> None:
        """Set the groups of the deflation and the preconditioner's thin stiff parts."""
        body, stiffness = self._body, shear_modulus[self._body.elements.of_tet]
        if groups is None:
            graph = self._A.starts, self._A.columns
            groups = vertex_groups(body.rest_positions, body.tets, stiffness, self.free, *graph)
        is_contrasted = stiffness.max(initial=0.0) > CONTRAST * stiffness.min(initial=np.inf)
        self._farthest = FARTHEST * float(np.ptp(body.rest_positions, axis=0).max()) if is_contrasted else np.inf
        self._accuracy = BONE_ACCURACY if lone_tets(body.tets).any() else 1.0
        self._deflation = AffineDeflation(groups, body.rest_positions[self.free])
        thin = thin_stiff_vertices(body.rest_positions, body.tets, stiffness, self.free, groups)
        self._preconditioner = Preconditioner(thin, self._kind)

    def follow(self, shear_modulus: np.ndarray) -> None:
        """Update the deflation groups and the preconditioner for new shear moduli.

        ``shear_modulus`` (e,), Pa: modulus of each element.
        """
        self._partition(shear_modulus)

    @property
    def iterations(self) -> int:
        """Number of iterations of the last solution."""
        return len(self._last.lengths)

    @property
    def factor_entries(self) -> int | None:
        """Number of non-zeros of the factors: of the coarse matrix and of the preconditioner's exact part."""
        return (12 * self._deflation.count) ** 2 + self._preconditioner.factor_entries

    @property
    def ordering(self) -> str:
        """Number of groups of the deflation, as text for the report."""
        return f"{self._deflation.count} groups"

    def fill(self, blocks: np.ndarray, low_rank: LowRank | None = None, pairs: Pairs | None = None) -> None:
        """Assemble the matrix.

        ``blocks`` (b,3,3): element blocks. ``low_rank``: additional term of low rank. The preconditioner omits this
        term, so rank k costs about k iterations. ``pairs``: blocks between vertices coupled by contact.
        """
        self._A.fill(blocks, pairs)
        self.low_rank = low_rank

    def begin_step(self, negligible: float = 0.0) -> None:
        """Reset the numbers of systems and iterations of the step.

        ``negligible``, m: displacement that the step's stop rule neglects. Displacements below a multiple of it are
        computed as accurately as those of this multiple, see ``NEGLECTED``.
        """
        self._systems = self._total = 0
        self._negligible = NEGLECTED * self._accuracy * negligible

    @property
    def mean_iterations(self) -> float:
        """Mean number of iterations of the step's solutions."""
        return self._total / max(self._systems, 1)

    def try_factorize(self) -> bool:
        """Factorise the preconditioner; return False if the matrix is indefinite.

        A term ``low_rank`` that makes the matrix indefinite in the coarse space is dropped. Only the coarse space, the
        preconditioner's exact part and the diagonal blocks are tested; see ``is_indefinite``.
        """
        row = self._preconditioner.try_factorize(self._A)
        if row is None:
            group = self._deflation.factorize(self._A, self.low_rank)
            if group is not None and self.low_rank is not None:
                self.low_rank = None
                group = self._deflation.factorize(self._A)
            row = None if group is None else int(np.argmax(self._deflation.groups == group))
        self._weak = 0 if row is None else row
        return row is None

    def weak_vertex(self) -> int:
        """Return the index of a vertex at which the last :meth:`try_factorize` found the matrix indefinite."""
        return int(self.free[self._weak])

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Return the approximate solution (f,3) for a right-hand side b (f,3).

        A term ``low_rank`` with which the matrix turns out to be indefinite is dropped.
        """
        self._systems += 1
        farthest = self._farthest if self._systems <= FIRST_SYSTEMS else np.inf
        movement = MOVEMENT / self._accuracy
        x = self._solve(b, Limits(self._tolerance, movement, farthest, self._negligible, self.most_iterations))
        self._total += self.iterations
        if self.is_indefinite and self.low_rank is not None:
            self.low_rank = None
            self._deflation.factorize(self._A)
            return self.solve(b)
        return x

    def _solve(self, b: np.ndarray, limits: Limits) -> np.ndarray:
        solution = iterate(self._A, self._preconditioner, self._deflation, self.low_rank, b, limits)
        self._last, self.is_indefinite, self.residual_work = solution, solution.is_indefinite, solution.residual_work
        return solution.x

    def solve_columns(self, x: np.ndarray) -> None:
        """Solve k right-hand sides x (n,3,k) in place, one after the other."""
        limits = Limits(EXACT_TOLERANCE, MOVEMENT, self._farthest, 0.0, self.most_iterations)
        for k in range(x.shape[2]):
            x[self.free, :, k] = self._solve(x[self.free, :, k], limits)

    def error_estimate(self) -> ErrorEstimate:
        """Return the estimated error of the last solution.

        The error is ``A^-1 r`` for the residual r. ``A^-1`` is at most ``1 / theta`` times the preconditioner's
        inverse, with theta the smallest eigenvalue of the preconditioned matrix. The smallest eigenvalue of the
        iteration's tridiagonal matrix approximates theta (Golub and Meurant, "Matrices, Moments and Quadrature with
        Applications", 2010).
        """
        last = self._last
        theta = smallest_ritz_value(last.lengths, last.ratios)
        movement = float(np.linalg.norm(last.z, axis=1).max(initial=0.0))
        return ErrorEstimate(max(last.work, 0.0) / theta, movement / theta)


def smallest_ritz_value(lengths: np.ndarray, ratios: np.ndarray) -> float:
    """Return the smallest eigenvalue of the iteration's tridiagonal matrix; 1 without an iteration.

    ``lengths`` (k,): step lengths. ``ratios`` (k-1,): ratios of successive products of residual and preconditioned
    residual.
    """
    if not len(lengths):
        return 1.0
    diagonal = 1.0 / lengths
    diagonal[1:] += ratios / lengths[:-1]
    return float(scipy.linalg.eigvalsh_tridiagonal(diagonal, np.sqrt(ratios) / lengths[:-1])[0])
