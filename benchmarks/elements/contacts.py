"""Iterations of Mixed FEM in the scenes of ``bench contact``: bodies of smoothed elements over bodies of plain tets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from ...core.methods.model.model import Model, elastic_potential
from ..contact.scenes import SCENES, STEPS
from ..meetings import Scene, watch
from ..pictures import Snapshot, draw
from ..registry import Case, Row, row
from .iterations import MOST_ITERATIONS


def cases(data: Path | None) -> Iterator[Case]:
    """Yield one case per scene."""
    for name, make in SCENES.items():
        yield Case(f"contact_{name}", partial(_compared, f"contact_{name}", make))


def smoothed(plain: Model) -> Model:
    """Return the model with smoothed elements of a model of plain tets."""
    old = plain.elastic
    new = elastic_potential(plain.mesh, old.parameters, old.energies, old.energy_index, smoothed=True)
    return replace(plain, elastic=new)


def _compared(case: str, make: Callable[[float, int], Scene]) -> Iterable[Row]:
    shots = []
    for words, (h, steps) in STEPS.items():
        taken, unsettled = {}, {}
        for kind in ("plain", "smoothed"):
            scene = make(h, steps)
            if kind == "smoothed":
                scene = replace(scene, bodies=[smoothed(each) for each in scene.bodies])
            seen = watch(scene, steps, h, "mixed_fem")
            taken[kind] = int(seen.iterations.sum())
            unsettled[kind] = sum(not report.converged for report in seen.reports)
            what = f"{words}, {kind}"
            yield row(
                case,
                f"{what}: iterations a step, mean and most",
                f"{seen.iterations.mean():.1f} ({max(seen.iterations)})",
            )
            yield row(case, f"{what}: frames with a crossing", seen.crossed, at_most=0)
            bar = unsettled["plain"] if kind == "smoothed" else None
            yield row(case, f"{what}: steps unconverged", unsettled[kind], at_most=bar)
            shots.append(Snapshot(what, seen.states[-1].positions, seen.whole.mesh.tets))
        yield row(case, f"{words}: iterations over plain", taken["smoothed"] / taken["plain"], at_most=MOST_ITERATIONS)
    draw("elements", case, shots)
