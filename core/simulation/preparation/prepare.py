"""Preparation of a job's body for simulation, from the tetrahedra to the loads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ...foundation.errors import StoreError
from ...foundation.events import OnEvent, Phase, ignore
from ...foundation.progress import OnStepProgress
from ...foundation.schema.settings import moduli
from ...geometry.mesh.embedding import Embedding
from ...geometry.mesh.tet_mesh import TetMesh
from ...jobs.checks.memory import check_before_solving, check_before_tetrahedra
from ...jobs.checks.node_warnings import slow_nodes
from ...jobs.job.job import Job
from ...jobs.store.cached_contact_points import cached_farthest_points
from ...jobs.store.cached_materials import cache_materials
from ...jobs.store.cached_mesh import mesh_key, pack, unpack
from ...jobs.store.cached_subspace import CachedSubspace, cached_subspace
from ...jobs.store.frame_store import FrameStore
from ...mechanics.constraints.pins import PinnedSurface, PinSchedule, PinSprings
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
from .body_mesh import given_mesh, made_mesh
from .body_model import body_model, dynamic_nodes, fields_of, pinned_surface, stiffness_of
from .display_pin_correction import PinCorrection
from .initial_shape import initial_positions, initial_unknowns, initial_warnings
from .loads import Loads
from .mesh_report import mesh_report
from .mesher_process import make_in_child, needs_a_child
from .muscles import MuscleFibres, Muscles, activation_modes, fibres_of_tets, muscle_fibres

VIBRATIONS = "vibrations"
"""Name of the last progress step of preparation, in which vibrations are matched."""


class Stopped(Exception):
    """Exception that ends a computation at the caller's request."""


@dataclass(frozen=True)
class Prepared:
    """Body of a job with everything that its simulation needs.

    Attributes
    ----------
    model : full-space model with all pins that hold in any frame after the first
    space : the model itself or its subspace; the solver computes its unknowns
    subspace : the subspace of the model, or None
    embedding : embedding of the surface vertices in the mesh
    modulus_blend : function of the materials' moduli that gives the Young's moduli of the tets
    points : the surface vertices, as functions of the solver's unknowns
    pins : prescribed unknowns
    pin_springs : springs that hold pinned points of the surface
    loads : all other loads; they are evaluated for each substep
    linear_solver : choice of the linear solver, with its reason
    pin_correction : correction of the displayed surface at pins
    start : unknowns at the first frame; None at rest
    matching : method that gives the body the vibrations of a more accurate model, or scales the stiffness of single
        vibrations by the user's factors; None without such a correction
    store : cache of data computed from the job, or None
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
        """Return the state at the first frame, at zero velocity.

        The body begins in the job's initial shape, or at rest without an initial shape.
        """
        return self.space.rest_state() if self.start is None else self.space.state_at(self.start)

    def scale(self, stiffness: np.ndarray) -> np.ndarray:
        """Return the factors (m,) on the stiffness of the tets for changed moduli of the materials.

        ``stiffness`` (K,): natural logarithms of the factors on the moduli of the K materials.
        """
        return self.modulus_blend.youngs_modulus(stiffness) / self.modulus_blend.youngs_modulus()

    def model_at(self, job: Job, frame: int) -> Model:
        """Return the model with the stiffness of the materials at a frame, counted from 0."""
        if job.body.moduli is None:
            return self.model
        scale = self.scale(np.log(job.body.moduli[frame] / moduli(job.body.materials)))
        return replace(self.model, elastic=self.model.elastic.scaled(self.model.elements.mean(scale)))

    def at_elastic_points(self, of_tets: np.ndarray) -> np.ndarray:
        """Return values at the elements over which elasticity is integrated.

        These are all elements, or the cubature points of a subspace. ``of_tets`` (m,): values per tet.
        """
        values = self.model.elements.mean(of_tets)
        return values if self.subspace is None else values[self.subspace.parts.elements]

    def surface(self, positions: np.ndarray, frame: int | None = None) -> np.ndarray:
        """Return the positions of the surface vertices for a state of the body, (s,3), m.

        ``positions``: unknowns of the state.
        ``frame``, counted from 0, or None: vertices that are pinned at this frame are moved exactly to their targets,
        as on the displayed surface.
        """
        surface = self.points.positions(positions)
        return surface if frame is None else self.pin_correction.apply(surface, frame)


def tetrahedra(
    job: Job, store: FrameStore | None, on_event: OnEvent, should_stop: Callable[[], bool] = lambda: False
) -> tuple[TetMesh, Embedding]:
    """Return the tetrahedra of a job and the embedding of its surface.

    The tetrahedra are read from the store, or computed and stored. With a store, a mesher that may crash runs in a
    child process. Raises Stopped if ``should_stop`` returns True while the child process runs.
    """
    if job.body.tets is not None:
        return given_mesh(job.body)
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
    mesh, embedding = made_mesh(job.body)
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
) -> tuple[MaterialFields, tuple[MuscleFibres, ...]]:
    """Return the material parameters per tet of a job, and the fibres of its muscles.

    Both are stored for display in user interfaces.
    """
    on_event(Phase("materials", 0, 1))
    fields = fields_of(job, mesh, embedding)
    fibres = muscle_fibres(job, mesh, embedding, fields)
    if store is not None:
        cache_materials(store, job, fields, *fibres_of_tets(job.body.muscles, fibres, len(mesh.tets)))
    return fields, fibres


def prepare(
    job: Job,
    store: FrameStore | None = None,
    on_event: OnEvent = ignore,
    should_stop: Callable[[], bool] = lambda: False,
    collides: bool = False,
) -> Prepared:
    """Return the job's body, prepared for simulation.

    ``collides``: True if the body is solved together with other bodies. Raises SinewError if the preparation fails.
    Raises Stopped between parts of the work if ``should_stop`` returns True. Data in the store are then complete.
    """
    job.check()
    mesh, embedding = tetrahedra(job, store, on_event, should_stop)
    _go_on(should_stop)
    fields, fibres = materials(job, mesh, embedding, store, on_event)
    _go_on(should_stop)
    pinned = pinned_surface(job, mesh, embedding)
    pins = pinned.schedule()
    check_before_solving(job, mesh, pinned.ever().schedule().held_corners(0))
    model = body_model(job, mesh, fields, pinned)
    model = replace(model, nodes=dynamic_nodes(job, mesh, embedding, model.pinned))
    linear_solver = _linear_solver(job, model, store)
    steps = (*(SUBSPACE_STEPS if job.body.solver.kind.takes_modes else ()), VIBRATIONS)
    on_progress = _step_events(steps, on_event, should_stop)
    cached = _subspace(job, model, fibres, pinned, store, on_progress)
    subspace, space = (cached.subspace, cached.subspace.model) if cached else (None, model)
    points, held_corners, pins = space.points(embedding), pins, _pins_of_unknowns(pins, model, subspace)
    start = initial_unknowns(job, points, pins) if subspace else initial_positions(job, mesh, embedding, held_corners)
    found = partial(on_progress, VIBRATIONS)
    matching, match = body_matching(job, model, subspace, pinned, pins, points, store, found, collides)
    if matching and matching.stiffness is not None:
        space = replace(space, elastic=space.elastic.scaled(matching.stiffness))
    if store is not None:
        store.keep_match(match.words)
    more = [*initial_warnings(job, points, start), *slow_nodes(model.nodes, linear_solver)]
    on_event(mesh_report(job, mesh, embedding, fields, more, cached, match, pinned))
    touching = cached_farthest_points(store, partial(_go_on, should_stop))
    muscles = Muscles(job, fibres, model, subspace) if fibres else None
    loads = Loads(job, model, space, embedding, linear_solver.solver, touching, muscles)
    is_firm = matching and job.body.solver.match_resolution and pinned.always().held.any()
    springs = PinSprings(pinned, (FIRM_PINS if is_firm else 1.0) * stiffness_of(job, mesh, fields), space.points)
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
    """Return a callback that sends an event at each new percent of the preparation."""
    last = -1

    def on_progress(step: str, part: float) -> None:
        nonlocal last
        _go_on(should_stop)
        percent = int(100.0 * (steps.index(step) + part) / len(steps))
        if percent > last:
            on_event(Phase("subspace", percent, 100, step=step))
            last = percent

    return on_progress


def _subspace(
    job: Job,
    model: Model,
    fibres: Sequence[MuscleFibres],
    pinned: PinnedSurface,
    store: FrameStore | None,
    on_progress: OnStepProgress,
) -> CachedSubspace | None:
    if not job.body.solver.kind.takes_modes:
        return None
    on_progress(SUBSPACE_STEPS[0], 0.0)
    if fibres:
        model = replace(model, activation_modes=activation_modes(job, fibres, model, pinned))
    solver = job.body.solver
    modes = 1 if job.body.is_rigid else solver.modes  # one constant weight, which moves a tet in every affine way
    return cached_subspace(model, modes, solver.cubature_points, store, on_progress, solver.subspace_basis)


def _pins_of_unknowns(pins: PinSchedule, model: Model, subspace: Subspace | None) -> PinSchedule:
    """Return the pins of the solver's unknowns: tet vertices in the full space, handles in a subspace."""
    if subspace is None:
        return pins
    first = subspace.model.unknowns - 4 * subspace.pins.count
    return subspace.pins.schedule(pins, model.mesh.rest_positions, first)


def _linear_solver(job: Job, model: Model, store: FrameStore | None) -> Choice:
    """Return the linear solver that an earlier bake stored, or choose and store one.

    A new choice depends on the free memory. With the stored choice, a resumed bake computes the same bits as a bake
    without a pause.
    """
    cached = store.linear_solver() if store is not None else None
    choice = (cached and remembered(*cached)) or choose(job.body.solver.linear_solver, model.body)
    if store is not None:
        store.keep_linear_solver(choice.name, choice.reason)
    return choice
