"""Split bodies against bodies that are not split, separate bodies, and strengths: before, at and after the cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from ...core.foundation.events import ignore
from ...core.foundation.schema.settings import ContactSettings, MaterialSettings, ResolutionSettings, SolverSettings
from ...core.foundation.schema.solver_kinds import SOLVER_KINDS
from ...core.geometry.cuts.cutter import Cutter
from ...core.geometry.cuts.split_surface import split_surface
from ...core.geometry.mesh.surface_depth import SurfaceDepth
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.geometry.mesh.tet_mesh import TetMesh
from ...core.geometry.mesh.topology import boundary_triangles
from ...core.jobs.job.body import Body
from ...core.jobs.job.environment import Ground
from ...core.jobs.job.job import Job
from ...core.jobs.job.seams import Seams
from ...core.methods.model.model import build_model
from ...core.methods.model.state import State
from ...core.methods.solvers import make_solver
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ...core.simulation.frame_loop.group import simulate_group
from ...core.simulation.frame_loop.single_body import Frame
from ...core.simulation.preparation.prepare import Prepared, prepare
from ..bodies import block
from ..registry import Case, Row, row

BAR, CELLS = (0.6, 0.15, 0.15), (16, 4, 4)
"""Size of the bar, m, and faces of its surface."""
BEFORE = 1e-5
"""Largest distance from the body that is not split, relative to its size."""
MODULUS, PULLED = 3e4, 1.2
"""Young's modulus, Pa, and the length of the taut bar, relative to its length at rest."""
STEPS, RATE = 2000, 240.0
"""Steps of the endurance, and steps a second."""


class Played(NamedTuple):
    """Frames of a job, with its prepared body and the surface at each frame."""

    prepared: Prepared
    frames: list[Frame]
    surfaces: np.ndarray

    @property
    def iterations(self) -> int:
        """Number of iterations of all steps."""
        return sum(report.iterations for frame in self.frames for report in frame.reports)

    @property
    def unconverged(self) -> int:
        """Number of steps that did not converge."""
        return sum(not report.converged for frame in self.frames for report in frame.reports)


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield the cases."""
    for method in ("lattice", "clean"):
        for elements in ("smoothed", "plain"):
            yield Case(f"cut_before_{method}_{elements}", partial(_before, method, elements))
    yield Case("cut_after", _after)
    for solver in SOLVER_KINDS:
        yield Case(f"cut_taut_{solver}", partial(_taut, solver))
    for strength in (2e3, 4e3):
        yield Case(f"cut_tear_{strength:.0f}", partial(_tear, strength))
    yield Case("cut_stack", _stack)
    yield Case("cut_endurance", _endurance)


def _box(size: tuple[float, float, float] = BAR, cells: tuple[int, int, int] = CELLS) -> SurfaceMesh:
    mesh = block(cells, size)
    faces = boundary_triangles(mesh.tets)
    used, triangles = np.unique(faces, return_inverse=True)
    return SurfaceMesh(mesh.rest_positions[used], triangles.reshape(-1, 3))


def _seams(split: Any, original: SurfaceMesh | None = None, **fields: Any) -> Seams:
    """Return the seams of a split surface. ``fields``: values at all vertices of seams."""
    on_seam = np.isin(np.arange(len(split.pieces)), split.surface.triangles[split.seam_faces])
    values = {name: np.where(on_seam, value, np.inf) for name, value in fields.items()}
    return Seams(split.pieces, split.seam_faces, original=original, **({"cut_frames": split.cut_frames} | values))


def _blade(x: float, frame: float, size: float = 1.0) -> Cutter:
    """Return a blade across x, oblique to the grid, that stands still."""
    corners = np.array([[0.0, -1.0, -1.0], [0.0, 1.0, -1.0], [0.0, 1.0, 1.0], [0.0, -1.0, 1.0]]) * size
    corners[:, 0] = x + 0.2 * (corners[:, 1] - BAR[1] / 2.0) + 0.1 * (corners[:, 2] - BAR[2] / 2.0)
    return Cutter("Blade", corners[None], [[0, 1, 2], [0, 2, 3]], frames=[frame])


def _job(
    surface: SurfaceMesh,
    seams: Seams | None,
    frames: int,
    solver: str = "mixed_fem",
    resolution: ResolutionSettings | None = None,
    reached: int = 6,
    most: int = 60,
    **fields: Any,
) -> Job:
    """Return a bar whose right end is pulled in ``reached`` frames."""
    X = surface.positions
    pins = np.flatnonzero((X[:, 0] < 1e-9) | (X[:, 0] > BAR[0] - 1e-9))
    pull = (PULLED - 1.0) * BAR[0] * np.minimum(np.arange(frames) / reached, 1.0)
    pull = pull[:, None] * (X[pins, 0] > 0.5 * BAR[0])
    body = Body(
        surface=surface,
        seams=seams,
        materials=MaterialSettings(youngs_modulus=MODULUS),
        resolution=resolution or ResolutionSettings(cells_across=12),
        solver=SolverSettings(solver=solver, max_iterations=most, tolerance=1e-7),
        pinned_vertices=pins,
        pin_positions=X[pins] + pull[:, :, None] * [1.0, 0.0, 0.0],
        **fields,
    )
    return Job(bodies=(body,), frame_end=frames)


def _played(job: Job) -> Played:
    warm_up(ignore, [job])
    prepared = prepare(job)
    frames = [each[0] for each in simulate_group([job], [prepared])]
    return Played(prepared, frames, np.array([prepared.surface(frame.state.positions) for frame in frames]))


def _before(method: str, elements: str) -> Iterable[Row]:
    """A bar of six fragments against the bar that is not split."""
    case, resolution = f"cut_before_{method}_{elements}", ResolutionSettings(method, 12, elements=elements)
    split = split_surface(_box(), fragments=6, tear_stress=1e12, edge_length=BAR[0] / 16.0)
    # Pins have the samples of the same triangles, except for Clean, which would resolve the thin ones beside seams.
    before = split.original if method == "clean" else _seams(split).before(split.surface)
    seams = _seams(split, original=before)
    index = cKDTree(split.surface.positions).query(before.positions)[1]
    whole, parts = (
        _played(_job(surface, each, 12, resolution=resolution))
        for surface, each in ((before, None), (split.surface, seams))
    )
    away = np.abs(whole.surfaces - parts.surfaces[:, index]).max() / BAR[0]
    mesh = parts.prepared.model.mesh
    yield row(case, "distance from the body that is not split, of the size", away, "", at_most=BEFORE)
    yield row(case, "iterations over those of the body that is not split", parts.iterations / whole.iterations)
    yield row(case, "tets over those of the body that is not split", len(mesh.tets) / len(mesh.whole.tets))
    yield row(case, "unconverged steps", parts.unconverged, "", at_most=0)


def _after() -> Iterable[Row]:
    """Pieces of plain tets that are solved together, and alone."""
    split = split_surface(_box(), (_blade(0.31, 1.0),), edge_length=BAR[0] / 16.0)
    job = _job(
        split.surface, _seams(split, cut_frames=100.0), 8, resolution=ResolutionSettings("clean", 12, elements="plain")
    )
    played = _played(job)
    model, start, mesh = played.prepared.model, played.frames[-1].state, played.prepared.model.mesh
    settings = replace(job.body.solver, tolerance=1e-12, max_iterations=200)
    together, worst = list(_stepped(model, start, settings)), 0.0
    for piece in range(split.count):
        v = np.flatnonzero(mesh.split.pieces == piece)
        t = np.flatnonzero(np.isin(mesh.tets[:, 0], v))
        own = TetMesh(mesh.rest_positions[v], np.searchsorted(v, mesh.tets[t]), mesh.fill[t], mesh.middle[t])
        matter = job.body.materials[0].poissons_ratio, model.masses[t].sum(axis=1) / own.body_volumes
        alone = build_model(own, model.youngs_modulus[t], *matter, pinned=np.flatnonzero(np.isin(v, model.pinned)))
        state = State(start.positions[v], start.velocities[v], start.stretch[t])
        for one, other in zip(together, _stepped(alone, state, settings)):
            worst = max(worst, float(np.abs(one[v] - other).max()) / BAR[0])
    yield row("cut_after", "distance from separate bodies, of the size", worst, "", at_most=1e-12)


def _stepped(model: Any, state: State, settings: SolverSettings) -> Iterator[np.ndarray]:
    solver = make_solver(model, settings)
    for _ in range(8):
        state, _report = solver.step(state, state.positions[model.pinned], 1.0 / 24.0, [])
        yield state.positions


def _taut(solver: str) -> Iterable[Row]:
    """A taut bar that is cut in frame 12."""
    case = f"cut_taut_{solver}"
    split = split_surface(_box(), (_blade(0.31, 12.0),), edge_length=BAR[0] / 16.0)
    chosen = np.flatnonzero(np.isin(split.surface.positions[:, 0].round(6), [0.15, 0.45]))[:16]
    nodes = {"dynamic_nodes": chosen} if SOLVER_KINDS[solver].takes_nodes else {}
    most = 10 if solver == "multilevel_published" else 60
    played = _played(_job(split.surface, _seams(split, cut_frames=12.0), 60, solver, most=most, **nodes))
    finite = np.isfinite(played.surfaces).all(axis=(1, 2)).sum()
    opened = _gap(split, played.surfaces)
    yield row(case, "finite frames of 60", finite, "", at_least=60)
    yield row(case, "gap before the cut, of the size", opened[:11].max() / BAR[0], "", at_most=0.01)
    yield row(case, "gap in the last frame, of the size", opened[-1] / BAR[0], "", at_least=0.05)
    yield row(case, "iterations in the step of the cut", played.frames[11].reports[-1].iterations)
    yield row(case, "unconverged steps", played.unconverged)


def _gap(split: Any, surfaces: np.ndarray) -> np.ndarray:
    """Return the mean distance of the two sides of a seam of two pieces at each frame, m."""
    seams = _seams(split)
    faces, across = np.flatnonzero(split.seam_faces), seams.opposite_faces(split.surface)
    centres = surfaces[:, split.surface.triangles].mean(axis=2)
    return np.linalg.norm(centres[:, faces] - centres[:, across], axis=2).mean(axis=1)


def _tear(strength: float) -> Iterable[Row]:
    """A bar that is pulled slowly: the mean stress when it tears, over the strength."""
    case = f"cut_tear_{strength:.0f}"
    split = split_surface(_box(), (_blade(0.31, 1.0),), edge_length=BAR[0] / 16.0)
    seams = _seams(split, cut_frames=np.inf, tear_stress=strength)
    job = _job(split.surface, seams, 120, reached=119)
    played = _played(job.with_body(solver=replace(job.body.solver, gravity=(0.0, 0.0, 0.0), mass_damping=5.0)))
    torn = np.array([0.0 if frame.state.broken is None else frame.state.broken.mean() for frame in played.frames])
    first = int(np.argmax(torn > 0.5))
    stress = MODULUS * (PULLED - 1.0) * (first - 1) / 119.0
    yield row(case, "Young's modulus times strain when half has torn, over the strength", stress / strength)
    yield row(case, "torn in the last frame", torn[-1], "", at_least=1.0)
    yield row(case, "unconverged steps", played.unconverged, "", at_most=0)


def _stack() -> Iterable[Row]:
    """A block of slices and layers on the ground, cut in frame 20."""
    size = (0.2, 0.2, 0.2)
    level = np.array([[-1.0, -1.0, 0.1], [1.0, -1.0, 0.1], [1.0, 1.0, 0.1], [-1.0, 1.0, 0.1]])
    upright = level[:, [2, 0, 1]]
    blades = (Cutter(name, each[None], [[0, 1, 2], [0, 2, 3]]) for name, each in (("a", level), ("b", upright)))
    split = split_surface(_box(size, (4, 4, 4)), tuple(blades), edge_length=0.05)
    body = Body(
        surface=split.surface,
        seams=_seams(split, cut_frames=20.0),
        materials=MaterialSettings(youngs_modulus=MODULUS),
        resolution=ResolutionSettings(cells_across=8),
        contact=ContactSettings(self_contact=True, friction=0.5),
        colliders=(Ground(height=-0.01, friction=0.5),),
        solver=SolverSettings(max_iterations=60),
    )
    stepper: list[Any] = []
    job = Job(bodies=(body,), frame_end=48)
    warm_up(ignore, [job])
    prepared = prepare(job)
    frames = [each[0] for each in simulate_group([job], [prepared], begun=stepper.append)]
    surfaces = [prepared.surface(frame.state.positions) for frame in frames]
    own = stepper[0].surfaces[0]
    distance = 0.1 * float(np.linalg.norm(np.diff(own.rest_positions[own.faces], axis=1), axis=2).mean())
    for name, chosen in (("before", range(1, 19)), ("after", range(19, 48))):
        deep = max(_depth(split, surfaces[k]) for k in chosen)
        yield row("cut_stack", f"depth {name} the cut, of the contact distance", deep / distance, "", at_most=2.0)
    energies = [_energy(prepared, frame.state) for frame in frames]
    yield row("cut_stack", "energy above the start, of the range", _above(energies), "", at_most=0.0)
    yield row("cut_stack", "height at the end, of the start", np.ptp(surfaces[-1][:, 2]) / 0.2, "", at_least=0.9)
    unconverged = sum(not report.converged for frame in frames for report in frame.reports)
    yield row("cut_stack", "unconverged steps", unconverged, "", at_most=0)


def _depth(split: Any, surface: np.ndarray) -> float:
    """Return the largest depth of a vertex of one piece in another piece, m."""
    owner = split.pieces[split.surface.triangles[:, 0]]
    found = 0.0
    for piece in range(split.count):
        inside = SurfaceDepth(SurfaceMesh(surface, split.surface.triangles[owner == piece]))
        found = max(found, float(inside.at(surface[split.pieces != piece]).max()))
    return found


def _endurance() -> Iterable[Row]:
    """A bar held at both ends that is cut after 500 steps, and swings and dangles for 1,500 more."""
    split = split_surface(_box(cells=(8, 2, 2)), (_blade(0.31, 500.0),), edge_length=BAR[0] / 8.0)
    X = split.surface.positions
    body = Body(
        surface=split.surface,
        seams=_seams(split, cut_frames=500.0),
        materials=MaterialSettings(youngs_modulus=1e5),
        resolution=ResolutionSettings(cells_across=8),
        solver=SolverSettings(tolerance=1e-9, max_iterations=60, integrator="bdf2"),
        pinned_vertices=np.flatnonzero((X[:, 0] < 1e-9) | (X[:, 0] > BAR[0] - 1e-9)),
    )
    played = _played(Job(bodies=(body,), frame_end=STEPS + 1, frame_rate=RATE))
    energies = [_energy(played.prepared, frame.state) for frame in played.frames]
    yield row("cut_endurance", "energy above the start, of the range", _above(energies), "", at_most=1e-3)
    yield row("cut_endurance", "unconverged steps", played.unconverged, "", at_most=0)
    yield row("cut_endurance", "all finite", float(np.isfinite(played.surfaces).all()), "", at_least=1.0)


def _energy(prepared: Prepared, state: State) -> float:
    """Return kinetic energy and that of the height and of elasticity, J."""
    model, x = prepared.model, state.positions
    total = 0.5 * float(np.sum(state.velocities * (model.mass @ state.velocities)))
    total += 9.81 * float(model.lumped_masses @ x[:, 2])
    return total + model.elastic.value(model.elastic.deformation(x)) + model.elastic.stabilization.value(x)


def _above(energies: list[float]) -> float:
    return (max(energies[1:]) - energies[0]) / float(np.ptp(energies))
