"""A bar with a stiff half, and its system, for the tests of linear solvers."""

from __future__ import annotations

import numpy as np
from sinew.core.assembly.deformation_gradient import shape_gradients
from sinew.core.assembly.sparsity import BlockSparsity, element_blocks
from sinew.core.linear_solvers.body import Body

# Kuhn's six tets of a cube, corners numbered by bits (x, y, z).
KUHN = np.array([[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]])


def grid(nx: int, ny: int, nz: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and positively oriented tets of a box of unit cubes."""
    X = np.stack(np.meshgrid(*(np.arange(c + 1.0) for c in (nx, ny, nz)), indexing="ij"), -1).reshape(-1, 3)
    x, y, z = np.indices((nx, ny, nz)).reshape(3, -1)
    offsets = np.array([(k & 1) * (ny + 1) * (nz + 1) + (k >> 1 & 1) * (nz + 1) + (k >> 2 & 1) for k in range(8)])
    tets = (((x * (ny + 1) + y) * (nz + 1) + z)[:, None] + offsets)[:, KUHN].reshape(-1, 4)
    flipped = np.linalg.det(X[tets[:, 1:]] - X[tets[:, :1]]) < 0
    tets[flipped] = tets[flipped][:, [0, 2, 1, 3]]
    return X, tets


def bar(stiff: float, soft: float = 1.0, cells: tuple[int, int, int] = (12, 3, 3)) -> Body:
    """A bar held at x = 0, whose middle third is ``stiff`` (shear modulus; both Lame parameters are alike)."""
    X, tets = grid(*cells)
    middle = np.abs(X[tets].mean(axis=1)[:, 0] - cells[0] / 2) < cells[0] / 6
    mu = np.where(middle, stiff, soft)
    m = len(tets)
    return Body(
        X,
        tets,
        shape_gradients(X, tets),
        np.full(m, 1 / 6),
        np.full(m, 1e-3),
        np.column_stack([mu, mu]),
        np.flatnonzero(X[:, 0] == 0),
    )


def blocks_of(body: Body, scale: float = 1.0) -> np.ndarray:
    """Element blocks (m,10,3,3) of linear elasticity: ``psi = mu |sym F|² + lambda/2 tr(F)²``."""
    identity = np.eye(3)
    mu, lam = body.parameters[:, 0], body.parameters[:, 1]
    symmetric = np.einsum("ik,jl->ijkl", identity, identity) + np.einsum("il,jk->ijkl", identity, identity)
    trace = np.einsum("ij,kl->ijkl", identity, identity)
    H = mu[:, None, None] * symmetric.reshape(9, 9) + lam[:, None, None] * trace.reshape(9, 9)
    blocks = np.empty((len(body.tets), 10, 3, 3))
    element_blocks(H, body.N, scale * body.weights, body.masses, blocks)
    return blocks


def dense(body: Body, blocks: np.ndarray) -> np.ndarray:
    """The whole matrix over free vertices, (3f, 3f)."""
    sparsity = BlockSparsity(body.tets, len(body.rest_positions), body.pinned)
    pattern = sparsity.pattern
    values = np.empty(len(pattern.row_indices))
    sparsity.fill(blocks, values)
    A = np.zeros((pattern.size, pattern.size))
    A[pattern.row_indices, np.repeat(np.arange(pattern.size), np.diff(pattern.column_starts))] = values
    return A + np.tril(A, -1).T
