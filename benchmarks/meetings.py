"""Scenes of bodies in contact, simulated and checked for intersections independently of the library."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.contact.barrier.contact_load import ContactLoad
from ..core.foundation.schema.settings import SolverSettings
from ..core.geometry.mesh.tet_mesh import TetMesh
from ..core.methods.model.merged_model import merge_models
from ..core.methods.model.model import Model, build_model
from ..core.methods.model.state import State
from ..core.methods.solvers import make_solver
from ..core.numerics.optimization.step_report import StepReport
from ..core.simulation.contact_setup.collision_surfaces import ColliderSet, CollisionSurface, make_contact_load
from .bodies import block
from .crossings import forbidden
from .registry import Row, row

Track = Callable[[int], np.ndarray]
"""Function from the number of a step to positions at its end."""


@dataclass(frozen=True)
class Scene:
    """Bodies and the plates, or other surfaces, that they collide with: ``places`` are those of moving surfaces in a
    step, ``pins`` those of all bodies, from their rest positions; ``skins`` are collision surfaces of the bodies, by
    default the boundaries of their tets.
    """

    bodies: Sequence[Model]
    colliders: Sequence[tuple[np.ndarray, np.ndarray]] = ()
    friction: float = 0.3
    selves: tuple[int, ...] = ()
    places: Track | None = None
    pins: Callable[[int, np.ndarray], np.ndarray] | None = None
    state: Callable[[Model], State] = Model.rest_state
    settings: dict[str, Any] = field(default_factory=dict)
    skins: Sequence[CollisionSurface] = ()


@dataclass
class Watched:
    """Reports and states of all steps; numbers of frames with intersections of different bodies or self-contact
    surfaces, and of frames with an inverted tet; processor seconds of each step.
    """

    whole: Model
    meeting: ContactLoad
    states: list[State]
    reports: list[StepReport]
    crossed: int = 0
    inverted: int = 0
    processor: list[float] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """Processor seconds of all steps."""
        return sum(self.processor)

    @property
    def iterations(self) -> np.ndarray:
        """Number of iterations of each step."""
        return np.array([report.iterations for report in self.reports])


def watch(scene: Scene, steps: int, h: float, solver: str, **settings: Any) -> Watched:
    """Simulate the scene for a number of steps of h seconds."""
    whole = merge_models(scene.bodies)
    names = tuple(f"plate {k}" for k in range(len(scene.colliders)))
    places, triangles = zip(*scene.colliders) if scene.colliders else ((), ())
    meet = make_contact_load(
        whole,
        ColliderSet(names, triangles, tuple(each[None] for each in places)),
        scene.friction,
        scene.selves,
        scene.skins,
    )
    chosen = {"solver": solver, "max_iterations": 100, **scene.settings, **settings}
    stepper, state = make_solver(whole, SolverSettings(**chosen)), scene.state(whole)
    pins = whole.mesh.rest_positions[whole.pinned]
    seen = Watched(whole, meet, [state], [])
    for k in range(steps):
        meet.targets = meet.targets if scene.places is None else scene.places(k)
        targets = pins if scene.pins is None else scene.pins(k, pins)
        begin = time.process_time()
        state, report = stepper.step(state, targets, h, (meet,))
        seen.processor.append(time.process_time() - begin)
        seen.states.append(state)
        seen.reports.append(report)
        seen.crossed += bool(len(forbidden(meet.surface_positions(state.positions), meet.barrier.surfaces)))
        seen.inverted += int((whole.elastic.deformation(state.positions).sigma.min(axis=1) <= 0.0).any())
    return seen


def told(case: str, words: str, seen: Watched) -> Iterator[Row]:
    """Yield the rows of any scene."""
    its, last = seen.iterations, seen.states[-1]
    yield row(case, f"frames with a crossing, {words}", seen.crossed, "", at_most=0)
    yield row(case, f"frames with a tet inside out, {words}", seen.inverted)
    unsettled = [k for k, report in enumerate(seen.reports) if not report.converged]
    yield row(case, f"steps that did not settle, {words}", len(unsettled), "", at_most=0)
    for k in unsettled:
        reason = seen.reports[k].reason or f"{seen.iterations[k]} iterations"
        yield row(case, f"step {k + 1} did not settle, {words}: {reason}", seen.reports[k].movement, "m")
    yield row(case, f"iterations a step, {words}", float(its.mean()))
    yield row(case, f"most iterations, {words}", int(its.max()))
    yield row(case, f"ms an iteration, {words}", 1e3 * seen.seconds / max(its.sum(), 1), "ms")
    touching = seen.meeting.barrier.normal_collisions(seen.meeting.surface_positions(last.positions))
    yield row(case, f"contacts at the end, {words}", len(touching))


def box(
    at: Sequence[float],
    cells: Sequence[int] = (4, 4, 4),
    size: Sequence[float] = (0.1, 0.1, 0.1),
    stiffness: np.ndarray | float = 1e5,
    pinned: Callable[[np.ndarray], np.ndarray] | None = None,
) -> Model:
    """Return a block; ``pinned`` returns the mask of pinned positions."""
    mesh = block(tuple(cells), tuple(size))
    held = () if pinned is None else np.flatnonzero(pinned(mesh.rest_positions))
    return build_model(TetMesh(mesh.rest_positions + np.asarray(at), mesh.tets), stiffness, 0.4, 1e3, pinned=held)


def plate(height: float, reach: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    """Return a horizontal square."""
    corners = reach * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    return np.column_stack([corners, np.full(4, height)]), np.array([[0, 1, 2], [0, 2, 3]])
