"""Deflated, preconditioned conjugate gradients: the scalable solver of [MFEM22] Sec. 3.6.

After any number of iterations, the iterate x minimises ``1/2 x.A x - b.x`` over the search directions so far and the
coarse space of the deflation. So ``b.x = x.A x > 0``: x is a descent direction, and orthogonal to its residual.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ...mechanics.assembly.block_rows import BlockRows
from ...mechanics.assembly.low_rank import LowRank
from ...mechanics.assembly.pairs import Pairs
from ...mechanics.assembly.sparsity import Pattern
from .body import Body
from .deflation import AffineDeflation
from .preconditioner import ShapePreconditioner
from .protocol import DirectSolver, ErrorEstimate
from .stiff_parts import vertex_groups

RELATIVE_RESIDUAL = 1e-8
"""Relative residual, in the norm of the preconditioner's inverse, at which the iteration ends early."""


class ConjugateGradients:
    """Solver of a body's linear system by preconditioned conjugate gradients; see :class:`SystemSolver`.

    Parameters
    ----------
    pattern : Pattern with one unknown per vertex
    iterations : largest number of iterations per solution
    solver : class of the direct solver that factorises the preconditioner
    relative_residual : residual, relative to the solution, at which the iteration ends early
        The residual is measured in the norm of the preconditioner's inverse, the solution in the energy norm.
    groups : (f,) index of each free vertex's group for the deflation; by default from :func:`vertex_groups`
    deflated : True to correct each residual in the coarse space; False to correct only the initial guess, as [MFEM22]
    """

    label = "conjugate gradients"

    def __init__(
        self,
        body: Body,
        pattern: Pattern,
        iterations: int,
        solver: type[DirectSolver],
        relative_residual: float = RELATIVE_RESIDUAL,
        groups: np.ndarray | None = None,
        deflated: bool = True,
    ) -> None:
        number = body.free_numbers()
        self._body, self.free = body, np.flatnonzero(number >= 0)
        self._A = BlockRows(body.elements.nodes, number)
        self._preconditioner = ShapePreconditioner(body, number, pattern, solver)
        self._deflation = self._deflation_of(body.shear_modulus, groups)
        self._cap, self._tolerance, self._deflated = iterations, relative_residual, deflated
        self._weak = 0
        self._lengths: list[float] = []
        self._ratios: list[float] = []
        self.residual_work = 0.0
        self.low_rank: LowRank | None = None
        self._pairs: sp.csr_matrix | None = None

    def _deflation_of(self, shear_modulus: np.ndarray, groups: np.ndarray | None = None) -> AffineDeflation:
        positions, of_tet = self._body.rest_positions, self._body.elements.of_tet
        if groups is None:
            groups = vertex_groups(positions, self._body.tets, shear_modulus[of_tet], self.free)
        return AffineDeflation(groups, positions[self.free])

    def follow(self, shear_modulus: np.ndarray) -> None:
        """Update the deflation groups and the preconditioner for new shear moduli.

        ``shear_modulus`` (e,), Pa: modulus of each element.
        """
        self._deflation = self._deflation_of(shear_modulus)
        self._preconditioner.follow(shear_modulus)

    @property
    def iterations(self) -> int:
        """Number of iterations of the last solution."""
        return len(self._lengths)

    @property
    def factor_entries(self) -> int | None:
        """Number of non-zeros of the preconditioner's factor."""
        return self._preconditioner.factor_entries

    @property
    def ordering(self) -> str:
        """Number of groups of the deflation, as text for the report."""
        return f"{self._deflation.count} groups"

    def fill(
        self,
        blocks: np.ndarray,
        scale: float,
        added: np.ndarray | None = None,
        low_rank: LowRank | None = None,
        pairs: Pairs | None = None,
    ) -> None:
        """Assemble the matrix and update the preconditioner.

        ``blocks`` (b,3,3): element blocks. ``scale``: factor of the stiffness in the blocks, h² for a step h. ``added``
        (b,3): part of the blocks' diagonals that is not from the tets' mass and elasticity; the preconditioner includes
        this part. ``low_rank``: additional term of low rank. The preconditioner omits this term, so rank k costs about
        k iterations. ``pairs``: blocks between vertices coupled by contact.
        """
        self._A.fill(blocks)
        self._pairs = None if pairs is None else pairs.matrix(len(self.free))
        self._preconditioner.prepare(scale, added)
        self.low_rank = low_rank

    def clear_pairs(self) -> None:
        """Do nothing: this solver stores no pattern of coupled vertex pairs."""

    def try_factorize(self) -> bool:
        """Factorise the matrix in the coarse space of the deflation; return False if the matrix is indefinite.

        A term ``low_rank`` that makes the matrix indefinite in the coarse space is dropped. Only the coarse space and
        the diagonal blocks are tested. :meth:`solve` ends early if the matrix is indefinite along other directions.
        """
        row = self._A.indefinite_row()
        if row is None:
            group = self._deflation.factorize(self._A, self.low_rank, self._pairs)
            if group is not None and self.low_rank is not None:
                self.low_rank = None
                group = self._deflation.factorize(self._A, pairs=self._pairs)
            row = None if group is None else int(np.argmax(self._deflation.groups == group))
        self._weak = 0 if row is None else row
        return row is None

    def weak_vertex(self) -> int:
        """Return the index of a vertex at which the last :meth:`try_factorize` found the matrix indefinite."""
        return int(self.free[self._weak])

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Return the approximate solution (f,3) for a right-hand side b (f,3)."""
        x = self._deflation.correction(b)
        r = b - self._times(x)
        self._lengths, self._ratios = [], []
        p, before = np.zeros_like(b), 1.0
        for _ in range(self._cap):
            z, work = self._corrected(r)
            if not work > self._tolerance**2 * max(float(np.sum(b * x)), 0.0):
                break
            p = z + (work / before) * p if self._lengths else z
            Ap = self._times(p)
            curvature = float(np.sum(p * Ap))
            if curvature <= 0.0:
                # Indefinite: keep the minimiser over the directions so far, or else the preconditioned gradient.
                x = x if x.any() else p
                break
            if self._lengths:
                self._ratios.append(work / before)
            self._lengths.append(work / curvature)
            x = x + (work / curvature) * p
            r = r - (work / curvature) * Ap
            before = work
        self._residual = r
        self.residual_work = -float(np.sum(x * r))
        return x

    def solve_columns(self, x: np.ndarray) -> None:
        """Solve k right-hand sides x (n,3,k) in place, one after the other."""
        for k in range(x.shape[2]):
            x[self.free, :, k] = self.solve(x[self.free, :, k])

    def _times(self, x: np.ndarray) -> np.ndarray:
        product = self._A.times(x)
        if self._pairs is not None:
            product += (self._pairs @ x.ravel()).reshape(x.shape)
        return product if self.low_rank is None else product + self.low_rank.times(x)

    def _corrected(self, r: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the preconditioned and deflated residual z (f,3), and the product ``r . z``."""
        z = self._preconditioner.solve(r)
        if self._deflated:
            z = z + self._deflation.correction(r - self._times(z))
        return z, float(np.sum(r * z))

    def error_estimate(self) -> ErrorEstimate:
        """Return the estimated error of the last solution.

        The error is ``A^-1 r`` for the residual r. ``A^-1`` is at most ``1 / theta`` times the preconditioner's
        inverse, with theta the smallest eigenvalue of the preconditioned matrix. The smallest eigenvalue of the
        iteration's tridiagonal matrix approximates theta (Golub and Meurant, "Matrices, Moments and Quadrature with
        Applications", 2010).
        """
        z, work = self._corrected(self._residual)
        theta = self._smallest_eigenvalue()
        return ErrorEstimate(max(work, 0.0) / theta, float(np.linalg.norm(z, axis=1).max(initial=0.0)) / theta)

    def _smallest_eigenvalue(self) -> float:
        if not self._lengths:
            return 1.0
        lengths, ratios = np.array(self._lengths), np.array(self._ratios)
        diagonal = 1.0 / lengths
        diagonal[1:] += ratios / lengths[:-1]
        return float(scipy.linalg.eigvalsh_tridiagonal(diagonal, np.sqrt(ratios) / lengths[:-1])[0])
