"""Compilation of the kernels of conjugate gradients, which large bodies need."""

from __future__ import annotations

import numpy as np

from ...geometry.tetrahedra.tet_count import expected_tets, measure_surface
from ...jobs.checks.costs import TETS_A_VERTEX
from ...jobs.job.body import Body
from ...mechanics.assembly.block_rows import BlockRows
from ...mechanics.assembly.pairs import Pairs
from ...methods.model.model import Model
from ...numerics.linear_solvers.conjugate_gradient import EXACT_TOLERANCE, ConjugateGradients
from ...numerics.linear_solvers.deflation import AffineDeflation
from ...numerics.linear_solvers.iteration import Limits, iterate
from ...numerics.linear_solvers.preconditioner import Preconditioner
from ...numerics.linear_solvers.registry import AUTOMATIC, FEWEST_VERTICES, ITERATIVE, fastest, quick_fill
from ...numerics.linear_solvers.stiff_parts import thin_stiff_vertices, vertex_groups


def may_iterate(body: Body) -> bool:
    """Return True if conjugate gradients may solve the body's systems: if they are chosen, or the body is large."""
    settings = body.solver
    if settings.linear_solver != AUTOMATIC or settings.kind.takes_modes or settings.kind.takes_nodes:
        return settings.linear_solver == ITERATIVE
    if not body.is_lattice:
        return True  # the number of tets is not known yet
    measure, resolution = measure_surface(body.surface, body.refinement), body.resolution
    if measure is None:
        return False
    tets = expected_tets(measure, resolution.method, resolution.cells_across, resolution.refine_factor)
    return tets / TETS_A_VERTEX >= FEWEST_VERTICES


def conjugate_gradients(model: Model) -> None:
    """Run all kernels of conjugate gradients on a tiny model, with a contact pair and an exact part."""
    body, number = model.body, model.body.free_numbers()
    free, blocks = np.flatnonzero(number >= 0), model.stiffness(None, 1.0)
    pair = Pairs(np.array([len(free) - 1]), np.array([0]), np.zeros((1, 3, 3)))
    one = np.zeros(len(free), dtype=np.int64)
    solver = ConjugateGradients(body, fastest(), EXACT_TOLERANCE, one)  # several groups would need no iteration
    solver.fill(blocks, pairs=pair)
    solver.try_factorize()
    b = np.sqrt(np.arange(3.0 * len(free))).reshape(-1, 3)
    solver.solve(b)
    A = BlockRows(body.elements.nodes, number)
    A.fill(blocks, pair)
    vertex_groups(body.rest_positions, body.tets, np.ones(len(body.tets)), free, A.starts, A.columns)
    stiffness = np.where(np.arange(len(body.tets)) % 2, 1e3, 1.0)
    thin_stiff_vertices(body.rest_positions, body.tets, stiffness, free, one)
    preconditioner, deflation = Preconditioner(np.arange(2), fastest()), AffineDeflation(one, body.rest_positions[free])
    preconditioner.try_factorize(A)
    deflation.factorize(A)
    iterate(A, preconditioner, deflation, None, b, Limits(EXACT_TOLERANCE, 1.0, np.inf, 0.0, 2))
    quick_fill(body.sparsity().pattern)
