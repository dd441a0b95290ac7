"""From a job to what can be simulated: tetrahedra, embedding, material fields, model, pins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..constraints.anchors import SPACING, Anchors
from ..constraints.pins import PinnedSurface, PinSchedule, PinSprings, condensed_in_tets
from ..errors import StoreError
from ..forces.embedded_points import EmbeddedPoints
from ..jit import cache_warning
from ..linear_solvers.registry import Choice, choose, remembered
from ..materials.fields import MaterialFields, material_fields
from ..mesh.embedding import Embedding, embed
from ..mesh.quality import quality
from ..mesh.tet_mesh import TetMesh
from ..mesh.tetrahedralize import tetrahedralize
from ..mesh.topology import components
from ..model.model import Model, build_model
from ..model.state import State
from ..progress import StepTold
from ..solvers.registry import in_subspace
from ..subspaces.carried_points import CarriedPoints
from ..subspaces.reduced_model import STEPS, ReducedModel, Subspace
from ..subspaces.softening import ENOUGH
from ..subspaces.space import Space
from .body_facts import facts_of
from .frame_store import FrameStore
from .job import Job
from .kept_materials import keep_materials
from .kept_mesh import mesh_key, pack, unpack
from .kept_subspace import Kept, kept_subspace
from .kept_touching import touching_choice
from .layer_warnings import layer_warnings
from .loads import Loads
from .memory import check_before_solving, check_before_tetrahedra
from .meshing import make_in_child, needs_a_child
from .overlaps import overlap_warnings
from .plausibility import scale_warnings
from .shown_pins import ShownPins
from .start_shape import start_positions, start_unknowns, start_warnings
from .thin_warnings import thickness_of, thin_warnings
from .volume_warnings import volume_warnings

OnEvent = Callable[[dict[str, Any]], None]

IN_SUBSPACE = 3.0
"""Distance of samples of pins in a subspace by that of those in tets."""


class Stopped(Exception):
    """The caller asked to stop."""


def ignore(_event: dict[str, Any]) -> None:
    """An event that nobody watches."""


@dataclass(frozen=True)
class Prepared:
    """Everything that a simulation of a job needs; the model is pinned as on the way to the second frame.

    ``space`` is what the solver steps, the model itself or its ``subspace``; ``pins`` give some of its unknowns,
    ``pin_springs`` hold the surface; ``points`` are the vertices of the surface, tied to the mesh by ``embedding``.
    ``modulus_weights`` (m, K) are the parts of the materials' moduli (``model.settings.moduli``) in the tets; ``start``
    are the space's positions at the first frame, None at rest.
    """

    model: Model
    space: Space
    subspace: Subspace | None
    embedding: Embedding
    modulus_weights: np.ndarray
    points: EmbeddedPoints | CarriedPoints
    pins: PinSchedule
    pin_springs: PinSprings
    loads: Loads
    linear_solver: Choice
    shown_pins: ShownPins | None
    start: np.ndarray | None = None

    def first_state(self) -> State:
        """That of the first frame: at rest, at the rest shape or where the job begins."""
        return self.space.rest_state() if self.start is None else self.space.state_at(self.start)

    def stiffened(self, change: np.ndarray) -> Prepared:
        """The same with each of the materials' moduli times exp of ``change`` (K,)."""
        scale = np.exp(self.modulus_weights @ change)
        of_space = scale if self.subspace is None else scale[self.subspace.parts.tets]
        return replace(self, space=self.space.scaled(of_space), pin_springs=self.pin_springs.scaled(scale))

    def surface(self, positions: np.ndarray, frame: int | None = None) -> np.ndarray:
        """Positions of the render surface for a state's positions, (s,3); with a frame, counted from the job's first,
        as it is shown: with pins at their targets, but for a subspace, whose surface must be one that handles can show.
        """
        surface = self.points.positions(positions)
        return surface if self.shown_pins is None or frame is None else self.shown_pins.put(surface, frame)


def tetrahedra(
    job: Job, store: FrameStore | None, on_event: OnEvent, should_stop: Callable[[], bool] = lambda: False
) -> tuple[TetMesh, Embedding]:
    """Tetrahedra of a job with the embedding of its surface; read from the store where they are kept already. With a
    store, what may end a process is run in a child, and Stopped raised when asked to.
    """
    method = job.resolution.method
    on_event({"event": "phase", "phase": "tetrahedralize", "done": 0, "total": 1, "method": method})
    if store is not None and (whole := _kept_tetrahedra(job, store)):
        return whole
    check_before_tetrahedra(job)
    if store is not None and needs_a_child(method):
        if not make_in_child(store.folder, job.surface, method, should_stop):
            raise Stopped
        if whole := _kept_tetrahedra(job, store):
            return whole
        raise StoreError(f"The tetrahedra in {store.folder} cannot be read.", "Press Delete Bake and bake again.")
    mesh = tetrahedralize(job.surface, job.resolution, job.fineness)
    embedding = embed(job.surface.positions, mesh)
    if store is not None:
        store.keep("mesh", pack(mesh, embedding), {"key": mesh_key(job)})
    return mesh, embedding


def _kept_tetrahedra(job: Job, store: FrameStore) -> tuple[TetMesh, Embedding] | None:
    kept = store.read_kept("mesh")
    if kept is None or kept[1].get("key") != mesh_key(job):
        return None
    return unpack(kept[0], len(job.surface.positions))


def materials(
    job: Job, mesh: TetMesh, embedding: Embedding, store: FrameStore | None, on_event: OnEvent
) -> tuple[MaterialFields, dict[str, Any]]:
    """Material parameters of the tetrahedra of a job, kept in the store for interfaces to show, and the ``mesh`` event
    that tells what body they make.
    """
    on_event({"event": "phase", "phase": "materials", "done": 0, "total": 1})
    fields = material_fields(
        mesh, embedding, job.material_weights, job.materials, job.layers, job.surface, job.stiffness_maps
    )
    if store is not None:
        keep_materials(store, job, fields)
    return fields, mesh_event(job, mesh, embedding, fields)


def mesh_event(job: Job, mesh: TetMesh, embedding: Embedding, fields: MaterialFields) -> dict[str, Any]:
    """The figures of the tetrahedra and of the body they make (SI), and what a user should know of them."""
    figures = quality(mesh)
    thickness = thickness_of(job)
    thin = thin_warnings(job, thickness)
    warnings = [*layer_warnings(job, mesh, fields), *scale_warnings(job), *overlap_warnings(job, mesh)]
    warnings += volume_warnings(job, mesh)
    far = int(np.count_nonzero(embedding.far_outside))
    if far:
        warnings.append(f"{far} vertices lie well outside all tetrahedra and follow the nearest one.")
    if warning := cache_warning():
        warnings.append(warning)
    loose = _unpinned_parts(job, mesh, embedding)
    if loose and len(job.pinned_vertices):
        warnings.append(f"{loose} separate parts have no pin and will fall.")
    if len(job.pinned_vertices) and not job.pin_held.any():
        warnings.append("No pin is held: Hold From is above every weight.")
    warnings += thin
    return {
        "event": "mesh",
        "vertices": figures.vertices,
        "tets": figures.tets,
        "outside": int(np.count_nonzero(embedding.outside)),
        "components": figures.components,
        "min_dihedral": figures.min_dihedral,
        "max_dihedral": figures.max_dihedral,
        "mass": float(fields.density @ mesh.body_volumes),
        "volume": float(mesh.body_volumes.sum()),
        "size": job.surface.size,
        "warnings": warnings,
        "is_thin": bool(thin),
        "facts": asdict(facts_of(job, mesh, fields, thickness)),
        "points_warning": "",
        "points_that_suffice": 0,
    }


def _unpinned_parts(job: Job, mesh: TetMesh, embedding: Embedding) -> int:
    labels = components(mesh.tets, len(mesh.rest_positions))
    held = np.unique(labels[embedding.tet_indices[job.pinned_vertices]])
    return int(labels.max()) + 1 - len(held)


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
    fields, about = materials(job, mesh, embedding, store, on_event)
    _go_on(should_stop)
    pinned, first = _pinned_surface(job, mesh, embedding), min(1, job.frame_count - 1)
    pins = pinned.schedule()
    check_before_solving(job, mesh, pins.held_corners(first))
    model = build_model(
        mesh,
        fields.youngs_modulus,
        fields.poissons_ratio,
        fields.density,
        fields.energies,
        fields.energy,
        pins.held_corners(first),
    )
    model = replace(model, anchors=pinned.holding(first, fields.youngs_modulus))
    linear_solver = _linear_solver(job, model, store)
    kept = _subspace(job, model, store, _steps_told(on_event, should_stop))
    subspace = kept.subspace if kept else None
    space = subspace.model if subspace else model
    points, held_corners, pins = space.points(embedding), pins, _pins_of_unknowns(pins, model, subspace)
    start = start_unknowns(job, points, pins) if subspace else start_positions(job, mesh, embedding, held_corners)
    about["warnings"] += start_warnings(job, points, start)
    on_event(_with_cubature(about, kept))
    touching = touching_choice(store, partial(_go_on, should_stop))
    loads = Loads(job, model, space, embedding, linear_solver.solver, touching, pinned)
    condense = partial(_condensed, space) if subspace else partial(condensed_in_tets, mesh)
    springs = PinSprings(pinned, fields.youngs_modulus, condense)
    shown = None if subspace else ShownPins(job.surface.positions, embedding, pinned)
    return Prepared(
        model,
        space,
        subspace,
        embedding,
        fields.modulus_weights,
        points,
        pins,
        springs,
        loads,
        linear_solver,
        shown,
        start,
    )


def _pinned_surface(job: Job, mesh: TetMesh, embedding: Embedding) -> PinnedSurface:
    """The job's pins; a body in a subspace moves so smoothly that it needs fewer samples."""
    spacing = IN_SUBSPACE * SPACING if in_subspace(job.solver) else SPACING
    return PinnedSurface(job.surface, mesh, embedding, job.pinned_vertices, job.pin_positions, job.pin_held, spacing)


def _condensed(space: ReducedModel, found: Anchors, stiffness: np.ndarray) -> tuple[CarriedPoints, np.ndarray, Any]:
    """Springs at points as a subspace carries them, as :func:`condensed_in_tets`."""
    points, weights, matrix = space.points(found.embedding).condensing(stiffness)
    return points, weights, found.shares if matrix is None else matrix @ found.shares


def _go_on(should_stop: Callable[[], bool]) -> None:
    if should_stop():
        raise Stopped


def _steps_told(on_event: OnEvent, should_stop: Callable[[], bool]) -> StepTold:
    """Events of the subspace's steps, each percent once."""
    last = -1

    def told(step: str, part: float) -> None:
        nonlocal last
        _go_on(should_stop)
        percent = int(100.0 * (STEPS.index(step) + part) / len(STEPS))
        if percent > last:
            on_event({"event": "phase", "phase": "subspace", "step": step, "done": percent, "total": 100})
            last = percent

    return told


def _subspace(job: Job, model: Model, store: FrameStore | None, told: StepTold) -> Kept | None:
    """The subspace of the job's solver, if it steps one."""
    if not in_subspace(job.solver):
        return None
    told(STEPS[0], 0.0)
    return kept_subspace(model, job.solver.modes, job.solver.cubature_points, store, told)


def _pins_of_unknowns(pins: PinSchedule, model: Model, subspace: Subspace | None) -> PinSchedule:
    """The pins of what is stepped."""
    if subspace is None:
        return pins
    first = subspace.model.unknowns - 4 * subspace.pins.count
    return subspace.pins.schedule(pins, model.mesh.rest_positions, first)


def _with_cubature(about: dict[str, Any], kept: Kept | None) -> dict[str, Any]:
    """The ``mesh`` event with what is to say of too few cubature points: among the warnings, by itself, and the number
    that would do.
    """
    if kept is None or kept.felt_share >= ENOUGH:
        return about
    points, suffices = len(kept.subspace.parts.tets), kept.points_that_suffice
    remedy = f"set Cubature Points to {suffices}, or fewer Modes." if suffices else "set fewer Modes."
    said = f"{points} cubature points feel {kept.felt_share:.0%} of the energy of some movement, which will be too soft"
    warning = f"{said}: {remedy}"
    warnings = [*about["warnings"], warning]
    return {**about, "warnings": warnings, "points_warning": warning, "points_that_suffice": suffices}


def _linear_solver(job: Job, model: Model, store: FrameStore | None) -> Choice:
    """The choice that the bake in the store was begun with, else one that is kept there: to be resumed with the same
    bits, whatever memory is free by then.
    """
    kept = store.linear_solver() if store is not None else None
    choice = (kept and remembered(*kept)) or choose(job.solver.linear_solver, model.body)
    if store is not None:
        store.keep_linear_solver(choice.name, choice.reason)
    return choice
