"""From a job to what can be simulated: tetrahedra, embedding, material fields, model, pins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from ..checks.memory import check_before_solving, check_before_tetrahedra
from ..checks.node_warnings import slow_nodes
from ..constraints.pins import PinSchedule, PinSprings
from ..eigenfit.methods import MatchMethod
from ..errors import StoreError
from ..events import OnEvent, Phase, ignore
from ..forces.embedded_points import EmbeddedPoints
from ..job.job import Job
from ..linear_solvers.registry import Choice, choose, remembered
from ..materials.fields import MaterialFields, ModulusBlend
from ..mesh.embedding import Embedding, embed
from ..mesh.tet_mesh import TetMesh
from ..model.model import Model
from ..model.state import State
from ..progress import OnStepProgress
from ..store.cached_materials import cache_materials
from ..store.cached_mesh import mesh_key, pack, unpack
from ..store.cached_subspace import CachedSubspace, cached_subspace
from ..store.cached_touching import touching_choice
from ..store.frame_store import FrameStore
from ..subspaces.carried_points import CarriedPoints
from ..subspaces.reduced_model import STEPS as SUBSPACE_STEPS
from ..subspaces.reduced_model import Subspace
from ..subspaces.space import Space
from ..tetrahedra.tetrahedralize import tetrahedralize
from .about_mesh import mesh_report
from .body_matching import FIRM_PINS, body_matching
from .body_model import body_model, dynamic_nodes, fields_of, pinned_surface, stiffness_of
from .initial_shape import initial_positions, initial_unknowns, initial_warnings
from .loads import Loads
from .meshing import make_in_child, needs_a_child
from .pin_correction import PinCorrection

VIBRATIONS = "vibrations"
"""What is done last of a body that is matched."""


class Stopped(Exception):
    """The caller asked to stop."""


@dataclass(frozen=True)
class Prepared:
    """Everything that a simulation of a job needs; the model is pinned as on the way to the second frame.

    ``space`` is what the solver steps, the model itself or its ``subspace``; ``pins`` give some of its unknowns, and
    ``pin_springs`` hold the surface; ``points`` are the vertices of the surface, tied to the mesh by ``embedding``.
    ``modulus_blend`` gives the tets' moduli from those of the materials; ``start``
    are the space's positions at the first frame, None at rest; ``matching`` makes the space swing as a finer one does;
    a ``store`` keeps what is made of it.
    """

    model: Model
    space: Space
    subspace: Subspace | None
    embedding: Embedding
    modulus_blend: ModulusBlend
    points: EmbeddedPoints | CarriedPoints
    pins: PinSchedule
    pin_springs: PinSprings
    loads: Loads
    linear_solver: Choice
    pin_correction: PinCorrection
    start: np.ndarray | None = None
    matching: MatchMethod | None = None
    store: FrameStore | None = None

    def first_state(self) -> State:
        """That of the first frame: at rest, at the rest shape or where the job begins."""
        return self.space.rest_state() if self.start is None else self.space.state_at(self.start)

    def scale(self, stiffness: np.ndarray) -> np.ndarray:
        """What the stiffness of each tet is multiplied by, (m,), when the materials' moduli are by exp of (K,)."""
        return self.modulus_blend.youngs_modulus(stiffness) / self.modulus_blend.youngs_modulus()

    def felt(self, of_tets: np.ndarray) -> np.ndarray:
        """What belongs to tets (m,), at the places where the space's elasticity is felt."""
        return of_tets if self.subspace is None else of_tets[self.subspace.parts.tets]

    def surface(self, positions: np.ndarray, frame: int | None = None) -> np.ndarray:
        """Positions of the render surface for a state's positions, (s,3); with a frame, counted from the job's first,
        as it is shown: with pins at their targets.
        """
        surface = self.points.positions(positions)
        return surface if frame is None else self.pin_correction.apply(surface, frame)


def tetrahedra(
    job: Job, store: FrameStore | None, on_event: OnEvent, should_stop: Callable[[], bool] = lambda: False
) -> tuple[TetMesh, Embedding]:
    """Tetrahedra of a job with the embedding of its surface; read from the store where they are kept already. With a
    store, what may end a process is run in a child, and Stopped raised when asked to.
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
        raise StoreError(f"The tetrahedra in {store.folder} cannot be read.", "Press Delete Bake and bake again.")
    mesh = tetrahedralize(job.body.surface, job.body.resolution, job.body.fineness)
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
    """Material parameters of the tetrahedra of a job, kept in the store for interfaces to show."""
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
) -> Prepared:
    """Build the model of a job; named errors where it cannot be. Raises Stopped between parts of the work, with nothing
    unfinished in the store.
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
    matching, match = body_matching(job, model, subspace, pinned, pins, points, store, found)
    if matching and matching.stiffness is not None:
        space = replace(space, elastic=space.elastic.scaled(matching.stiffness))
    if store is not None:
        store.keep_match(match.words)
    more = [*initial_warnings(job, points, start), *slow_nodes(model.nodes, linear_solver)]
    on_event(mesh_report(job, mesh, embedding, fields, more, cached, match))
    touching = touching_choice(store, partial(_go_on, should_stop))
    loads = Loads(job, model, space, embedding, linear_solver.solver, touching)
    stiffness = stiffness_of(job, mesh, fields)
    if matching and job.body.solver.match_resolution and pinned.always().held.any():  # else of no vibration found
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
    """Events of steps that are taken one after the other, each percent once."""
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
    """The subspace of the job's solver, if it steps one."""
    if not job.body.solver.kind.takes_modes:
        return None
    on_progress(SUBSPACE_STEPS[0], 0.0)
    return cached_subspace(model, job.body.solver.modes, job.body.solver.cubature_points, store, on_progress)


def _pins_of_unknowns(pins: PinSchedule, model: Model, subspace: Subspace | None) -> PinSchedule:
    """The pins of what is stepped."""
    if subspace is None:
        return pins
    first = subspace.model.unknowns - 4 * subspace.pins.count
    return subspace.pins.schedule(pins, model.mesh.rest_positions, first)


def _linear_solver(job: Job, model: Model, store: FrameStore | None) -> Choice:
    """The choice that the bake in the store was begun with, else one that is kept there: to be resumed with the same
    bits, whatever memory is free by then.
    """
    cached = store.linear_solver() if store is not None else None
    choice = (cached and remembered(*cached)) or choose(job.body.solver.linear_solver, model.body)
    if store is not None:
        store.keep_linear_solver(choice.name, choice.reason)
    return choice
