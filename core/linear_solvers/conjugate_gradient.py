"""Deflated, preconditioned conjugate gradients: the scalable route of [MFEM22] Sec. 3.6.

The iterate is the minimiser of ``1/2 x.A x - b.x`` over the directions tried so far and the affine movements of the
deflation, however few iterations are allowed. So ``b.x = x.A x > 0``: it is a descent direction, and its residual does
no work on it.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ..assembly.block_rows import BlockRows
from ..assembly.low_rank import LowRank
from ..assembly.pairs import Pairs
from ..assembly.sparsity import Pattern
from .body import Body
from .deflation import AffineDeflation
from .preconditioner import ShapePreconditioner
from .protocol import DirectSolver, ErrorEstimate
from .stiff_parts import vertex_groups

RELATIVE_RESIDUAL = 1e-8
"""The residual at which the iteration ends before its cap, in the preconditioner's norm, as part of the solution's."""


class ConjugateGradients:
    """Solves a body's system by a capped number of iterations.

    Parameters
    ----------
    pattern : of one unknown a vertex
    iterations : the cap
    solver : the direct solver for the preconditioner
    relative_residual : where the iteration ends before
    groups : (f,) the deflation's; by default :func:`vertex_groups`
    deflated : whether residuals are corrected in the affine space too; [MFEM22] only starts in it
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
        self._A = BlockRows(body.tets, number)
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
        positions = self._body.rest_positions
        if groups is None:
            groups = vertex_groups(positions, self._body.tets, shear_modulus, self.free)
        return AffineDeflation(groups, positions[self.free])

    def follow(self, shear_modulus: np.ndarray) -> None:
        """Go on with tets of other shear moduli (m,), Pa: with other groups, and the preconditioner's other values."""
        self._deflation = self._deflation_of(shear_modulus)
        self._preconditioner.follow(shear_modulus)

    @property
    def iterations(self) -> int:
        """Of the last solution."""
        return len(self._lengths)

    @property
    def factor_entries(self) -> int | None:
        """Non-zeros of the preconditioner's factor."""
        return self._preconditioner.factor_entries

    @property
    def ordering(self) -> str:
        """How the deflation is made up, for the report."""
        return f"{self._deflation.count} groups"

    def fill(
        self,
        blocks: np.ndarray,
        scale: float,
        added: np.ndarray | None = None,
        low_rank: LowRank | None = None,
        pairs: Pairs | None = None,
    ) -> None:
        """Sum element blocks (m,10,3,3), which were assembled with ``scale``, and pairs; the preconditioner hears of
        what was ``added`` to the tets' own, and not of the low rank: a few directions cost as few iterations.
        """
        self._A.fill(blocks)
        self._pairs = None if pairs is None else pairs.matrix(len(self.free))
        self._preconditioner.prepare(scale, added)
        self.low_rank = low_rank

    def uncouple(self) -> None:
        """Nothing: no pattern is kept."""

    def try_factorize(self) -> bool:
        """Factorise in the coarse space; False where the matrix shows there, or in a diagonal block, that it is not
        definite, without the low rank. What shows later ends :meth:`solve`.
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
        """A vertex where the matrix is not definite."""
        return int(self.free[self._weak])

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Approximate solution (f,3) for a right-hand side (f,3)."""
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
                # Not definite: what was found is a minimiser where the matrix was, or else the gradient is taken.
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
        """Solve right-hand sides (n,3,k) in place, one after the other."""
        for k in range(x.shape[2]):
            x[self.free, :, k] = self.solve(x[self.free, :, k])

    def _times(self, x: np.ndarray) -> np.ndarray:
        product = self._A.times(x)
        if self._pairs is not None:
            product += (self._pairs @ x.ravel()).reshape(x.shape)
        return product if self.low_rank is None else product + self.low_rank.times(x)

    def _corrected(self, r: np.ndarray) -> tuple[np.ndarray, float]:
        """The residual preconditioned and deflated, and its product with the residual."""
        z = self._preconditioner.solve(r)
        if self._deflated:
            z = z + self._deflation.correction(r - self._times(z))
        return z, float(np.sum(r * z))

    def error_estimate(self) -> ErrorEstimate:
        """What an exact solution would add to the last one, by estimate.

        The error is ``A^-1 r``; ``A^-1`` is at most ``1 / theta`` times the preconditioner's inverse, with theta the
        smallest eigenvalue of the preconditioned matrix. The iteration knows it as the smallest eigenvalue of its
        tridiagonal matrix (Golub and Meurant, "Matrices, Moments and Quadrature with Applications", 2010).
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
