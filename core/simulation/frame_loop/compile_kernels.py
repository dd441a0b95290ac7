"""Compilation of the Numba kernels in advance, on tiny problems. Later processes load the kernels from disk."""

from __future__ import annotations

import gc
import json
import math
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba.core.event import Listener, install_listener

from ...contact.barrier.barrier_potential import MISSING
from ...contact.penalty.collider_pose import ColliderPose
from ...contact.penalty.collider_surface import ColliderSurface
from ...contact.penalty.contact_points import ContactPoints
from ...contact.penalty.mesh_collider import MeshCollider
from ...contact.penalty.obstacle import GroundPlane
from ...contact.penalty.penalty import PenaltyContact, PenaltyParameters
from ...contact.proxy.collision_proxy import collision_proxy
from ...foundation.errors import StoreError
from ...foundation.events import OnEvent, Phase, ignore
from ...foundation.files.private_folder import make_private
from ...foundation.kernels import jit
from ...foundation.process import child_process
from ...foundation.schema.settings import EARTH, ResolutionSettings, SolverSettings
from ...foundation.schema.solver_kinds import SOLVER_KINDS
from ...geometry.mesh.embedding import Embedding, embed
from ...geometry.mesh.nearest_point import NearestPointSearch
from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.tetrahedra.intersections import intersecting_triangles
from ...geometry.tetrahedra.tetrahedralize import tetrahedralize
from ...geometry.tetrahedra.wall_thickness import thin_parts
from ...jobs.checks.skin_warnings import skin_warnings
from ...jobs.job.body import Body
from ...jobs.job.job import Job
from ...jobs.store.store_lock import locked
from ...mechanics.energies import ENERGIES
from ...mechanics.energies.isotropic import IsotropicEnergy
from ...mechanics.energies.kinematics import Deformation, Stretch
from ...mechanics.forces.absorption import AbsorbingSurface
from ...mechanics.forces.springs import Springs
from ...mechanics.forces.step_potential import Load
from ...methods.eigenfit.stretch_potential import StretchLoad, StretchModes
from ...methods.model.merged_model import merge_models
from ...methods.model.model import Model, build_model
from ...methods.solvers import make_solver
from ...methods.solvers.registry import space_of
from ...methods.solvers.stretch_damping import StretchDamping
from ...methods.subspaces.space import Space
from ...numerics.integrators import backward_euler
from ...numerics.integrators.registry import INTEGRATORS
from ...numerics.integrators.time_step import TimeStep
from ...numerics.linear_solvers.factorized import factorized
from ...numerics.linear_solvers.registry import fastest
from ..contact_setup.collision_surfaces import ColliderSet, make_contact_load
from .compile_conjugate_gradients import conjugate_gradients, may_iterate
from .group import any_contact

RARELY = 200_000
"""Number of allocated objects between two garbage collections while kernels are compiled."""


def _tetrahedron() -> SurfaceMesh:
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    return SurfaceMesh(corners, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]))


def _on_surface() -> None:
    surface = _tetrahedron()
    embed(surface.positions, tetrahedralize(surface, ResolutionSettings(cells_across=2)))
    thin_parts(surface, 1.0)


def _right_hand_sides() -> None:
    factorized(sp.identity(1), fastest()).solve(np.ones((1, 2)))


def _has_right_hand_sides(body: Body) -> bool:
    """Return True if simulating a body solves linear systems with several right-hand sides."""
    of_vertices = body.accelerations is not None and body.accelerations.shape[1] > 1
    taken_in = of_vertices or body.initial_shape is not None or body.absorbers or body.force_fields
    is_plain = body.solver.solver in ("mixed_fem", "newton", "linearly_implicit") and body.vibration_stiffness is None
    return bool(taken_in or body.goal is not None or body.springs or not is_plain)


def _second_derivatives() -> None:
    """Compile the second derivative of the polar stretch, which a step of a tiny body may not reach."""
    space = space_of(_model(), SolverSettings())
    state = space.rest_state()
    time = TimeStep(state.positions, state.positions, 0.04)
    deformation = space.elastic.deformation(state.positions)
    StretchDamping(space.elastic, 0.01, state, time).condensed(deformation, True, 1.0)


def _takes_second_derivatives(body: Body) -> bool:
    return body.solver.solver == "mixed_fem" or body.solver.stiffness_damping > 0.0


def _extrapolated() -> None:
    embed(np.full((1, 3), 5.0), _mesh())


def _crossings() -> None:
    surface = _tetrahedron()
    n = len(surface.positions)
    twice = (
        np.vstack([surface.positions, surface.positions + 0.1]),
        np.vstack([surface.triangles, surface.triangles + n]),
    )
    intersecting_triangles(*twice)


def _evaluate(law: IsotropicEnergy) -> None:
    F, s = np.eye(3)[None].copy(), np.array([[1.0, 1, 1, 0, 0, 0]])
    p = np.ones((1, 2 + len(law.own)))
    for function in (law.value, law.gradient, law.tangent):
        function(Deformation.of(F), p)
    for function in (law.stretch_value, law.stretch_stress, law.stretch_tangent):
        function(Stretch.of(s), p)


@cache
def _mesh() -> TetMesh:
    """Return a mesh of two pairs of adjacent tets."""
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])
    pair = np.array([[0, 1, 2, 3], [1, 2, 3, 4]])
    return TetMesh(np.concatenate([corners, corners + 2.0]), np.concatenate([pair, pair + 5]))


@cache
def _model() -> Model:
    return build_model(_mesh(), 1e5, 0.4, 1e3, pinned=np.array([0]), smoothed=True)


@dataclass(frozen=True)
class Stage:
    """Group of kernels that are compiled together.

    Rarely used kernels are in no stage. Numba compiles such kernels at their first use.

    Attributes
    ----------
    name : name under which the kernel cache records that the stage is compiled
    seconds : compile time, s, on an idle processor after all earlier stages; used to estimate the progress
    compile : function that compiles the kernels by running them on a tiny problem
    is_needed : function that returns True if a body needs the stage; the arguments are the body, and True if the body
        has IPC contact
    """

    name: str
    seconds: float
    compile: Callable[[], Any]
    is_needed: Callable[[Body, bool], bool]


def _of_energy(law: IsotropicEnergy, seconds: float) -> Stage:
    def is_needed(body: Body, _meets: bool) -> bool:
        return law.name in {material.energy for material in body.materials}

    return Stage(f"energy-{law.name}", seconds, partial(_evaluate, law), is_needed)


def _of_solver(name: str, seconds: float) -> Stage:
    def run() -> None:
        _step(_model(), SolverSettings(solver=name, max_iterations=1, modes=2), _pin_springs)

    return Stage(f"solver-{name}", seconds, run, lambda body, _meets: body.solver.solver == name)


def _penalty() -> None:
    _step(_model(), SolverSettings(max_iterations=1), partial(_contact_loads, _tetrahedron()))


def _stages() -> Iterator[Stage]:
    """Yield the stages in the order of compilation."""
    energy, *energies = ENERGIES.values()
    solver, *solvers = SOLVER_KINDS
    yield Stage("tetrahedra", 11.0, _on_surface, lambda _body, _meets: True)
    yield _of_energy(energy, 3.0)
    yield _of_solver(solver, 7.0)
    if not MISSING:
        yield Stage("meeting", 5.0, lambda: _meet(_model()), lambda _body, in_contact: in_contact)
    yield Stage("skin", 1.5, _skin, lambda body, in_contact: in_contact and body.resolution.method == "lattice")
    yield Stage("second derivatives", 1.0, _second_derivatives, lambda body, _meets: _takes_second_derivatives(body))
    yield Stage("right-hand sides", 2.0, _right_hand_sides, lambda body, _meets: _has_right_hand_sides(body))
    yield Stage("extrapolated", 0.5, _extrapolated, lambda body, _meets: body.resolution.method != "lattice")
    for each in energies:
        yield _of_energy(each, 0.4)
    for name in solvers:
        yield _of_solver(name, 2.5 if name.startswith("subspace_mixed") else 0.2)
    yield Stage("pcg", 4.0, partial(conjugate_gradients, _model()), lambda body, _meets: may_iterate(body))
    yield Stage("contact", 2.5, _penalty, lambda body, in_contact: bool(body.colliders) and not in_contact)
    yield Stage("crossings", 1.0, _crossings, lambda body, _meets: body.contact.self_contact)
    yield Stage("fields", 0.5, partial(_search, _tetrahedron()), lambda body, _meets: _has_field_of("SURFACE", body))


def _has_field_of(shape: str, body: Body) -> bool:
    return any(each.form.shape == shape for each in body.force_fields)


def load_kernels(job: Job, live: bool = False) -> None:
    """Load the compiled kernels for a job's steps from the disk.

    So the first frame is not delayed. The kernels are loaded by stepping a tiny body.

    ``live``: True for live mode. Contact with colliders then uses penalty springs instead of IPC barriers.
    """
    surface, mesh, in_contact = _tetrahedron(), _mesh(), _meets(job, live)
    energies = tuple(dict.fromkeys(material.energy for material in job.body.materials))
    kinds = (np.arange(len(mesh.tets), dtype=np.int32) // 2) % len(energies)
    model = build_model(mesh, 1e5, 0.4, 1e3, energies, kinds, np.array([0, 5]), None, True)
    chosen = job.body.solver
    settings = SolverSettings(
        solver=chosen.solver,
        # Pins at two vertices do not hold the tiny body in statics, which has no kernels of its own.
        integrator=chosen.integrator if chosen.integrator in INTEGRATORS else backward_euler.NAME,
        theta=chosen.theta,
        **{name: getattr(chosen, name) for name in chosen.kind.own},
        linear_solver=chosen.linear_solver,
        modes=2,
        mass_damping=min(chosen.mass_damping, 1.0),
        stiffness_damping=min(chosen.stiffness_damping, 0.01),
    )
    loads = partial(_contact_loads, surface) if job.body.colliders and not in_contact else _pin_springs
    _step(model, settings, loads)
    if in_contact:
        _meet(model)
    if _has_field_of("SURFACE", job.body):
        _search(surface)
    if may_iterate(job.body):
        conjugate_gradients(model)
    if _takes_second_derivatives(job.body):
        _second_derivatives()
    if _has_right_hand_sides(job.body):
        _right_hand_sides()
    if job.body.absorbers:
        AbsorbingSurface(surface.positions, surface.triangles, 0.5).transmittance(surface.positions, surface.positions)


def _meets(job: Job, live: bool) -> bool:
    return not live and not MISSING and any_contact([job])


def _meet(model: Model) -> None:
    """Step a tiny body on a plate with IPC contact, to compile or load its kernels."""
    whole, low = merge_models([model]), float(model.mesh.rest_positions[:, 2].min())
    corners = np.array([[-9.0, -9.0, low - 0.01], [9.0, -9.0, low - 0.01], [0.0, 9.0, low - 0.01]])
    met = make_contact_load(whole, ColliderSet(("",), (np.array([[0, 1, 2]]),), (corners[None],)), 0.5)
    _step(whole, SolverSettings(solver="newton", max_iterations=1), lambda _space: (met,))


def _skin() -> None:
    surface = _tetrahedron()
    mesh = tetrahedralize(surface, ResolutionSettings(cells_across=6))
    skin = collision_proxy(surface, mesh)
    skin_warnings(surface, mesh, SurfaceMesh(skin.rest, skin.faces), 6)


def _search(surface: SurfaceMesh) -> None:
    NearestPointSearch(surface.positions, surface.triangles).nearest(surface.positions)


def _step(model: Model, settings: SolverSettings, loads: Callable[[Space], tuple[Load, ...]]) -> None:
    """Step a tiny body with moving pins once, under the loads from ``loads``."""
    space = space_of(model, settings)
    state = space.rest_state()
    acting = (*loads(space), *_matching(space))
    make_solver(space, settings).step(state, state.positions[space.pinned] + 0.01, 0.04, acting)
    # Mixed FEM ends with Newton's method, which the step of such a small body may not reach.
    space.stiffness(space.elastic.tangent(space.elastic.deformation(state.positions)), 1.0)


def _matching(space: Space) -> tuple[Load, ...]:
    """Return a vibration-matching potential of zero stiffness for a subspace, or () for the full space."""
    if not space.is_reduced:
        return ()
    mode, rest = np.ones((1, space.unknowns, 3)), space.rest_state().positions
    return (StretchLoad(StretchModes(space.elastic, rest, np.ones(1), mode), np.zeros((1, 1))),)


def _pin_springs(space: Space) -> tuple[Load, ...]:
    """Return a spring on one vertex as load, since nearly all jobs need the kernels of springs."""
    at = Embedding(np.zeros(1, dtype=np.int32), np.array([[1.0, 0.0, 0.0, 0.0]]), np.zeros(1, dtype=bool))
    return (Springs(space.points(at), np.ones(1), space.mesh.rest_positions[:1]),)


def _contact_loads(surface: SurfaceMesh, space: Space) -> tuple[Load, ...]:
    """Return the penalty contact of a tiny body with a ground plane and with a moving mesh."""
    collider = ColliderSurface("", surface.triangles, surface.positions[None])
    poses = (ColliderPose.of(collider, surface.positions + shift) for shift in (0.0, 0.1))
    obstacles = GroundPlane(0.1), MeshCollider(collider, *poses, 0.0, 0.0)
    numbers = PenaltyParameters.for_body(1e3, space.size, EARTH, 0.04)
    points = ContactPoints.of(surface, space.mesh, np.full(len(space.mesh.tets), 1e5), space.points)
    return tuple(PenaltyContact(points, obstacle, 0.5, numbers, 0.04) for obstacle in obstacles)


STAGES = tuple(_stages())
"""All stages, in the order of compilation."""


def warm_up(on_event: OnEvent, jobs: Sequence[Job] | None = None, live: bool = False) -> None:
    """Compile the kernels that are missing on the disk, with ``phase`` events.

    An event holds the percentage of all kernels that is compiled now, and the percentage that this call will reach.
    With two processors or more, a second process compiles some of the stages. Processes that share the cache folder
    never compile a stage twice. Each process waits at the end for stages that others are compiling.

    ``jobs``: compile only the kernels that are needed to bake these jobs together. With None, compile all kernels.
    ``live``: compile the kernels of live mode instead of a bake.
    """
    bodies = None if jobs is None else [(job.body, len(jobs) > 1 or _meets(job, live)) for job in jobs]
    missing = [
        stage
        for stage in STAGES
        if not jit.is_compiled(stage.name) and (bodies is None or any(stage.is_needed(*each) for each in bodies))
    ]
    progress = _Progress(on_event, _seconds_compiled() + sum(stage.seconds for stage in missing))
    with _helped(missing):
        _compile(missing, progress)


def compile_stages(names: Sequence[str]) -> None:
    """Compile the named stages in order. Stages that another process is compiling are skipped."""
    by_name = {stage.name: stage for stage in STAGES}
    _compile([by_name[name] for name in names], _Progress(ignore, 0.0), wait=False)


def _seconds_compiled() -> float:
    return sum(stage.seconds for stage in STAGES if jit.is_compiled(stage.name))


def _compile(stages: Sequence[Stage], progress: _Progress, wait: bool = True) -> None:
    """Compile the stages that no other process is compiling.

    ``wait``: True to wait afterwards for the stages that other processes are compiling.
    """
    for patience in (0.0, math.inf) if wait else (0.0,):
        for stage in stages:
            if not jit.is_compiled(stage.name):
                _compile_one(stage, progress, patience)


def _compile_one(stage: Stage, progress: _Progress, patience: float) -> None:
    folder = jit.lock_folder(stage.name)
    with ExitStack() as held:
        try:
            make_private(folder)
            held.enter_context(locked(folder, patience))
        except (OSError, StoreError):
            if not patience:
                return
            # The folder is not writable: no other process compiles there.
        if not jit.is_compiled(stage.name):
            with progress.of(stage.seconds), _rare_collections():
                stage.compile()
            jit.mark_compiled(stage.name)
            progress.on_end()


@contextmanager
def _helped(stages: Sequence[Stage]) -> Iterator[None]:
    """Context in which a helper process compiles the same stages in parallel, beginning with the second stage."""
    python = child_process.python_executable()
    if len(stages) < 2 or jit.THREADS < 2 or jit.cache_warning() or not python:
        yield
        return
    command = child_process.worker_command(python, jit.cache_folder(), "stages", "0", "", "1")
    nothing = subprocess.DEVNULL
    try:
        helper = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=nothing,
            stderr=nothing,
            env=child_process.child_environment(),
            creationflags=child_process.NO_CONSOLE,
        )
    except OSError:  # for example without memory: this process compiles everything
        yield
        return
    try:
        with suppress(OSError):  # it has ended already: this process compiles everything
            helper.stdin.write(f"{json.dumps([stage.name for stage in (*stages[1:], stages[0])])}\n".encode())
            helper.stdin.flush()
        yield
    finally:
        helper.kill()
        with suppress(OSError):
            helper.communicate()


class _Progress(Listener):
    """Listener of Numba's compilations that sends an event at each new percent."""

    def __init__(self, on_event: OnEvent, goal: float) -> None:
        self._on_event = on_event
        self._per_cent = 100.0 / sum(stage.seconds for stage in STAGES)
        self._goal = int(self._per_cent * goal)
        self._seconds = self._began = 0.0
        self._told = -1

    @contextmanager
    def of(self, seconds: float) -> Iterator[None]:
        """Context that reports the progress of one stage. ``seconds``: usual compile time of the stage, s."""
        self._seconds, self._began = seconds, time.process_time()
        self.on_end()
        with install_listener("numba:compile", self):
            yield
        self._seconds = 0.0

    def on_start(self, _event: Any) -> None:
        """Ignore the start of the compilation of a kernel."""

    def on_end(self, _event: Any = None) -> None:
        """Send an event if the progress has reached a new percent."""
        done = _seconds_compiled() + min(self._seconds, time.process_time() - self._began)
        percent = int(self._per_cent * done)
        if percent > self._told:
            self._told = percent
            self._on_event(Phase("compile", percent, self._goal))


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Context with rare garbage collections, which otherwise take a fifth of Numba's compile time."""
    before = gc.get_threshold()
    gc.set_threshold(RARELY, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
