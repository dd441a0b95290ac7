"""Check before a simulation that its arrays fit into the free memory.

The job is already in memory, and not counted.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...foundation.errors import NotEnoughMemoryError
from ...foundation.process.available_memory import available_memory
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.tetrahedra.smoothing_domains import smoothing_domains
from ...geometry.tetrahedra.tet_count import expected_tets, measure_surface
from ...mechanics.assembly.elements import ElementNodes, elements_of
from ...mechanics.assembly.sparsity import BlockSparsity
from ...numerics.linear_solvers.factor_size import entries_of
from ...numerics.linear_solvers.registry import DIRECT_SOLVERS
from ..job.job import Job
from .costs import TETS_A_VERTEX, iterative_entries, mode_count, outside_bytes, peak_bytes, vertex_factor

LEAST_CELLS = 2


def check_before_tetrahedra(job: Job, available: int | None = None) -> None:
    """Check that a simulation on the job's lattice fits into memory with at least one linear solver.

    ``available``: free memory, bytes; by default the system reports the free memory.

    The number of tets is estimated from the surface. Meshes other than lattices are not checked. Raises
    NotEnoughMemoryError if the simulation does not fit.
    """
    available = available_memory() if available is None else available
    if not job.body.is_lattice:
        return
    measure = measure_surface(job.body.surface, job.body.refinement)
    if measure is None:
        return  # tetrahedralisation reports it
    other, modes = outside_bytes(job), _modes(job)
    fields = _field_factors(job)

    def needed(cells: int) -> float:
        tets = expected_tets(measure, job.body.resolution.method, cells, job.body.resolution.refine_factor)
        vertices = tets / TETS_A_VERTEX
        own = vertex_factor(vertices) if modes else iterative_entries(vertices)
        return peak_bytes(tets, vertices, own + fields * vertex_factor(vertices), other, modes)

    _refuse(needed, job.body.resolution.cells_across, available, _fewer_modes(job))


def check_before_solving(job: Job, mesh: TetMesh, pinned: np.ndarray, available: int | None = None) -> None:
    """Check that a simulation of the tetrahedral ``mesh`` fits into memory.

    ``pinned`` (q,): indices of mesh vertices with prescribed positions.
    ``available``: free memory, bytes; by default the system reports the free memory.

    Raises NotEnoughMemoryError if the simulation does not fit.
    """
    available = available_memory() if available is None else available
    tets, vertices, modes = len(mesh.tets), len(mesh.rest_positions), _modes(job)
    outside, targets = outside_bytes(job), 24.0 * len(job.body.pin_positions) * len(pinned)
    field, remedy = _field_factors(job) * vertex_factor(vertices), _fewer_modes(job)
    entries, growth = (vertex_factor(vertices), 4.0 / 3.0) if modes else (iterative_entries(vertices), 1.0)
    # The automatic linear solver falls back on conjugate gradients, so only a chosen direct solver counts.
    if not modes and job.body.solver.linear_solver in {solver.name for solver in DIRECT_SOLVERS}:
        growth = 4.0 / 3.0
        entries, remedy = 9.0 * vertex_factor(vertices - len(pinned)), ", or set Linear Solver to Conjugate Gradients"
        if peak_bytes(tets, vertices, entries + field, outside + targets) > available:
            entries = float(entries_of(BlockSparsity(_nodes(job, mesh), vertices, pinned).pattern))

    def needed(cells: int) -> float:
        # The tets of a thin body decrease with the square of the resolution, those of other bodies faster.
        part = (cells / job.body.resolution.cells_across) ** 2
        factors = part**growth * entries + part ** (4.0 / 3.0) * field
        return peak_bytes(part * tets, part * vertices, factors, outside + part * targets, modes)

    if job.body.tets is not None and needed(job.body.resolution.cells_across) > available:
        raise NotEnoughMemoryError(f"{tets:,} tetrahedra do not fit into the free memory.", f"Give fewer{remedy}.")
    _refuse(needed, job.body.resolution.cells_across, available, remedy)


def _nodes(job: Job, mesh: TetMesh) -> ElementNodes:
    """Return the nodes of the elements as if the whole body had one material.

    With several materials, smoothed elements have fewer nodes, so the memory estimate is an upper bound.
    """
    if job.body.resolution.elements == "plain":
        return ElementNodes.of_tets(mesh.tets)
    tets = len(mesh.tets)
    return elements_of(mesh, smoothing_domains(mesh, np.ones((tets, 1)), np.zeros(tets, dtype=np.int64))).nodes


def _modes(job: Job) -> int:
    """Return the number of modes for the memory estimate, or 0 in the full space."""
    modes = mode_count(job.body.solver)
    return modes + 1 if modes and len(job.body.pinned_vertices) else modes


def _fewer_modes(job: Job) -> str:
    return ", or choose fewer Modes" if mode_count(job.body.solver) > 1 else ""


def _field_factors(job: Job) -> int:
    """Return 1 if extending accelerations from the surface into the body takes a Cholesky factor, else 0."""
    return 0 if job.body.accelerations is None or job.body.accelerations.shape[1] == 1 else 1


def _refuse(needed: Callable[[int], float], cells_across: int, available: int, other: str) -> None:
    if needed(cells_across) <= available:
        return
    fitting = next((cells for cells in range(cells_across - 1, LEAST_CELLS, -1) if needed(cells) <= available), 0)
    remedy = f"Set Cells Across to {fitting} or less{other}." if fitting else "Close other programs."
    raise NotEnoughMemoryError(
        f"{cells_across} cells across need about {needed(cells_across) / 1e9:,.1f} GB of memory; "
        f"{available / 1e9:.1f} GB are free.",
        remedy,
    )
