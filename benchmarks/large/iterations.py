"""Iterations of a step with conjugate gradients and with a direct solver, in every scene and at every stiffness."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from ...core.foundation.events import ignore
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..crossings import forbidden
from ..meetings import Scene
from ..registry import Case, Row, row
from .scenes import SCENES, Played, boxes, hand

TETS, STEPS = 20_000, 8
SOLVERS = {"Mixed FEM": "mixed_fem", "Newton": "newton"}
STIFF = (1e5, 1e7, 1e9, 1e10)


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield each scene, and boxes and bones of increasing stiffness."""
    for name, make in SCENES.items():
        yield Case(f"iterations_{name}", partial(_counted, f"iterations_{name}", {"": make}))
    yield Case("iterations_boxes_stiff", partial(_counted, "iterations_boxes_stiff", _each(boxes, "stiffness")))
    yield Case("iterations_hand_stiff", partial(_counted, "iterations_hand_stiff", _each(hand, "bone")))


def _each(make: Callable[..., Scene], parameter: str) -> dict[str, Callable[[int], Scene]]:
    return {f"{parameter} {value:g} Pa, ": partial(make, **{parameter: value}) for value in STIFF}


def _counted(case: str, scenes: dict[str, Callable[[int], Scene]]) -> Iterable[Row]:
    """Take each step with both linear solvers from the same state, which is that of the direct solver."""
    warm_up(ignore)
    for words, make in scenes.items():
        for label, solver in SOLVERS.items():
            played = Played.of(make(TETS))
            routes = {route: played.solver(route, solver=solver) for route in ("cholmod", "pcg")}
            state = played.scene.state(played.whole)
            counts, unconverged, crossed = dict.fromkeys(routes, 0), dict.fromkeys(routes, 0), 0
            for number in range(STEPS):
                ends = {}
                for route, system in routes.items():
                    ends[route], report = played.step(system, state, number)
                    counts[route] += report.iterations
                    unconverged[route] += not report.converged
                surface = played.contact.surface_positions(ends["pcg"].positions)
                crossed += bool(len(forbidden(surface, played.contact.barrier.surfaces)))
                state = ends["cholmod"]
            what = f"{words}{label}"
            yield row(case, f"{what}: iterations a step, direct", counts["cholmod"] / STEPS)
            more = (counts["pcg"] - counts["cholmod"]) / STEPS
            yield row(case, f"{what}: more with conjugate gradients", more, "", at_most=1.0)
            worse = unconverged["pcg"] - unconverged["cholmod"]
            yield row(case, f"{what}: more steps unconverged", worse, "", at_most=0)
            yield row(case, f"{what}: steps with a crossing", crossed, "", at_most=0)
