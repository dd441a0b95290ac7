"""Elements of a tet mesh: each is a tet, or several adjacent tets, with one deformation gradient.

The deformation gradient of an element is the mean of its tets' gradients, weighted by their filled volumes w_t
(:mod:`...geometry.tetrahedra.smoothing_domains`):

    F = sum_a x_a N_a^T        with        N_a = sum_t w_t N_ta / sum_t w_t

over the k nodes of the element, which are its tets' vertices. The gradients N_a sum to zero. With the second derivative
H of the element's energy by F, the element matrix consists of the blocks ``K_ab = N_a^T H N_b`` of 3 x 3 numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ...foundation.kernels.jit import inlined, kernel, parallel_kernel
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.mesh.topology import boundary_triangles
from .deformation_gradient import NodalGather, deformation_gradients, shape_gradients


@dataclass(frozen=True)
class ElementNodes:
    """Vertices of e elements.

    Attributes
    ----------
    starts : (e+1,) int64
        Element i has the nodes ``starts[i]`` to ``starts[i + 1] - 1``.
    vertices : (k,) int64, the vertex of each node
    """

    starts: np.ndarray
    vertices: np.ndarray

    @classmethod
    def of_tets(cls, tets: np.ndarray) -> ElementNodes:
        """Return one element per tet (m,4)."""
        return cls(4 * np.arange(len(tets) + 1, dtype=np.int64), tets.astype(np.int64).ravel())

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def block_starts(self) -> np.ndarray:
        """Index of each element's first block among all element blocks, (e+1,).

        An element with k nodes has the blocks of its node pairs (a, b), a >= b: (0,0), (1,0), (1,1), (2,0) to
        (k-1,k-1).
        """
        k = np.diff(self.starts)
        return np.concatenate([[0], np.cumsum(k * (k + 1) // 2)]).astype(np.int64)

    @cached_property
    def vertex_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Vertices of the rows and of the columns of all element blocks, (b,) int64 each."""
        rows = np.empty(int(self.block_starts[-1]), dtype=np.int64)
        columns = np.empty_like(rows)
        _fill_pairs(len(self), self.starts, self.block_starts, self.vertices, rows, columns)
        return rows, columns

    def pairs(self, free_index: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the rows, columns and indices of the element blocks between free vertices, (p,) int64 each.

        Rows and columns are numbers of free vertices. The indices refer to the list of all element blocks.
        ``free_index`` (n,): number of each free vertex, -1 for pinned vertices.
        """
        # NumPy before 2.0 defaults to 32-bit integers on Windows, whose products overflow.
        free_index = np.asarray(free_index, dtype=np.int64)
        rows, columns = (free_index[each] for each in self.vertex_pairs)
        slots = np.flatnonzero((rows >= 0) & (columns >= 0)).astype(np.int64)
        return rows[slots], columns[slots], slots


@dataclass(frozen=True)
class Elements:
    """Elements of a mesh with n vertices and m tets.

    The e elements have k nodes in total. The element matrices have b blocks in total. Each block belongs to a pair of
    nodes of one element.

    Attributes
    ----------
    nodes : ElementNodes
        Vertices of the nodes of each element.
    N : (k,3) 1/m, gradient of each node's shape function in its element
    of_tet : (m,) int64, element that each tet belongs to
    share : (m,) filled volume of each tet, divided by the filled volume of the tet's element
    volumes : (e,) m³, sum of the volumes of each element's tets, with partly filled tets counted in full; of a split
        mesh, times the element's share
    deviation : (b,) m, or None if each tet is an element
        For the element block of the nodes i and j: ``sum_t v_t (N_ti - N_i) . (N_tj - N_j)`` over the element's tets t
        with the volumes v_t. N_i is the shape gradient of node i in the element. N_ti is the shape gradient of node i
        in tet t, 0 if the tet does not contain the node. As a quadratic form of the node positions, the block values
        measure how much the tets' F differ from the element's F.
    arms : (k,3) m, or None if each tet is an element
        Rest positions of the nodes relative to the first node of their element.
    is_thin : (e,) bool
        True if no node of the element belongs to a tet that has a node inside the body: the body is thin there. False
        everywhere if each tet is an element, or if the body fills some tets only partly.
    tet_slots : (m,10) int64
        Index of the element block for each tet's corner pairs (0,0), (1,0), (1,1), (2,0) to (3,3). The block's rows may
        belong to either corner of the pair. Symmetric contributions do not depend on the order of the corners.
    vertex_count : number n of vertices
    """

    nodes: ElementNodes
    N: np.ndarray
    of_tet: np.ndarray
    share: np.ndarray
    volumes: np.ndarray
    tet_slots: np.ndarray
    vertex_count: int
    is_thin: np.ndarray
    deviation: np.ndarray | None = None
    arms: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.nodes)

    @cached_property
    def _gather(self) -> NodalGather:
        return NodalGather(self.nodes.starts, self.nodes.vertices, self.vertex_count)

    @cached_property
    def gradient_operator(self) -> sp.csr_matrix:
        """Sparse matrix (3e,n) of the derivatives in the elements.

        Row 3i + j maps a function at the vertices to the function's derivative by axis j in element i.
        """
        rows = 3 * np.repeat(np.arange(len(self)), np.diff(self.nodes.starts))[:, None] + np.arange(3)
        columns = np.broadcast_to(self.nodes.vertices[:, None], rows.shape)
        shape = 3 * len(self), self.vertex_count
        return sp.csr_matrix((self.N.ravel(), (rows.ravel(), columns.ravel())), shape=shape)

    def gradients(self, positions: np.ndarray) -> np.ndarray:
        """Return the deformation gradient of each element, (e,3,3).

        ``positions`` (n,3), m: vertex positions. For displacements instead of positions, the result is the change of
        the deformation gradients.
        """
        return deformation_gradients(positions, self.nodes.starts, self.nodes.vertices, self.N)

    def nodal_forces(self, stress: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the gradient of an elastic energy by the vertex positions, (n,3) N.

        ``stress`` (e,3,3), Pa: stress of each element. ``weights`` (e,), m³: volume of each element.
        """
        return self._gather.stress_forces(stress, self.N, weights)

    def nodal_sums(self, vectors: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the sum of the nodes' ``vectors`` (k,3) at each vertex, (n,3), times the ``weights`` (e,) of their
        elements.
        """
        return self._gather.nodal_sums(vectors, weights)

    def matrices(
        self, hessians: np.ndarray, mass: np.ndarray | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the blocks (b,3,3) of all element matrices.

        ``hessians`` (e,6,3,3): second derivatives of the elements' energies by F, as six 3 x 3 blocks per element. Each
        3 x 3 block of ``hessians`` belongs to a pair of columns of F: (0,0), (1,0), (1,1), (2,0), (2,1), (2,2).
        ``mass`` (b,): multiples of the identity that are added to the blocks, or None. ``out`` (b,3,3): array for the
        result, or None for a new one.
        """
        blocks = np.empty((int(self.nodes.block_starts[-1]), 3, 3)) if out is None else out
        mass = np.zeros(0) if mass is None else mass
        _fill_matrices(len(self), self.nodes.starts, self.nodes.block_starts, self.N, hessians, mass, blocks)
        return blocks

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Return the mean of ``values`` over the tets of each element, weighted by filled volume.

        ``values``: (m,) or (m,k), one row per tet. The result is (e,) or (e,k), one row per element.
        """
        if len(self) == len(self.of_tet):
            return values
        # Means of differences to the first tet: the mean of equal values has no round-off.
        first = values[np.unique(self.of_tet, return_index=True)[1]]
        rows = sp.csr_matrix((self.share, (self.of_tet, np.arange(len(values)))))
        return first + rows @ (values - first[self.of_tet])

    def isotropic(self, stiffness: np.ndarray) -> np.ndarray:
        """Return the product ``stiffness N_i . N_j`` for each element block, (b,).

        N_i and N_j, 1/m, are the shape gradients of the block's two nodes. ``stiffness`` (e,): factor of each element.
        """
        values = np.empty(int(self.nodes.block_starts[-1]))
        _fill_isotropic(len(self), self.nodes.starts, self.nodes.block_starts, self.N, stiffness, values)
        return values

    def of_tets(self, values: np.ndarray) -> np.ndarray:
        """Sum values of the tets' corner pairs into the element blocks, (b,).

        ``values`` (m,10): one value per corner pair of each tet, in the order of ``tet_slots``.
        """
        return np.bincount(self.tet_slots.ravel(), values.ravel(), minlength=int(self.nodes.block_starts[-1]))

    def flowed(self, inverse: np.ndarray) -> Elements:
        """Return the elements with the gradients ``F F_p^-1``: shape gradients are relative to a plastic shape.

        ``inverse`` (e,3,3): inverse F_p^-1 of each element's plastic deformation gradient, of determinant 1.
        """
        of_nodes = np.repeat(inverse, np.diff(self.nodes.starts), axis=0)
        return replace(self, N=(self.N[:, None, :] @ of_nodes)[:, 0])

    def split(self, mesh: TetMesh) -> tuple[Elements, np.ndarray, np.ndarray]:
        """Return the elements of a split mesh, copies of these elements of the mesh before the split.

        The results are the elements, the index (c,) of the element that each is a copy of, and its share (c,) of that
        element's volume. Shares of an element's copies add up to 1.
        """
        at, _parents, pieces = mesh.split
        keys = pieces[mesh.tets[:, 0]] * len(self) + self.of_tet[at]
        group = np.unique(keys, return_inverse=True)[1].ravel()
        source = np.empty(int(group.max()) + 1, dtype=np.int64)
        source[group] = self.of_tet[at]
        filled = np.bincount(group, mesh.body_volumes)
        share = filled / np.bincount(source, filled)[source]
        copied = elements_of(TetMesh(mesh.rest_positions, mesh.tets, mesh.whole.fill[at]), group)
        deviation = copied.deviation
        if deviation is not None:
            deviation = np.repeat(share, np.diff(copied.nodes.block_starts)) * deviation
        is_thin, volumes = self.is_thin[source], share * copied.volumes
        return replace(copied, volumes=volumes, is_thin=is_thin, deviation=deviation), source, share

    def scaled(self, size: float) -> Elements:
        """Return the elements of the same mesh scaled by the factor ``size``."""
        deviation = None if self.deviation is None else size * self.deviation
        arms = None if self.arms is None else size * self.arms
        return replace(self, N=self.N / size, volumes=size**3 * self.volumes, deviation=deviation, arms=arms)


def elements_of(mesh: TetMesh, group: np.ndarray | None = None) -> Elements:
    """Return the elements of a mesh.

    ``group`` (m,): index of each tet's element, from 0. By default, each tet is an element.
    """
    tets, n, m = mesh.tets, len(mesh.rest_positions), len(mesh.tets)
    N = shape_gradients(mesh.rest_positions, tets)
    if group is None or int(group.max()) == m - 1:
        slots = np.arange(10 * m, dtype=np.int64).reshape(m, 10)
        nodes, none = ElementNodes.of_tets(tets), np.zeros(m, dtype=bool)
        return Elements(nodes, N.reshape(-1, 3), np.arange(m), np.ones(m), mesh.volumes, slots, n, none)
    keys, node = np.unique(group[:, None].astype(np.int64) * n + tets, return_inverse=True)
    node = node.reshape(m, 4)
    starts = np.searchsorted(keys, n * np.arange(int(group.max()) + 2, dtype=np.int64)).astype(np.int64)
    nodes = ElementNodes(starts, keys % n)
    share = mesh.elastic_volumes / np.bincount(group, mesh.elastic_volumes)[group]
    weighted = share[:, None, None] * N
    sums = [np.bincount(node.ravel(), weighted[:, :, j].ravel(), minlength=len(keys)) for j in range(3)]
    N_e, volumes = np.column_stack(sums), mesh.volumes
    local = node - starts[group][:, None]
    first, second = (local[:, each] for each in np.tril_indices(4))
    high, low = np.maximum(first, second), np.minimum(first, second)
    slots = nodes.block_starts[group][:, None] + high * (high + 1) // 2 + low
    of_tet = np.asarray(group, dtype=np.int64)
    found = Elements(nodes, N_e, of_tet, share, np.bincount(group, volumes), slots, n, _thin(mesh, nodes))
    deviation = np.zeros(int(nodes.block_starts[-1]))
    _sum_deviations(of_tet, starts, nodes.block_starts, node, N, N_e, volumes, deviation)
    X = mesh.rest_positions[nodes.vertices]
    return replace(found, deviation=deviation, arms=X - np.repeat(X[starts[:-1]], np.diff(starts), axis=0))


def _thin(mesh: TetMesh, nodes: ElementNodes) -> np.ndarray:
    if (mesh.fill < 1.0).any():
        return np.zeros(len(nodes), dtype=bool)
    outside = np.zeros(len(mesh.rest_positions), dtype=bool)
    outside[boundary_triangles(mesh.tets)] = True
    # Corners and edges of bodies that are several elements thick also have elements without an inner node.
    far = np.ones(len(outside), dtype=bool)
    far[mesh.tets[~outside[mesh.tets].all(axis=1)]] = False
    return np.logical_and.reduceat(far[nodes.vertices], nodes.starts[:-1])


def joined_elements(several: Sequence[Elements]) -> Elements:
    """Return the elements of several meshes whose vertices and tets are concatenated in the same order."""

    def offsets(counts: list[int]) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(counts)])

    vertices = offsets([each.vertex_count for each in several])
    elements = offsets([len(each) for each in several])
    nodes = offsets([len(each.nodes.vertices) for each in several])
    blocks = offsets([int(each.nodes.block_starts[-1]) for each in several])
    starts = [each.nodes.starts[:-1] + at for each, at in zip(several, nodes)]
    plain = all(each.deviation is None for each in several)
    return Elements(
        ElementNodes(
            np.append(np.concatenate(starts), nodes[-1]).astype(np.int64),
            np.concatenate([each.nodes.vertices + at for each, at in zip(several, vertices)]),
        ),
        np.concatenate([each.N for each in several]),
        np.concatenate([each.of_tet + at for each, at in zip(several, elements)]),
        np.concatenate([each.share for each in several]),
        np.concatenate([each.volumes for each in several]),
        np.concatenate([each.tet_slots + at for each, at in zip(several, blocks)]),
        int(vertices[-1]),
        np.concatenate([each.is_thin for each in several]),
        None
        if plain
        else np.concatenate([_or_zeros(each.deviation, each.nodes.block_starts[-1:]) for each in several]),
        None if plain else np.concatenate([_or_zeros(each.arms, each.N.shape) for each in several]),
    )


def _or_zeros(values: np.ndarray | None, shape: Sequence[int]) -> np.ndarray:
    return np.zeros(shape) if values is None else values


@kernel
def _sum_deviations(of_tet, starts, block_starts, node, N, N_e, volumes, deviation):
    """Compute ``Elements.deviation`` from shape gradients of the tets, N (m,4,3), and of the elements, N_e (k,3)."""
    D = np.empty((int(np.diff(starts).max()), 3))
    for t in range(len(of_tet)):
        e = of_tet[t]
        k = starts[e + 1] - starts[e]
        for a in range(k):
            D[a] = -N_e[starts[e] + a]
        for c in range(4):
            D[node[t, c] - starts[e]] += N[t, c]
        block = block_starts[e]
        for a in range(k):
            for b in range(a + 1):
                deviation[block] += volumes[t] * (D[a, 0] * D[b, 0] + D[a, 1] * D[b, 1] + D[a, 2] * D[b, 2])
                block += 1


@parallel_kernel
def _fill_pairs(begin, end, starts, block_starts, vertices, rows, columns):
    for e in range(begin, end):
        block = block_starts[e]
        for a in range(starts[e], starts[e + 1]):
            for b in range(starts[e], a + 1):
                rows[block], columns[block] = vertices[a], vertices[b]
                block += 1


@parallel_kernel
def _fill_isotropic(begin, end, starts, block_starts, N, stiffness, values):
    for e in range(begin, end):
        block = block_starts[e]
        for a in range(starts[e], starts[e + 1]):
            for b in range(starts[e], a + 1):
                values[block] = stiffness[e] * (N[a, 0] * N[b, 0] + N[a, 1] * N[b, 1] + N[a, 2] * N[b, 2])
                block += 1


@parallel_kernel
def _fill_matrices(begin, end, starts, block_starts, N, hessians, mass, blocks):
    T = np.empty((3, 3, 3))
    for e in range(begin, end):
        first, k = starts[e], starts[e + 1] - starts[e]
        start = block_starts[e]
        for b in range(1, k):
            _times_gradient(hessians[e], N[first + b], T)
            for a in range(b, k):
                _sum_along(N[first + a], T, blocks[start + a * (a + 1) // 2 + b])
        # The gradients sum to zero, so the blocks of node 0 are minus sums of those of the other nodes.
        for i in range(3):
            for j in range(3):
                whole = 0.0
                for a in range(1, k):
                    total = 0.0
                    for b in range(1, k):
                        if a >= b:
                            total += blocks[start + a * (a + 1) // 2 + b, i, j]
                        else:
                            total += blocks[start + b * (b + 1) // 2 + a, j, i]
                    blocks[start + a * (a + 1) // 2, i, j] = -total
                    whole += total
                blocks[start, i, j] = whole
        if len(mass):
            for block in range(start, block_starts[e + 1]):
                for i in range(3):
                    blocks[block, i, i] += mass[block]


@inlined
def _times_gradient(hessian, N, T):
    """Compute ``T_a = sum_b H_ab N_b`` for a shape gradient N (3,) and second derivatives H_ab by the columns of F.

    ``hessian`` (6,3,3): blocks H_ab for a >= b. ``T`` (3,3,3): one block T_a per column a.
    """
    for i in range(3):
        for j in range(3):
            T[0, i, j] = hessian[0, i, j] * N[0] + hessian[1, j, i] * N[1] + hessian[3, j, i] * N[2]
            T[1, i, j] = hessian[1, i, j] * N[0] + hessian[2, i, j] * N[1] + hessian[4, j, i] * N[2]
            T[2, i, j] = hessian[3, i, j] * N[0] + hessian[4, i, j] * N[1] + hessian[5, i, j] * N[2]


@inlined
def _sum_along(N, T, out):
    for i in range(3):
        for j in range(3):
            out[i, j] = N[0] * T[0, i, j] + N[1] * T[1, i, j] + N[2] * T[2, i, j]
