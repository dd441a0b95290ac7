"""Direct solution of a body's linear systems: a sparse Cholesky factorisation of the whole matrix per iteration."""

from __future__ import annotations

import numpy as np

from ...foundation.errors import FactorizationError
from ...mechanics.assembly.low_rank import LowRank
from ...mechanics.assembly.pairs import Pairs
from ...mechanics.assembly.sparsity import NONE, BlockSparsity
from .low_rank import UpdatedFactor
from .protocol import DirectSolver, ErrorEstimate

KEPT = 2
"""Largest ratio of earlier to current contact pairs at which the earlier pairs stay in the matrix pattern. Pairs are
kept because separated surfaces may collide again, and each new pattern needs a symbolic analysis.
"""


ANEW = 0.001
"""Least ratio of added contact pairs to vertex pairs in the tets for which the unknowns are ordered again.

Without a new order the factor has more non-zeros: 1.5 times as many at a ratio of 0.04 (three stacked boxes, 24,000
tets), and up to 1.25 times as many at ratios of 0.001 to 0.02 (a body of 22,000 tets that slid in self-contact).
"""

SOFT = 0.1
"""Largest relative increase of a diagonal entry for which new contact pairs are lumped.

Lumped pairs are added to the diagonal of the matrix alone, and do not extend the matrix pattern.
"""

FEW = 32
"""Least number of added contact pairs for which the unknowns are ordered again. For 22,000 tets, ordering takes about
as long as a factorisation.
"""


class Direct:
    """Solver of a body's linear system by a sparse direct solver; see :class:`SystemSolver`."""

    residual_work = 0.0
    is_indefinite = False

    def __init__(self, sparsity: BlockSparsity, solver: type[DirectSolver]) -> None:
        self._alone = sparsity, solver(sparsity.pattern), np.empty(len(sparsity.pattern.row_indices)), NONE
        self._sparsity, self._solver, self._values, self._ordered = self._alone
        self._last = self._alone
        self._is_first = False
        self.free = sparsity.free
        self.low_rank: LowRank | None = None

    @property
    def label(self) -> str:
        """Name of the direct solver, for the report."""
        return self._solver.label

    @property
    def factor_entries(self) -> int | None:
        """Number of scalar non-zeros of the factor."""
        return self._solver.factor_entries

    @property
    def ordering(self) -> str:
        """Name of the fill-reducing order of the unknowns, for the report."""
        return f"{self._solver.ordering} order"

    def follow(self, _shear_modulus: np.ndarray) -> None:
        """Do nothing: a direct solver depends on the shear moduli only through the matrix."""

    def fill(self, blocks: np.ndarray, low_rank: LowRank | None = None, pairs: Pairs | None = None) -> None:
        """Assemble the matrix from element blocks and contact pairs.

        ``blocks`` (b,3,3): element blocks. ``pairs``: blocks between vertices coupled by contact. ``low_rank``:
        additional term, which is not assembled but later updates the factor.
        """
        pairs = pairs and self._spared(pairs, blocks)
        self._couple(pairs)
        self._sparsity.fill(blocks, self._values)
        if pairs is not None:
            self._sparsity.add(pairs, self._values)
        self.low_rank = low_rank

    def begin_step(self, _negligible: float = 0.0) -> None:
        """Remove the contact pairs of earlier steps from the matrix pattern.

        Results then do not depend on the steps that this process ran before. The next step reuses the pattern of the
        last step if both steps begin with the same pairs and the last step extended the pattern only once. Pattern and
        order depend only on the pairs, so rebuilding would give equal results.
        """
        now = self._sparsity, self._solver, self._values, self._ordered
        self._last = now if self._is_first else self._alone
        self._sparsity, self._solver, self._values, self._ordered = self._alone
        self._is_first = False

    def _spared(self, pairs: Pairs, blocks: np.ndarray) -> Pairs:
        """Return the contact ``pairs``, with soft pairs that the matrix pattern lacks lumped to the diagonal.

        Lumping saves an extension of the pattern. Most new pairs exert little force, and often leave again.
        """
        sparsity = self._sparsity
        new = sparsity.lacks(pairs)
        if not len(sparsity.coupled) or not new.any():
            return pairs
        lumped = pairs.of(new).lumped()
        stiff = np.einsum("kcc->kc", lumped.blocks) > SOFT * sparsity.diagonal(blocks, lumped.rows)
        if stiff.any():
            return pairs
        return Pairs(*(np.concatenate(each) for each in zip(pairs.of(~new), lumped)))

    def _couple(self, pairs: Pairs | None) -> None:
        """Extend the matrix pattern by the contact ``pairs``; None restores the pattern of the tets alone."""
        sparsity, solver, *_ = self._alone
        if pairs is None:
            self._sparsity, self._solver, self._values, self._ordered = self._alone
            self._is_first = False
            return
        keys, before = sparsity.beside(pairs), self._sparsity.coupled
        new = len(keys) - len(np.intersect1d(keys, before, assume_unique=True))
        if not new:
            return
        self._is_first, last, self._last = not len(before), self._last, self._alone
        if self._is_first and np.array_equal(keys, last[0].coupled):
            self._sparsity, self._solver, self._values, self._ordered = last
            return
        keys = np.union1d(keys, before) if len(before) <= KEPT * len(keys) else keys
        many = max(FEW, ANEW * len(sparsity.pattern.block_rows))
        is_like = len(np.setdiff1d(keys, self._ordered)) < many
        like, self._ordered = (self._solver, self._ordered) if is_like else (None, keys)
        self._sparsity = sparsity.with_coupled(keys)
        self._solver = type(solver)(self._sparsity.pattern, like)
        self._values = np.empty(len(self._sparsity.pattern.row_indices))

    def try_factorize(self) -> bool:
        """Factorise the last assembled matrix; return False if the matrix is not positive definite.

        A term ``low_rank`` that makes the matrix indefinite is dropped.
        """
        try:
            self._solver.factorize(self._values)
        except FactorizationError:
            return False
        self._updated = self.low_rank and UpdatedFactor(self._solver, self.low_rank)
        if self._updated and not self._updated.is_definite:
            self._updated = self.low_rank = None
        return True

    def weak_vertex(self) -> int:
        """Return the index of the vertex at which the factorisation breaks down."""
        return self._solver.weak_vertex(self._values)

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Return the solution (f,3) for a right-hand side b (f,3)."""
        return (self._updated or self._solver).solve(b.ravel()).reshape(-1, 3)

    def solve_columns(self, x: np.ndarray) -> None:
        """Solve k right-hand sides x (n,3,k) in place."""
        columns, rows = x.reshape(-1, x.shape[2]), (3 * self.free[:, None] + np.arange(3)).ravel()
        if self._updated:
            columns[rows] = self._updated.solve_columns(columns[rows])
        else:
            self._solver.solve_in(columns, rows)

    def error_estimate(self) -> ErrorEstimate:
        """Return zeros: a direct solution is exact except for round-off."""
        return ErrorEstimate(0.0, 0.0)
