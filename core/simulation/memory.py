"""Whether a job fits into the memory, told before the work begins."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..assembly.sparsity import BlockSparsity
from ..errors import NotEnoughMemoryError
from ..linear_solvers.available_memory import available_memory
from ..linear_solvers.factor_size import entries_of, entries_of_compact, factor_bytes
from ..linear_solvers.registry import DIRECT_SOLVERS
from ..mesh.lattice import estimated_tets
from ..mesh.surface_samples import proper_triangles
from ..mesh.tet_mesh import TetMesh
from .job import Job

BASE = 2.5e8
"""Bytes of the process itself with its libraries and compiled kernels."""

BYTES_A_TET = 4500.0
"""Bytes of all arrays of a tet and of its part of the matrix. A beam of 101,376 tets peaked at 0.53 GB with conjugate
gradients, where this estimates 0.74, and at 0.96 GB with CHOLMOD, where it estimates 1.02."""

TETS_A_VERTEX = 4.5
"""Of lattices, from thin (4) to compact and fine (5.5)."""

LEAST_CELLS = 2


def estimated_memory(tets: float, vertices: float, entries: float, pinned_frames: float = 0.0) -> float:
    """Peak bytes of a simulation.

    ``entries`` are the scalar non-zeros of the factor that its linear solver makes, ``pinned_frames`` the number of
    frames times that of pinned vertices, whose positions are held in memory.
    """
    return BASE + BYTES_A_TET * tets + factor_bytes(entries) + 24.0 * (pinned_frames + 8.0 * vertices)


def least_memory(tets: float, pinned_frames: float = 0.0) -> float:
    """Peak bytes of a simulation with conjugate gradients, whose preconditioner has one unknown a vertex, not three."""
    vertices = tets / TETS_A_VERTEX
    return estimated_memory(tets, vertices, entries_of_compact(vertices) / 9.0, pinned_frames)


def check_before_tetrahedra(job: Job, available: int | None = None) -> None:
    """NotEnoughMemoryError when a draft lattice of this resolution could not be simulated by any linear solver.

    ``available``: bytes; by default asked of the system.
    """
    available = available_memory() if available is None else available
    if available is None or job.resolution.method != "lattice":
        return
    surface = job.surface
    triangles = surface.triangles[proper_triangles(surface.positions, surface.triangles)]
    if len(triangles) == 0:
        return  # the tetrahedralisation tells
    longest = float(np.ptp(surface.positions[triangles.ravel()], axis=0).max())

    def needed(cells: int) -> float:
        return least_memory(estimated_tets(surface, triangles, longest / (cells - 0.5)))

    _refuse(needed, job.resolution.cells_across, available, "")


def check_before_solving(job: Job, mesh: TetMesh, pinned: np.ndarray, available: int | None = None) -> None:
    """NotEnoughMemoryError when these tetrahedra do not fit with the linear solver of the job's settings.

    ``pinned`` (q,): vertices whose positions are given. ``available``: bytes; by default asked of the system.
    """
    available = available_memory() if available is None else available
    if available is None:
        return
    tets, vertices = len(mesh.tets), len(mesh.rest_positions)
    pinned_frames = float(job.frame_count * len(pinned))
    free = vertices - len(pinned)
    entries, other = entries_of_compact(free) / 9.0, ""
    # An automatic choice falls back on conjugate gradients.
    if job.solver.linear_solver in {solver.name for solver in DIRECT_SOLVERS}:
        entries *= 9.0
        if estimated_memory(tets, vertices, entries, pinned_frames) > available:
            entries = float(entries_of(BlockSparsity(mesh.tets, vertices, pinned).pattern))
        other = ", or Linear Solver to Conjugate Gradients"
    cells_across = job.resolution.cells_across

    def needed(cells: int) -> float:
        # A thin body loses tets by the square of the resolution: others lose more.
        part = (cells / cells_across) ** 2
        return estimated_memory(part * tets, part * vertices, part ** (4.0 / 3.0) * entries, part * pinned_frames)

    _refuse(needed, cells_across, available, other)


def _refuse(needed: Callable[[int], float], cells_across: int, available: int, other: str) -> None:
    if needed(cells_across) <= available:
        return
    fitting = next((cells for cells in range(cells_across - 1, LEAST_CELLS, -1) if needed(cells) <= available), 0)
    remedy = f"Set Resolution to {fitting} or less{other}." if fitting else "Close other programs."
    raise NotEnoughMemoryError(
        f"{cells_across} cells across need about {needed(cells_across) / 1e9:.1f} GB of memory; "
        f"{available / 1e9:.1f} GB are free.",
        remedy,
    )
