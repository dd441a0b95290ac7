"""Iterations a step of a bone inside flesh, against surface pins that follow the same bone."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from ...core.jobs.job.job import Job
from ...core.simulation.frame_loop.single_body import simulate_body
from ...core.simulation.preparation.prepare import prepare
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row
from .bones import limb, rigid_bone, with_surface_pins

SOLVERS = {"newton": {}, "mixed_fem": {}, "subspace_mixed_fem": {"modes": 8}}
CAP, TOLERANCE = 60, 1e-5


def cases(data: Path | None) -> Iterator[Case]:
    """Yield one case per solver."""
    for solver in SOLVERS:
        yield Case(f"iterations_{solver}", partial(_iterations, solver))


def _iterations(solver: str) -> Iterator[Row]:
    case, settings = f"iterations_{solver}", {"max_iterations": CAP, "tolerance": TOLERANCE, **SOLVERS[solver]}
    job = limb(solver, rigid_bone(), **settings)
    curves = []
    for name, each in (("region", job), ("surface pins", with_surface_pins(job))):
        counts = _counts(each)
        curves.append(Curve(name, np.arange(1, len(counts) + 1), counts))
        yield row(case, f"{name}: iterations a step, mean", float(counts.mean()))
        yield row(case, f"{name}: iterations a step, most", int(counts.max()))
    ratio = float(curves[0].y.mean() / curves[1].y.mean())
    yield row(case, "region over surface pins", ratio, at_most=1.5)
    draw("attached", case, [Plot(solver, "step", "iterations", curves)])


def _counts(job: Job) -> np.ndarray:
    return np.array([r.iterations for frame in simulate_body(job, prepare(job)) for r in frame.reports])
