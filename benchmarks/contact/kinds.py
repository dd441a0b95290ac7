"""Intersection-free scenes with the other solvers that support contact: Linearly Implicit, ConJac with nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from ...core.methods.model.model import Model
from ...core.methods.model.nodes import node_regions
from ..meetings import Scene, watch
from ..pictures import Snapshot, draw
from ..registry import Case, Row, row
from .scenes import SCENES, STEPS

FEWEST = 4
"""Number of nodes of the first body; each next one has one more."""


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield each scene, with steps of both lengths."""
    for name, make in SCENES.items():
        yield Case(f"kinds_{name}", partial(_watched, f"kinds_{name}", make))


def carried(model: Model, count: int) -> Model:
    """Return the model with ``count`` nodes by farthest-point sampling from the middle."""
    X = model.mesh.rest_positions
    free = np.setdiff1d(np.arange(len(X)), model.pinned)
    away, chosen = np.linalg.norm(X[free] - X.mean(axis=0), axis=1), []
    for _ in range(count):
        chosen.append(int(free[np.argmax(away)]))
        near = np.linalg.norm(X[free] - X[chosen[-1]], axis=1)
        away = near if len(chosen) == 1 else np.minimum(away, near)
    return replace(model, nodes=node_regions(model.mesh, np.sort(chosen), model.pinned))


def _watched(case: str, make: Callable[[float, int], Scene]) -> Iterable[Row]:
    shots = []
    for words, (h, steps) in STEPS.items():
        scene = make(h, steps)
        nodes = [carried(each, FEWEST + k) for k, each in enumerate(scene.bodies)]
        for solver, bodies in (("linearly_implicit", scene.bodies), ("conjac", nodes)):
            seen = watch(replace(scene, bodies=bodies), steps, h, solver)
            yield row(case, f"frames with a crossing, {solver}, {words}", seen.crossed, "", at_most=0)
            yield row(case, f"frames with a tet inside out, {solver}, {words}", seen.inverted)
            loose = [report.reason for report in seen.reports if not report.converged]
            yield row(case, f"steps that did not converge, {solver}, {words}", len(loose))
            if solver == "linearly_implicit":
                left = sum("left an error" in reason for reason in loose)
                yield row(case, f"of these, since elasticity was asked once, {solver}, {words}", left)
            yield row(case, f"iterations a step, {solver}, {words}", float(seen.iterations.mean()))
            yield row(case, f"most iterations, {solver}, {words}", int(seen.iterations.max()))
            shots.append(Snapshot(f"{solver}, {words}", seen.states[-1].positions, seen.whole.mesh.tets))
    draw("contact", case, shots)
