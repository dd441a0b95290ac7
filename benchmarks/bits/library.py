"""Building, running and reading scenes: all that this benchmark uses of the library's jobs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...core.foundation.events import ignore
from ...core.foundation.schema.settings import DepthSettings, MaterialSettings, ResolutionSettings, SolverSettings
from ...core.foundation.schema.solver_kinds import SOLVER_KINDS
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.jobs.job.absorber import Absorber
from ...core.jobs.job.body import Body
from ...core.jobs.job.environment import Collider, Ground, Spring
from ...core.jobs.job.force_field import ForceField
from ...core.jobs.job.job import Job
from ...core.mechanics.energies.registry import ENERGIES
from ...core.mechanics.forces.field_coordinates import FieldForm, FieldNumbers
from ...core.mechanics.materials.layer import Layer
from ...core.methods.model.state import State
from ...core.numerics.integrators.registry import INTEGRATORS
from ...core.numerics.linear_solvers.registry import DIRECT_SOLVERS, installed
from ...core.simulation.frame_loop.compile_kernels import load_kernels, warm_up
from ...core.simulation.frame_loop.live import Grab, LiveBody
from ...core.simulation.frame_loop.single_body import Frame, simulate_body
from ...core.simulation.preparation.prepare import Prepared, prepare

SOLVER_NAMES, INTEGRATOR_NAMES, ENERGY_NAMES = tuple(SOLVER_KINDS), tuple(INTEGRATORS), tuple(ENERGIES)
DIRECT_NAMES = tuple(solver.name for solver in DIRECT_SOLVERS if installed(solver))

Parts = dict[str, Any]
Shape = tuple[np.ndarray, np.ndarray]
"""Positions (n,3) m and triangles (t,3) of a surface."""


class Hand(NamedTuple):
    """Interaction with a live body: ``grabs`` (vertex, target, stiffness) of each frame but the first, and ``moduli``
    set before a frame, by its number from 0.
    """

    grabs: Sequence[Sequence[tuple[int, np.ndarray, float]]]
    moduli: dict[int, Sequence[float]]


class Scene(NamedTuple):
    """A job and its mode: a bake, interaction by ``hand``, or two runs, the second ``resumed`` from a frame."""

    job: Job
    hand: Hand | None = None
    resumed: int | None = None


class Frames(NamedTuple):
    """Results of all f frames: the displayed surface (f,n,3) m, and the positions and velocities of the unknowns."""

    surface: np.ndarray
    positions: np.ndarray
    velocities: np.ndarray


def compile_for(scene: Scene) -> None:
    """Compile and load the kernels of a scene, so that its time contains hardly any of that."""
    warm_up(ignore)
    load_kernels(scene.job)


def scene(
    shape: Shape,
    frames: int = 6,
    hand: Hand | None = None,
    resumed: int | None = None,
    materials: Sequence[Parts] = ({},),
    weights: np.ndarray | None = None,
    layers: Sequence[Parts] = (),
    pins: tuple[np.ndarray, np.ndarray] | None = None,
    resolution: Parts | None = None,
    solver: Parts | None = None,
    ground: Parts | None = None,
    goal: Parts | None = None,
    springs: Sequence[Parts] = (),
    colliders: Sequence[Parts] = (),
    fields: Sequence[Parts] = (),
    absorbers: Sequence[Parts] = (),
    pre_roll: int = 0,
    **further: Any,
) -> Scene:
    """Return a scene from plain values, named as in the library's own classes. ``pins`` are vertices and their track,
    ``further`` are other fields of the body.
    """
    n = len(shape[0])
    floor = () if ground is None else (Ground(**ground),)
    vertices, track = pins or (np.zeros(0, dtype=np.int32), np.zeros((frames, 0, 3)))
    body = Body(
        surface=SurfaceMesh(*shape),
        materials=tuple(MaterialSettings(**{"name": str(k), **each}) for k, each in enumerate(materials)),
        material_weights=np.eye(len(materials))[np.zeros(n, dtype=int)] if weights is None else weights,
        layers=tuple(_layer(**each) for each in layers),
        pinned_vertices=vertices,
        pin_positions=track,
        resolution=ResolutionSettings(**{"cells_across": 10, **(resolution or {})}),
        solver=SolverSettings(**{"max_iterations": 8, "modes": 6, **(solver or {})}),
        goal=None if goal is None else Spring("Goal", **goal),
        springs=tuple(Spring("Spring", **each) for each in springs),
        colliders=(*floor, *(Collider("Collider", **each) for each in colliders)),
        force_fields=tuple(_field(**each) for each in fields),
        absorbers=tuple(Absorber("Absorber", **each) for each in absorbers),
        **further,
    )
    job = Job(bodies=(body,), frame_start=1, frame_end=frames, frame_rate=24.0, pre_roll=pre_roll)
    return Scene(job, hand, resumed)


def _layer(
    material: int, shapes: Sequence[Shape] = (), depth: Parts | None = None, cover: np.ndarray | None = None
) -> Layer:
    surfaces = tuple(SurfaceMesh(*shape) for shape in shapes)
    return Layer(material, surfaces, None if depth is None else DepthSettings(**depth), cover)


def _field(
    form: Sequence[Any], numbers: Parts, centre: Sequence[float], axis: Sequence[float] = (0.0, 0.0, 1.0), **more: Any
) -> ForceField:
    places = {"centres": np.array([centre]), "axes": np.array([axis])}
    return ForceField("Field", FieldForm(*form), np.array([FieldNumbers(**numbers)]), **places, **more)


def one_of(k: int, *scenes: Scene) -> Scene:
    """Return the k-th scene's body, in a job with the bodies of the others."""
    bodies = tuple(replace(each.job.body, name=str(n)) for n, each in enumerate(scenes))
    return Scene(replace(scenes[0].job, bodies=bodies).alone(k))


def simulated(scene: Scene) -> Frames:
    """Return the frames of a scene by public functions; after the last frame an interactive body's pins stay."""
    job = scene.job if scene.hand is None else scene.job.extended()
    prepared = prepare(job)
    run = _by_itself(scene, prepared) if scene.hand is None else _played(job, prepared, scene.hand)
    found = list(run)
    return Frames(
        np.array(
            [prepared.surface(frame.state.positions, min(k, job.frame_count - 1)) for k, frame in enumerate(found)]
        ),
        np.array([frame.state.positions for frame in found]),
        np.array([frame.state.velocities for frame in found]),
    )


def _by_itself(scene: Scene, prepared: Prepared) -> Iterator[Frame]:
    """Yield the frames of a bake, or of one that is resumed from the stored state."""
    if scene.resumed is None:
        yield from simulate_body(scene.job, prepared)
        return
    for frame in simulate_body(scene.job, prepared):
        yield frame
        if frame.number == scene.resumed:
            break
    state = State.from_arrays(frame.state.arrays())
    yield from simulate_body(scene.job, prepared, (frame.number, state))


def _played(job: Job, prepared: Prepared, hand: Hand) -> Iterator[Frame]:
    body = LiveBody(job, prepared)
    yield body.reset()
    for k, grabs in enumerate(hand.grabs, start=1):
        if k in hand.moduli:
            body.set_stiffness(hand.moduli[k])
        yield body.advance([Grab(*grab) for grab in grabs])
