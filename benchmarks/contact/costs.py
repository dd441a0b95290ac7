"""Cost of contact per iteration, and growth of iterations with contrast."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from ...core.foundation.events import ignore
from ...core.foundation.schema.settings import SolverSettings
from ...core.geometry.mesh.tet_mesh import TetMesh
from ...core.methods.model.model import Model
from ...core.methods.model.state import State
from ...core.methods.solvers import make_solver
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..bodies import stiff_slabs
from ..meetings import Scene, Watched, box, plate, watch
from ..registry import Case, Row, row
from .scenes import hairpin

H = 0.01
EARTH = 9.81


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield the cost at 20,000 tets, with self-contact, and the contrast of 1e4."""
    yield Case("cost_20k", _cost)
    yield Case("cost_self", _cost_self)
    yield Case("contrast", _contrast)


def _cost() -> Iterable[Row]:
    """Compare the time of bodies in contact with that of the same bodies, bent, without contact; alternately, the
    faster of three.
    """
    warm_up(ignore)
    boxes = [box((0.012 * k, 0.006 * k, 0.0009 + 0.1009 * k), (11, 11, 11)) for k in range(3)]
    yield from _compared("cost_20k", lambda: watch(Scene(boxes, [plate(0.0)]), 12, H, "mixed_fem"), 0, 1.7)


def _cost_self() -> Iterable[Row]:
    """Compare the same for a body whose arms are pressed together, from first contact on."""
    warm_up(ignore)
    pressed = hairpin(H, 20, cell=0.01)
    yield from _compared("cost_self", lambda: watch(pressed, 20, H, "mixed_fem"), 10, 2.1)


def _compared(case: str, touch: Callable[[], Watched], first: int, bar: float) -> Iterable[Row]:
    """Compare the times from the step ``first`` on."""
    met, alone = [], []
    for _ in range(3):
        seen = touch()
        count = seen.iterations[first:].sum()
        met.append(sum(seen.processor[first:]) / count)
        alone.append(_free(seen.whole))
    yield row(case, "tets", len(seen.whole.mesh.tets))
    yield row(case, "iterations a step", float(seen.iterations[first:].mean()))
    yield row(
        case,
        "contacts at the end",
        len(seen.meeting.barrier.normal_collisions(seen.meeting.surface_positions(seen.states[-1].positions))),
    )
    yield row(case, "ms an iteration", 1e3 * min(met), "ms")
    yield row(case, "over one without contact", min(met) / min(alone), "", at_most=bar)
    for part, seconds in _parts(seen, first).items():
        yield row(case, f"of it, {part}", seconds / sum(seen.processor[first:]))


def _free(whole: Model) -> float:
    """Return seconds per iteration without contact."""
    stepper, count = make_solver(whole, SolverSettings(max_iterations=100)), 0
    state = whole.state_at(whole.mesh.rest_positions * [1.05, 1.0, 1.0])
    begin = time.process_time()
    for _ in range(6):
        count += stepper.step(state, whole.mesh.rest_positions[whole.pinned], H)[1].iterations
    return (time.process_time() - begin) / count


def _parts(seen: Watched, first: int) -> dict[str, float]:
    total: dict[str, float] = {}
    for report in seen.reports[first:]:
        for part, seconds in report.seconds.items():
            total[part] = total.get(part, 0.0) + seconds
    return total


def _contrast() -> Iterable[Row]:
    """Simulate two bars of slabs, 1e5 and 1e9 Pa, lying on each other, and rotating and colliding."""
    bodies = []
    for k, (size, cells) in enumerate((((0.4, 0.08, 0.08), (20, 4, 4)), ((0.08, 0.4, 0.08), (4, 20, 4)))):
        at = (-0.2, -0.04, 0.002) if k == 0 else (-0.04, -0.2, 0.084)
        mesh = box(at, cells, size).mesh
        lengthwise = mesh if k == 0 else TetMesh(mesh.rest_positions[:, [1, 0, 2]], mesh.tets)
        bodies.append(box(at, cells, size, stiff_slabs(lengthwise, 1e9, 1e5)))
    lying = Scene(bodies, [plate(0.0)])
    turning = Scene(bodies, [plate(-0.05)], state=_turning)
    yield from _of_contrast("contrast", ", lying", lying, None)
    yield from _of_contrast("contrast", ", turning", turning, 0.6)


def _turning(whole: Model) -> State:
    X = whole.mesh.rest_positions
    velocities = np.zeros_like(X)
    for part in whole.slices:
        own = X[part.vertices]
        velocities[part.vertices] = np.cross([6.0, 3.0, 9.0], own - own.mean(axis=0))
    return whole.state_at(X, velocities)


def _energies(whole: Model, state: State) -> tuple[float, float]:
    """Return kinetic, elastic and potential energy above the lowest rest position, in sum; kinetic energy; J."""
    v, X = state.velocities, whole.mesh.rest_positions
    kinetic = 0.5 * float(np.sum(v * (whole.mass @ v)))
    stored = whole.elastic.value(whole.elastic.deformation(state.positions))
    height = state.positions[:, 2] - X[:, 2].min()
    return kinetic + stored + EARTH * float(whole.lumped_masses @ height), kinetic


def _of_contrast(case: str, words: str, scene: Scene, bar: float | None) -> Iterable[Row]:
    its = {}
    for solver in ("mixed_fem", "newton"):
        seen = watch(scene, 12, H, solver)
        its[solver] = seen.iterations
        yield row(case, f"frames with a crossing, {solver}{words}", seen.crossed, "", at_most=0)
        yield row(case, f"iterations a step, {solver}{words}", float(seen.iterations.mean()))
        capped = watch(scene, 12, H, solver, max_iterations=5)
        whole = seen.whole
        (all_there_was, _), *ends = (
            _energies(whole, each) for each in (seen.states[0], seen.states[-1], capped.states[-1])
        )
        totals, kinetic = zip(*ends)
        unsettled = sum(not report.converged for report in capped.reports)
        yield row(case, f"steps that did not settle when capped at 5, {solver}{words}", unsettled)
        off = abs(kinetic[1] / kinetic[0] - 1.0)
        yield row(case, f"kinetic energy off when capped at 5, {solver}{words}", off)
        asked, off = 0.01 if solver == "mixed_fem" else None, abs(totals[1] - totals[0]) / all_there_was
        yield row(
            case, f"all energy off when capped at 5, of all at the start, {solver}{words}", off, "", at_most=asked
        )
    for steps in (8, 12):
        part = float(its["mixed_fem"][:steps].sum() / its["newton"][:steps].sum())
        yield row(
            case,
            f"Mixed FEM's iterations over Newton's, {steps} steps{words}",
            part,
            "",
            at_most=bar if steps == 8 else None,
        )
