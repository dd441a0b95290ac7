"""Estimates of the cost of a body from its number of tets: time per frame, memory, and disk space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...foundation.process.available_memory import available_memory
from ...foundation.schema.settings import ResolutionSettings, SolverSettings
from ...geometry.tetrahedra.tet_count import SurfaceMeasure, expected_tets
from ...numerics.linear_solvers.factor_size import entries_of_compact, factor_bytes
from ...numerics.linear_solvers.registry import AUTOMATIC, FEWEST_VERTICES, ITERATIVE, MEMORY_SHARE
from ..job.job import Job
from ..store.frame_store import KEPT_STATES

# -- time -------------------------------------------------------------------------------------------------------------

GROWTH = 1.2
"""Exponent of the step time's growth with the number of tets. Conjugate gradients measured 1.0 from 20,000 to a million
(docs/benchmarks/large.md); below, a direct factorisation grows faster.
"""
REDUCED_GROWTH = 1.5
"""Exponent of the step time's growth with the number of modes, in a subspace."""
PACE_TETS, PACE_MODES = 10_000, 16
"""Numbers of tets and modes of the body to which the step time ``SolverKind.seconds`` belongs.

This step time is used until a bake has measured the step time of the user's body.
"""

CONTACT = 10.0
"""Factor on the step time in contact or self-contact, correct within a factor of three.

A step of three *Draft* boxes that fall 15 mm onto one another takes longer than without contact between them: 13 times
as long with 3,024 tets per box, and 25 times with 13,200. One box with self-contact takes 16 times as long. For *Clean*
boxes of 24,000 tets, contact doubles the time of an iteration (``docs/benchmarks/contact.md``).
"""

# -- memory -----------------------------------------------------------------------------------------------------------

BASE = 2.5e8
"""Memory, bytes, of the process without a job: interpreter, libraries and compiled kernels."""
BYTES_A_TET = 4500.0
"""Bytes per tet in the full space: its arrays and its share of the matrix.

A beam of 101,376 tets peaked at 0.53 GB with conjugate gradients (estimate 0.75), and at 0.96 GB with CHOLMOD (estimate
1.03).
"""
ITERATIVE_ENTRIES_A_VERTEX = 330.0
"""Values per vertex that conjugate gradients store: the matrix with its indices, the coarse space, preconditioners."""
BYTES_A_VERTEX = 192.0
"""Bytes per vertex of a tet mesh in the full space, without the solver's state."""
BYTES_A_REDUCED_TET = 1200.0
"""Bytes per tet while a subspace is computed.

Bars of 106,285 and 586,983 tets peaked at 0.48 and 1.19 GB with 16 modes, the larger bar at 2.33 GB with 64; the
estimates are 0.55, 2.0 and 3.3 GB.
"""
MODE_VERTEX, MODE_TET = 22.0, 2.0
"""Counts of the 8-byte values stored for each mode, per vertex and per tet.

The values of a vertex are weights, bases, and vectors of the eigensolver. The values of a tet are features for the
clustering.
"""
BYTES_A_SURFACE_VERTEX = 1000.0
"""Bytes per vertex of the render surface: embedding, and contact, force and sample points.

The sum of their arrays is 918 bytes, rounded up here.
"""
BYTES_A_COLLIDER_TRIANGLE = 800.0
"""Bytes per triangle of a collider: connectivity and poses.

The sum of the arrays of a moving collider is 732 bytes, rounded up here.
"""
TETS_A_VERTEX = 4.5
"""Tets per vertex of a lattice: from 4 in thin ones to 5.5 in compact and fine ones."""
TETS_AN_ELEMENT = 2.7
"""Tets per smoothed element of a lattice: from 2.7 in bars two cells thick to 3.7 in fine ones."""

# -- disk -------------------------------------------------------------------------------------------------------------

FRAME_HEADER = 4096
"""Bytes of a frame's file beside its positions: the reports of its steps, and the unused end of a disk block."""
POINT, CACHE_POINT, STRESS_POINT = 24, 12, 4
"""Bytes per position in a frame's file, in a point cache, and per stress in a frame's file."""
TET, TET_STATE, TET_MODE, TET_SWING = 79, 30, 3.5, 65
"""Bytes per tetrahedron on disk.

TET: mesh and material files. TET_STATE: a solver state. TET_MODE: the weights of one mode. TET_SWING: the trial
simulation that tests a match. All files of two beams take 203 and 193 bytes per tet in the full space, and 148 and 129
with 16 modes.
"""
SKIN = 5e3
"""Factor c of the estimate ``c tets^(2/3)`` for the bytes of a body's contact surface, which is stored twice.

A bear with 18,021 tets takes 2.5 MB (estimate 3.4), the bear with 70,525 tets 6.7 MB (8.5), and a virus with 76,106
tets 9.2 MB (9.0).
"""
SPARE = 1.1
"""Safety factor on the disk space, which also covers the job's file."""


class Pace(NamedTuple):
    """Step time without contact that a bake has measured.

    ``seconds``: time per step, s.
    ``tets``, ``modes``: numbers of tets and modes of the measured body.
    """

    seconds: float
    tets: int
    modes: int


class Cost(NamedTuple):
    """Estimated cost of a body.

    ``tets``: number of tets.
    ``memory``: peak memory, bytes.
    ``seconds``: computing time per frame, s.
    ``disk``: space on disk without the frames, bytes.
    """

    tets: float
    memory: float
    seconds: float
    disk: float


def cost_of(
    measure: SurfaceMeasure,
    resolution: ResolutionSettings,
    solver: SolverSettings,
    points: int,
    pace: Pace | None = None,
    has_contact: bool = False,
) -> Cost:
    """Estimate the cost of a body.

    ``measure``: measure of the body's surface.
    ``points``: number of vertices of the surface.
    ``pace``: step time that an earlier bake with the same solver has measured, or None.
    ``has_contact``: True for contact with other bodies and for self-contact.
    """
    tets = expected_tets(measure, resolution.method, resolution.cells_across, resolution.refine_factor)
    vertices, modes = tets / TETS_A_VERTEX, mode_count(solver)
    entries = vertex_factor(vertices) if modes else _factor(solver, vertices)
    memory = peak_bytes(tets, vertices, entries, BYTES_A_SURFACE_VERTEX * points, modes)
    seconds = seconds_a_frame(solver, tets, pace) * (CONTACT if has_contact else 1.0)
    return Cost(tets, memory, seconds, body_bytes(tets, solver, has_contact))


def seconds_a_frame(solver: SolverSettings, tets: float, pace: Pace | None = None) -> float:
    """Estimate the computing time per frame, s, of a body of ``tets`` tets without contact.

    The estimate scales the measured step time ``pace``. Without ``pace``, the estimate scales the solver's typical step
    time on two cores.
    """
    known = pace or Pace(solver.kind.seconds, PACE_TETS, PACE_MODES)
    if modes := mode_count(solver):
        return solver.substeps * known.seconds * (modes / max(known.modes, 1)) ** REDUCED_GROWTH
    return solver.substeps * known.seconds * (tets / max(known.tets, 1)) ** GROWTH


def own_pace(job: Job, seconds: float, tets: int, beside: Sequence[int]) -> Pace:
    """Return the step time of one body from the step time of a bake with several bodies.

    ``seconds``: measured time per step of the bake, s.
    ``tets``: number of tets of this body.
    ``beside``: number of tets of each other body in the bake.

    The time is divided among the bodies: equally in a subspace, else in proportion to ``tets`` to the power GROWTH. The
    time of a body with contact is also divided by CONTACT, since :class:`Pace` holds step times without contact.
    """
    solver, contact = job.body.solver, CONTACT if job.body.has_contact else 1.0
    parts = [1.0 if mode_count(solver) else max(each, 1) ** GROWTH for each in (tets, *beside)]
    return Pace(seconds * parts[0] / sum(parts) / contact, tets, solver.modes)


def mode_count(solver: SolverSettings) -> int:
    """Return the number of modes of a subspace solver, or 0 for a solver in the full space."""
    return solver.modes if solver.kind.takes_modes else 0


def peak_bytes(tets: float, vertices: float, entries: float, other: float = 0.0, modes: int = 0) -> float:
    """Estimate the peak memory of a simulation, bytes.

    ``tets``, ``vertices``: numbers of tetrahedra and of their vertices.
    ``entries``: number of scalar non-zeros in all matrix factors.
    ``other``: memory that does not depend on the tetrahedra, bytes.
    ``modes``: number of modes, 0 in the full space.
    """
    if modes:
        own = BYTES_A_REDUCED_TET * tets + 8.0 * modes * (MODE_VERTEX * vertices + MODE_TET * tets)
    else:
        own = BYTES_A_TET * tets + BYTES_A_VERTEX * vertices + state_bytes(tets / TETS_AN_ELEMENT, vertices)
    return BASE + own + factor_bytes(entries) + other


def vertex_factor(vertices: float) -> float:
    """Estimate the number of non-zeros in the Cholesky factor of a matrix with one scalar unknown per vertex.

    Such a matrix is factorized for a preconditioner, for a subspace, and to extend accelerations into the body.
    """
    return entries_of_compact(vertices) / 9.0


def iterative_entries(vertices: float) -> float:
    """Estimate the number of values that conjugate gradients store, beside the element matrices.

    These are the matrix with both triangles, 20 blocks of 9 per vertex in the draft lattice, and the coarse space. The
    factor of thin stiff parts has fewer values than the matrix.
    """
    return ITERATIVE_ENTRIES_A_VERTEX * vertices


def _factor(solver: SolverSettings, vertices: float) -> float:
    """Estimate the number of non-zeros that the linear solver stores.

    A direct solver stores the Cholesky factor of the linear system, conjugate gradients the matrix.
    """
    direct, free = entries_of_compact(vertices), available_memory()
    by_counts = solver.linear_solver == AUTOMATIC and vertices >= FEWEST_VERTICES and not solver.kind.takes_nodes
    too_large = solver.linear_solver == AUTOMATIC and factor_bytes(direct) > MEMORY_SHARE * free
    iterative = solver.linear_solver == ITERATIVE or by_counts or too_large
    return iterative_entries(vertices) if iterative else direct


def state_bytes(elements: float, vertices: float) -> float:
    """Return the memory of one solver state with its history, bytes."""
    return 8.0 * (12.0 * vertices + 6.0 * elements + 1.0)


def outside_bytes(job: Job) -> float:
    """Return the memory for simulating a job's surface and colliders, bytes, without the arrays of the job."""
    triangles = BYTES_A_COLLIDER_TRIANGLE * sum(len(collider.triangles) for collider in job.body.mesh_colliders)
    # Before a collider is posed, the vertices of all its samples are compared with a copy: 9/8 of their bytes.
    compared = max((1.2 * collider.positions.nbytes for collider in job.body.mesh_colliders), default=0.0)
    return BYTES_A_SURFACE_VERTEX * len(job.body.surface.positions) + max(triangles, compared)


def frame_bytes(points: int, frames: int, with_cache: bool = False, with_stress: bool = False) -> float:
    """Return the disk space, bytes, of ``frames`` frames with ``points`` vertices each.

    ``with_cache``, ``with_stress``: True to add a point cache, and the stress on the surface.
    """
    of_point = POINT + with_cache * CACHE_POINT + with_stress * STRESS_POINT
    return SPARE * frames * (points * of_point + FRAME_HEADER)


def body_bytes(tets: float, solver: SolverSettings, has_contact: bool = False) -> float:
    """Return the disk space, bytes, of the files of a body except its frames.

    ``tets``: number of tetrahedra.
    ``has_contact``: True to add the contact surfaces.

    The other files hold the mesh, and the solver states or modes.
    """
    kept = TET_MODE * solver.modes if solver.kind.takes_modes else TET_STATE * (KEPT_STATES + 1)
    tried = TET_SWING if solver.kind.takes_modes and solver.is_matched else 0.0
    return SPARE * (tets * (TET + kept + tried) + (SKIN * tets ** (2 / 3) if has_contact else 0.0))


def time_words(seconds: float) -> str:
    """Return a time in seconds as text with two significant digits: ``40 ms``, ``1.2 s``, ``3.5 min``, ``39 h``."""
    for least, size, unit in ((5400.0, 3600.0, "h"), (90.0, 60.0, "min"), (0.1, 1.0, "s")):
        if seconds >= least:
            return f"{float(f'{seconds / size:.2g}'):,g} {unit}"
    return f"{1e3 * seconds:.2g} ms"


def size_words(size: float) -> str:
    """Return a number of bytes as text with a unit: ``28.8 MB``, ``1.5 GB``."""
    for limit, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= limit:
            return f"{size / limit:.3g} {unit}"
    return f"{size:.0f} bytes"
