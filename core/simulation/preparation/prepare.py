"""Preparation of a job's body for simulation: tetrahedra, embedding, material fields, model, subspace, pins and
loads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from ...foundation.errors import StoreError
from ...foundation.events import OnEvent, Phase, ignore
from ...foundation.progress import OnStepProgress
from ...geometry.mesh.embedding import Embedding, embed
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.tetrahedra.tetrahedralize import tetrahedralize
from ...jobs.checks.memory import check_before_solving, check_before_tetrahedra
from ...jobs.checks.node_warnings import slow_nodes
from ...jobs.job.job import Job
from ...jobs.store.cached_contact_points import cached_farthest_points
from ...jobs.store.cached_materials import cache_materials
from ...jobs.store.cached_mesh import mesh_key, pack, unpack
from ...jobs.store.cached_subspace import CachedSubspace, cached_subspace
from ...jobs.store.frame_store import FrameStore
from ...mechanics.constraints.pins import PinSchedule, PinSprings
from ...mechanics.forces.embedded_points import EmbeddedPoints
from ...mechanics.materials.fields import MaterialFields, ModulusBlend
from ...methods.eigenfit.methods import MatchMethod
from ...methods.model.model import Model
from ...methods.model.state import State
from ...methods.subspaces.reduced_model import STEPS as SUBSPACE_STEPS
from ...methods.subspaces.reduced_model import Subspace
from ...methods.subspaces.reduced_points import ReducedPoints
from ...methods.subspaces.space import Space
from ...numerics.linear_solvers.registry import Choice, choose, remembered
from .body_matching import FIRM_PINS, body_matching
from .body_model import body_model, dynamic_nodes, fields_of, pinned_surface, stiffness_of
from .display_pin_correction import PinCorrection
from .initial_shape import initial_positions, initial_unknowns, initial_warnings
from .loads import Loads
from .mesh_report import mesh_report
from .mesher_process import make_in_child, needs_a_child

VIBRATIONS = "vibrations"
"""Name of the last progress step of preparation, in which vibrations are matched."""


class Stopped(Exception):
    """Exception by which a computation ends, because the caller asked it to stop."""


@dataclass(frozen=True)
class Prepared:
    """Body of a job with everything that its simulation needs.

    Attributes
    ----------
    model : full-space model with the pins that hold in the interval from the first frame to the second
    space : the model itself or its subspace, whose unknowns the solver computes
    subspace : the subspace of the model, if the solver has one
    embedding : embedding of the surface vertices in the mesh
    modulus_blend : function of the materials' moduli that gives the Young's moduli of the tets
    points : the surface vertices, as functions of the solver's unknowns
    pins : prescribed unknowns
    pin_springs : springs that hold pinned points of the surface
    loads : all other loads; they are evaluated for each substep
    linear_solver : choice of the linear solver, with its reason
    pin_correction : correction of the displayed surface at pins
    start : unknowns at the first frame; None at rest
    matching : method that matches or controls the vibrations, if any
    store : cache of data computed from the job, if any
    """

    model: Model
    space: Space
    subspace: Subspace | None
    embedding: Embedding
    modulus_blend: ModulusBlend
    points: EmbeddedPoints | ReducedPoints
    pins: PinSchedule
    pin_springs: PinSprings
    loads: Loads
    linear_solver: Choice
    pin_correction: PinCorrection
    start: np.ndarray | None = None
    matching: MatchMethod | None = None
    store: FrameStore | None = None

    def first_state(self) -> State:
        """Return the state at the first frame, at zero velocity: in the initial shape if the job has one, else
        at rest."""
        return self.space.rest_state() if self.start is None else self.space.state_at(self.start)

    def scale(self, stiffness: np.ndarray) -> np.ndarray:
        """Return the factors (m,) by which the stiffness of the tets changes when the moduli of the K materials are
        multiplied by ``exp(stiffness)``, with ``stiffness`` (K,).
        """
        return self.modulus_blend.youngs_modulus(stiffness) / self.modulus_blend.youngs_modulus()

    def at_elastic_points(self, of_tets: np.ndarray) -> np.ndarray:
        """Return the values ``of_tets`` (m,) at the elements over which elasticity is integrated: all elements, or the
        cubature points of a subspace."""
        values = self.model.elements.mean(of_tets)
        return values if self.subspace is None else values[self.subspace.parts.elements]

    def surface(self, positions: np.ndarray, frame: int | None = None) -> np.ndarray:
        """Return the positions (s,3), m, of the surface vertices for a state of the body. ``positions`` are the
        unknowns of the state.

        If ``frame`` (counted from 0) is given, the vertices that are pinned at this frame are moved exactly to their
        pin targets. The displayed surface has this correction.
        """
        surface = self.points.positions(positions)
        return surface if frame is None else self.pin_correction.apply(surface, frame)


def tetrahedra(
    job: Job, store: FrameStore | None, on_event: OnEvent, should_stop: Callable[[], bool] = lambda: False
) -> tuple[TetMesh, Embedding]:
    """Return the tetrahedra of a job and the embedding of its surface, read from the store, or computed and stored.

    With a store, a mesher that may crash runs in a child process; then Stopped is raised if ``should_stop`` returns
    True.
    """
    if job.body.tets is not None:
        mesh = TetMesh(job.body.surface.positions, job.body.tets)
        return mesh, Embedding.of_rows(sp.identity(len(mesh.rest_positions), format="csr"), mesh.tets)
    method = job.body.resolution.method
    on_event(Phase("tetrahedralize", 0, 1, method=method))
    if store is not None and (whole := _kept_tetrahedra(job, store)):
        return whole
    check_before_tetrahedra(job)
    if store is not None and needs_a_child(method):
        if not make_in_child(store.folder, job.body.surface, method, should_stop):
            raise Stopped
        if whole := _kept_tetrahedra(job, store):
            return whole
        raise StoreError(
            f"The tetrahedra in {store.folder} cannot be read.",
            "Delete that folder (in Blender: Delete Bake) and bake again.",
        )
    mesh = tetrahedralize(job.body.surface, job.body.resolution, job.body.refinement)
    embedding = embed(job.body.surface.positions, mesh)
    if store is not None:
        store.write_cached("mesh", pack(mesh, embedding), {"key": mesh_key(job)})
    return mesh, embedding


def _kept_tetrahedra(job: Job, store: FrameStore) -> tuple[TetMesh, Embedding] | None:
    cached = store.read_cached("mesh")
    if cached is None or cached[1].get("key") != mesh_key(job):
        return None
    return unpack(cached[0], len(job.body.surface.positions))


def materials(
    job: Job, mesh: TetMesh, embedding: Embedding, store: FrameStore | None, on_event: OnEvent
) -> MaterialFields:
    """Return the material parameters per tet of a job, and store them for display in user interfaces."""
    on_event(Phase("materials", 0, 1))
    fields = fields_of(job, mesh, embedding)
    if store is not None:
        cache_materials(store, job, fields)
    return fields


def prepare(
    job: Job,
    store: FrameStore | None = None,
    on_event: OnEvent = ignore,
    should_stop: Callable[[], bool] = lambda: False,
    collides: bool = False,
) -> Prepared:
    """Return the job's body, prepared for simulation. ``collides`` is True if the body is solved with other bodies.
    Raises a SinewError if the preparation fails. Raises Stopped between parts of the work if ``should_stop`` returns
    True; data in the store are then complete.
    """
    job.check()
    mesh, embedding = tetrahedra(job, store, on_event, should_stop)
    _go_on(should_stop)
    fields = materials(job, mesh, embedding, store, on_event)
    _go_on(should_stop)
    pinned, first = pinned_surface(job, mesh, embedding), min(1, job.frame_count - 1)
    pins = pinned.schedule()
    check_before_solving(job, mesh, pins.held_corners(first))
    model = body_model(job, mesh, fields, pinned, first)
    model = replace(model, nodes=dynamic_nodes(job, mesh, embedding, model.pinned))
    linear_solver = _linear_solver(job, model, store)
    steps = (*(SUBSPACE_STEPS if job.body.solver.kind.takes_modes else ()), VIBRATIONS)
    on_progress = _step_events(steps, on_event, should_stop)
    cached = _subspace(job, model, store, on_progress)
    subspace = cached.subspace if cached else None
    space = subspace.model if subspace else model
    points, held_corners, pins = space.points(embedding), pins, _pins_of_unknowns(pins, model, subspace)
    start = initial_unknowns(job, points, pins) if subspace else initial_positions(job, mesh, embedding, held_corners)
    found = partial(on_progress, VIBRATIONS)
    matching, match = body_matching(job, model, subspace, pinned, pins, points, store, found, collides)
    if matching and matching.stiffness is not None:
        space = replace(space, elastic=space.elastic.scaled(matching.stiffness))
    if store is not None:
        store.keep_match(match.words)
    more = [*initial_warnings(job, points, start), *slow_nodes(model.nodes, linear_solver)]
    on_event(mesh_report(job, mesh, embedding, fields, more, cached, match))
    touching = cached_farthest_points(store, partial(_go_on, should_stop))
    loads = Loads(job, model, space, embedding, linear_solver.solver, touching)
    stiffness = stiffness_of(job, mesh, fields)
    if matching and job.body.solver.match_resolution and pinned.always().held.any():  # else modes of a free body
        stiffness = FIRM_PINS * stiffness
    springs = PinSprings(pinned, stiffness, space.points)
    shown = PinCorrection(job.body.surface.positions, embedding, pinned)
    return Prepared(
        model,
        space,
        subspace,
        embedding,
        fields.modulus_blend,
        points,
        pins,
        springs,
        loads,
        linear_solver,
        shown,
        start,
        matching,
        store,
    )


def _go_on(should_stop: Callable[[], bool]) -> None:
    if should_stop():
        raise Stopped


def _step_events(steps: tuple[str, ...], on_event: OnEvent, should_stop: Callable[[], bool]) -> OnStepProgress:
    """Return a callback that sends events about the progress of the preparation.

    ``steps`` are the names of the steps in order, which count equally. The callback takes the name of a step and the
    fraction (0 to 1) of the step that is done. It sends an event each time the total progress reaches a new percent,
    and raises Stopped if ``should_stop`` returns True.
    """
    last = -1

    def on_progress(step: str, part: float) -> None:
        nonlocal last
        _go_on(should_stop)
        percent = int(100.0 * (steps.index(step) + part) / len(steps))
        if percent > last:
            on_event(Phase("subspace", percent, 100, step=step))
            last = percent

    return on_progress


def _subspace(job: Job, model: Model, store: FrameStore | None, on_progress: OnStepProgress) -> CachedSubspace | None:
    """Return the subspace of the job's body. Return None if the body's solver works in the full space."""
    if not job.body.solver.kind.takes_modes:
        return None
    on_progress(SUBSPACE_STEPS[0], 0.0)
    return cached_subspace(model, job.body.solver.modes, job.body.solver.cubature_points, store, on_progress)


def _pins_of_unknowns(pins: PinSchedule, model: Model, subspace: Subspace | None) -> PinSchedule:
    """Return the pins in terms of the solver's unknowns: tet vertices in the full space, handles in a subspace.

    A handle is an affine displacement of a connected group of pins.
    """
    if subspace is None:
        return pins
    first = subspace.model.unknowns - 4 * subspace.pins.count
    return subspace.pins.schedule(pins, model.mesh.rest_positions, first)


def _linear_solver(job: Job, model: Model, store: FrameStore | None) -> Choice:
    """Return the choice of the linear solver: the stored choice of an earlier bake, or a new choice, which is stored.

    A new choice depends on the free memory, and different linear solvers round differently. With the stored choice, a
    resumed bake computes the same bits as a bake without a pause.
    """
    cached = store.linear_solver() if store is not None else None
    choice = (cached and remembered(*cached)) or choose(job.body.solver.linear_solver, model.body)
    if store is not None:
        store.keep_linear_solver(choice.name, choice.reason)
    return choice
