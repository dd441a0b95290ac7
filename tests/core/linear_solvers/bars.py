"""A bar with a stiff half, and its system, for the tests of linear solvers."""

from __future__ import annotations

import numpy as np
from sinew.benchmarks.bodies import block
from sinew.core.geometry.mesh.tet_mesh import TetMesh
from sinew.core.mechanics.assembly.elements import elements_of
from sinew.core.mechanics.assembly.sparsity import BlockSparsity
from sinew.core.mechanics.assembly.tangent_blocks import tangent_blocks
from sinew.core.mechanics.energies import energy
from sinew.core.mechanics.energies.kinematics import Deformation
from sinew.core.numerics.linear_solvers.body import Body


def bar(stiff: float, soft: float = 1.0, cells: tuple[int, int, int] = (12, 3, 3)) -> Body:
    """A bar held at x = 0, whose middle third is ``stiff`` (shear modulus; both Lame parameters are alike)."""
    mesh = block(cells, cells)
    X, tets = mesh.rest_positions, mesh.tets
    middle = np.abs(X[tets].mean(axis=1)[:, 0] - cells[0] / 2) < cells[0] / 6
    mu = np.where(middle, stiff, soft)
    m = len(tets)
    return Body(
        X,
        tets,
        elements_of(TetMesh(X, tets)),
        np.full(m, 1 / 6),
        np.full((m, 4), 0.25e-3),
        mu,
        np.flatnonzero(X[:, 0] == 0),
    )


def blocks_of(body: Body, scale: float = 1.0) -> np.ndarray:
    """Element blocks (b,3,3) of linear elasticity, with mass."""
    rest = Deformation.of(np.tile(np.eye(3), (len(body.tets), 1, 1)))
    hessians = np.empty((len(body.tets), 6, 3, 3))
    tangent = energy("linear").tangent(rest, np.column_stack(2 * [body.shear_modulus]))
    tangent_blocks(tangent, scale * body.weights, hessians)
    return body.elements.matrices(hessians) + body.element_mass[:, None, None] * np.eye(3)


def dense(body: Body, blocks: np.ndarray) -> np.ndarray:
    """The whole matrix over free vertices, (3f, 3f)."""
    sparsity = BlockSparsity(body.elements.nodes, len(body.rest_positions), body.pinned)
    pattern = sparsity.pattern
    values = np.empty(len(pattern.row_indices))
    sparsity.fill(blocks, values)
    A = np.zeros((pattern.size, pattern.size))
    A[pattern.row_indices, np.repeat(np.arange(pattern.size), np.diff(pattern.column_starts))] = values
    return A + np.tril(A, -1).T
