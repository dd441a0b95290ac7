"""Whether a job fits into the memory, told before the work begins.

What is estimated is what will be taken beside the job's own arrays (painted weights, animated pins and colliders,
accelerations at every frame and vertex): they are in memory when it is asked what is free.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..assembly.sparsity import BlockSparsity
from ..errors import NotEnoughMemoryError
from ..linear_solvers.available_memory import available_memory
from ..linear_solvers.factor_size import entries_of, entries_of_compact, factor_bytes
from ..linear_solvers.registry import DIRECT_SOLVERS
from ..mesh.tet_count import expected_tets, measured
from ..mesh.tet_mesh import TetMesh
from ..solvers.registry import in_subspace
from .job import Job

BASE = 2.5e8
"""Bytes of the process itself with its libraries and compiled kernels."""

BYTES_A_TET = 4500.0
"""Bytes of all arrays of a tet and of its part of the matrix. A beam of 101,376 tets peaked at 0.53 GB with conjugate
gradients, where this estimates 0.75, and at 0.96 GB with CHOLMOD, where it estimates 1.03."""

BYTES_A_REDUCED_TET = 1200.0
"""The same while a subspace is found. A bar of 106,285 tets and one of 586,983 peaked at 0.48 and 1.19 GB with 16
modes, the latter at 2.33 with 64; estimated are 0.55, 2.0 and 3.3."""

BYTES_A_SURFACE_VERTEX = 1150.0
"""Bytes of the embedding of the render surface, and of its points that touch, are pulled or sampled: 1071 counted."""

BYTES_A_COLLIDER_TRIANGLE = 1250.0
"""Bytes of a collider's connectivity and of its poses: 1139 counted where it moves."""

TETS_A_VERTEX = 4.5
"""Of lattices, from thin (4) to compact and fine (5.5)."""

LEAST_CELLS = 2


def estimated_memory(tets: float, vertices: float, entries: float, other: float = 0.0) -> float:
    """Peak bytes of a simulation.

    ``entries`` are the scalar non-zeros of all factors, ``other`` the bytes that do not come from the tetrahedra:
    :func:`outside_bytes`, and the targets of pinned vertices, which are held for every sample of their track.
    """
    return BASE + BYTES_A_TET * tets + state_bytes(tets, vertices) + factor_bytes(entries) + 192.0 * vertices + other


def reduced_memory(tets: float, vertices: float, modes: int, other: float = 0.0, factors: int = 1) -> float:
    """Peak bytes of a simulation in a subspace: weights, bases and the eigensolver's vectors, the features of the
    clusters, and ``factors`` of one unknown a vertex.
    """
    columns = 8.0 * modes * (22.0 * vertices + 2.0 * tets)
    factor = factor_bytes(factors * entries_of_compact(vertices) / 9.0)
    return BASE + BYTES_A_REDUCED_TET * tets + columns + factor + other


def least_memory(tets: float, other: float = 0.0, factors: int = 1) -> float:
    """Peak bytes of a simulation with conjugate gradients, whose preconditioner has one unknown a vertex, not three;
    ``factors`` of its size are made.
    """
    vertices = tets / TETS_A_VERTEX
    return estimated_memory(tets, vertices, factors * entries_of_compact(vertices) / 9.0, other)


def state_bytes(tets: float, vertices: float) -> float:
    """Bytes of a state with its history: a bake that is resumed keeps the one that it began with."""
    return 8.0 * (12.0 * vertices + 6.0 * tets + 1.0)


def outside_bytes(job: Job) -> float:
    """Bytes for the surface of a job and for what acts on it, beside the job's own arrays."""
    triangles = BYTES_A_COLLIDER_TRIANGLE * sum(len(collider.triangles) for collider in job.colliders)
    # Before it is posed, a collider's vertices are compared over all samples with a copy of them: 9/8 of their bytes.
    compared = max((1.2 * collider.positions.nbytes for collider in job.colliders), default=0.0)
    return BYTES_A_SURFACE_VERTEX * len(job.surface.positions) + max(triangles, compared)


def check_before_tetrahedra(job: Job, available: int | None = None) -> None:
    """NotEnoughMemoryError when a draft lattice of this resolution could not be simulated by any linear solver.

    ``available``: bytes; by default asked of the system.
    """
    available = available_memory() if available is None else available
    if available is None or job.resolution.method != "lattice":
        return
    measure = measured(job.surface, job.fineness)
    if measure is None:
        return  # the tetrahedralisation tells
    other, factors = outside_bytes(job), 1 + _field_factors(job) + _axis_factors(job)

    def needed(cells: int) -> float:
        tets = expected_tets(measure, job.resolution.method, cells, job.resolution.finest)
        if in_subspace(job.solver):
            return _reduced(job, tets, tets / TETS_A_VERTEX, other)
        return least_memory(tets, other, factors)

    _refuse(needed, job.resolution.cells_across, available, _fewer_modes(job))


def check_before_solving(job: Job, mesh: TetMesh, pinned: np.ndarray, available: int | None = None) -> None:
    """NotEnoughMemoryError when these tetrahedra do not fit with the linear solver of the job's settings.

    ``pinned`` (q,): vertices whose positions are given. ``available``: bytes; by default asked of the system.
    """
    available = available_memory() if available is None else available
    if available is None:
        return
    tets, vertices = len(mesh.tets), len(mesh.rest_positions)
    outside, targets = outside_bytes(job), 24.0 * len(job.pin_positions) * len(pinned)
    cells_across = job.resolution.cells_across
    if in_subspace(job.solver):

        def needed_in_subspace(cells: int) -> float:
            part = (cells / cells_across) ** 2
            return _reduced(job, part * tets, part * vertices, outside + part * targets)

        _refuse(needed_in_subspace, cells_across, available, _fewer_modes(job))
        return
    field = _field_factors(job) * entries_of_compact(vertices) / 9.0
    entries, remedy = entries_of_compact(vertices - len(pinned)) / 9.0, ""
    # An automatic choice falls back on conjugate gradients.
    if job.solver.linear_solver in {solver.name for solver in DIRECT_SOLVERS}:
        entries *= 9.0
        if estimated_memory(tets, vertices, entries + field, outside + targets) > available:
            entries = float(entries_of(BlockSparsity(mesh.tets, vertices, pinned).pattern))
        remedy = ", or Linear Solver to Conjugate Gradients"
    else:
        entries *= 1 + _axis_factors(job)

    def needed(cells: int) -> float:
        # A thin body loses tets by the square of the resolution: others lose more.
        part = (cells / cells_across) ** 2
        factors = part ** (4.0 / 3.0) * (entries + field)
        return estimated_memory(part * tets, part * vertices, factors, outside + part * targets)

    _refuse(needed, cells_across, available, remedy)


def _reduced(job: Job, tets: float, vertices: float, other: float) -> float:
    """In a subspace; pins add handles to the modes."""
    handles = job.solver.modes + (1 if len(job.pinned_vertices) else 0)
    return reduced_memory(tets, vertices, handles, other, 1 + _field_factors(job))


def _fewer_modes(job: Job) -> str:
    return ", or fewer Modes" if in_subspace(job.solver) and job.solver.modes > 1 else ""


def _field_factors(job: Job) -> int:
    """Factors with one unknown a vertex beside the linear solver's: one carries accelerations into the body."""
    return 0 if job.accelerations is None else 1


def _axis_factors(job: Job) -> int:
    """Factors that the preconditioner of conjugate gradients has beside its first: one an axis, once something adds to
    the tets' stiffness.
    """
    damped = job.solver.mass_damping > 0.0 or job.solver.stiffness_damping > 0.0
    outside = job.ground is not None or job.colliders or job.springs or job.force_fields
    return 3 if outside or damped else 0


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
