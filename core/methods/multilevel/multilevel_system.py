"""Linear system of a body that the three levels of [SMS25] solve approximately."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from ...geometry.mesh.topology import vertex_components
from ...mechanics.assembly.block_rows import BlockRows
from ...mechanics.assembly.low_rank import LowRank
from ...mechanics.assembly.pairs import Pairs
from ...numerics.linear_solvers.body import Body
from ...numerics.linear_solvers.elastic_system import ElasticSystem
from ...numerics.linear_solvers.linear_system import LinearSystem
from ...numerics.linear_solvers.protocol import ErrorEstimate
from ...numerics.linear_solvers.registry import Choice, fastest
from ..handles.affine_handles import Handles, affine_basis, handles_of
from ..model.model import Model
from .levels import ConjugateGradientResult, SubspaceLevel, SystemMatrix, conjugate_gradients

SHARE_EXPONENT = -0.6
"""Exponent of the stiffness in the density of handles that is best for k-means with travel times as distances.

With cells of size a, the mean squared travel time ``a²/E`` is least for a given number of cells if ``a^-3 ~ E^(-3/5)``.
"""

HOPS = 20, 40
"""Numbers of polishing iterations among which 0 chooses ([SMS25] Sec. 3.7.2)."""


class Levels:
    """Approximate solver of a body's linear system by affine handles, sparse handles and polishing.

    It has the interface of :class:`...numerics.linear_solvers.protocol.SystemSolver`.

    Parameters
    ----------
    body : Body
    parts : vertices and tets of each body in a merged model
    handles : mean number of handles of a body; soft and large bodies have more
    polishing : number of iterations of the last level; 0 to choose 20 or 40 by the size of the clusters

    Attributes
    ----------
    polishing : number of iterations of the last level
    matrix : the last assembled matrix
    subspace_part : (f,3) solution of levels 1 and 2 at the last solution
    polished : result of the last level at the last solution
    iterations : numbers of iterations of the three levels at the last solution
    """

    label = "three levels"
    factor_entries = None
    is_indefinite = False

    def __init__(self, body: Body, parts: Sequence[tuple[slice, slice]], handles: int, polishing: int) -> None:
        number = body.free_numbers()
        self._body, self._parts, self._handles, self._requested = body, parts, handles, polishing
        self.free = np.flatnonzero(number >= 0)
        self._rows = BlockRows(body.elements.nodes, number)
        self.low_rank: LowRank | None = None
        self.residual_work, self._weak = 0.0, 0
        self.subspace_part = np.zeros((len(self.free), 3))
        self.iterations = (0, 0, 0)
        self.follow(body.shear_modulus)

    def follow(self, shear_modulus: np.ndarray) -> None:
        """Recompute the handles for new shear moduli. ``shear_modulus`` (e,), Pa: modulus of each element."""
        body, stiffness = self._body, shear_modulus[self._body.elements.of_tet]
        affine, sparse, hops = [], [], []
        for (vertices, tets), count in zip(self._parts, self._shares(shear_modulus)):
            X, own, first = body.rest_positions[vertices], body.tets[tets], vertices.start or 0
            own = own - first
            pinned = body.pinned[(body.pinned >= first) & (body.pinned < first + len(X))] - first
            handles = handles_of(X, own, stiffness[tets], pinned, count)
            weights, _pinned, centres = handles.weights
            sparse.append(affine_basis(weights, X, X[centres]))
            affine.append(_affine_level(weights, X, own))
            hops += _hops(own, handles) if self._requested == 0 else []
        self._affine, self._sparse = (
            SubspaceLevel(sp.block_diag(each, format="csr")[self.free]) for each in (affine, sparse)
        )
        self.polishing = self._requested or min(HOPS, key=lambda each: abs(each - np.mean(hops or [0])))

    def _shares(self, shear_modulus: np.ndarray) -> list[int]:
        """Return the number of handles of each body: as many as one partition of all bodies would give it."""
        density, of_tet = self._body.weights * shear_modulus**SHARE_EXPONENT, self._body.elements.of_tet
        sizes = np.array([density[np.unique(of_tet[tets])].sum() for _vertices, tets in self._parts])
        total = self._handles * len(self._parts)
        return [max(int(round(total * share)), 1) for share in sizes / sizes.sum()]

    @property
    def ordering(self) -> str:
        """Number of handles and of polishing iterations, as text for the report."""
        return f"{self._sparse.count} handles, {self.polishing} polishing iterations"

    def fill(self, blocks: np.ndarray, low_rank: LowRank | None = None, pairs: Pairs | None = None) -> None:
        """Assemble the matrix; see :class:`...numerics.linear_solvers.protocol.SystemSolver`."""
        self._rows.fill(blocks, pairs)
        self.low_rank = low_rank
        self.matrix = SystemMatrix(self._rows, low_rank)

    def begin_step(self, _negligible: float = 0.0) -> None:
        """Do nothing: no solution depends on earlier systems."""

    def try_factorize(self) -> bool:
        """Invert the preconditioners' blocks. Return False if a block of the matrix is not positive definite."""
        weak = np.flatnonzero(~(np.linalg.eigvalsh(self._rows.diagonal_blocks())[:, 0] > 0.0))
        if len(weak):
            self._weak = int(self.free[weak[0]])
            return False
        return self._affine.prepare(self.matrix) and self._sparse.prepare(self.matrix)

    def weak_vertex(self) -> int:
        """Return the index of a vertex at which the matrix is not positive definite."""
        return self._weak

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Return the approximate solution (f,3) for a right-hand side b (f,3)."""
        matrix = self.matrix
        x = self._affine.correction(matrix, b)
        x = x + self._sparse.correction(matrix, b - matrix.times(x))
        self.subspace_part = x
        diagonal = matrix.diagonal
        self.polished = conjugate_gradients(
            matrix.times, lambda r: r / diagonal, b - matrix.times(x), self.polishing, 0.0
        )
        x = x + self.polished.x
        self.iterations = self._affine.iterations, self._sparse.iterations, len(self.polished.lengths)
        self.residual_work = -float(np.sum(x * self.polished.r))
        return x

    def solve_columns(self, x: np.ndarray) -> None:
        """Solve k right-hand sides x (n,3,k) in place, one after the other."""
        for k in range(x.shape[2]):
            x[self.free, :, k] = self.solve(x[self.free, :, k])

    def error_estimate(self) -> ErrorEstimate:
        """Return the estimated error of the last solution, by the smallest Ritz value of the last level."""
        r = self.polished.r
        z = r / self.matrix.diagonal
        theta = self.polished.smallest_eigenvalue
        return ErrorEstimate(float(np.sum(r * z)) / theta, float(np.linalg.norm(z, axis=1).max(initial=0.0)) / theta)

    polished = ConjugateGradientResult(np.zeros((0, 3)), np.zeros((0, 3)), [], [])


class MultilevelSystem(ElasticSystem):
    """Linear system of a model, solved by :class:`Levels`."""

    def __init__(self, model: Model, handles: int, polishing: int) -> None:
        body = model.body
        LinearSystem.__init__(self, body.weights)
        self._body = body
        self._mass = body.element_mass
        self._number = body.free_numbers()
        self._choice, self._can_switch = Choice("multilevel", fastest(), "as published"), False
        parts = [(each.vertices, each.tets) for each in model.slices] or [(slice(0, None), slice(0, None))]
        self._solver = Levels(body, parts, handles, polishing)

    @property
    def levels(self) -> Levels:
        """Solver of the last assembled matrix."""
        return self._solver

    @property
    def subspace_part(self) -> np.ndarray:
        """Part (n,3) of the last solution that lies in the subspace of the handles."""
        out = np.zeros((len(self._body.rest_positions), 3))
        out[self.free] = self._solver.subspace_part
        return out


def _affine_level(weights: sp.csr_matrix, X: np.ndarray, tets: np.ndarray) -> sp.csr_matrix:
    """Return the basis (n,4c) of one affine handle per connected component, of the weight that is not pinned."""
    parts = np.zeros(len(X), dtype=np.int64)
    parts[tets.ravel()] = np.repeat(vertex_components(tets), 4)
    sums = np.asarray(weights.sum(axis=1)).ravel()
    parts = np.unique(parts, return_inverse=True)[1].ravel()
    whole = sp.csr_matrix((sums, (np.arange(len(X)), parts)))
    whole.eliminate_zeros()
    centres = np.stack([X[parts == part].mean(axis=0) for part in range(whole.shape[1])])
    return affine_basis(whole, X, centres)


def _hops(tets: np.ndarray, handles: Handles) -> list[float]:
    """Return the number of edges from each handle's centre to the farthest vertex of its cluster."""
    n, corners = int(tets.max()) + 1, np.arange(4)
    rows, columns = np.repeat(tets, 4, axis=1).ravel(), tets[:, np.tile(corners, 4)].ravel()
    graph = sp.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    found = []
    for centre in handles.weights.centres:
        cluster = np.unique(handles.labels[(tets == centre).any(axis=1)])
        steps = dijkstra(graph, indices=centre, unweighted=True)
        members = np.unique(tets[np.isin(handles.labels, cluster[:1])])
        found.append(float(steps[members][np.isfinite(steps[members])].max(initial=0.0)))
    return found
