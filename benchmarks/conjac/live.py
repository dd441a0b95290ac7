"""Bar of some 10,000 tets, with four nodes or none, stepped as in live mode: time of a frame, by part."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...core.foundation.events import ignore
from ...core.geometry.mesh.topology import boundary_triangles
from ...core.jobs.job.job import Job
from ...core.simulation.frame_loop.compile_kernels import load_kernels, warm_up
from ...core.simulation.frame_loop.live import Grab, LiveBody
from ...core.simulation.preparation.prepare import Prepared, prepare
from ..bits.library import scene
from ..bodies import block, held_end
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row
from ..released import BAR, DENSITY, POISSON

E, CELLS, ACROSS = 1e5, (40, 12, 12), 20
"""Young's modulus, Pa; squares of the surface along each side; cells of the lattice along the bar."""
PLACES = np.array([[(k + 1) / 4, 0.5, 1.0] for k in range(4)]) * BAR
"""Positions of the nodes, on the upper side, m."""
FRAMES, PULLED, REACH, STRENGTH, REPEATS = 48, 24, 0.3, 40.0, 3
"""Number of frames, of first frames in which the tip is pulled up, by this fraction of the bar's length, stiffness of
the grab, N/m, and number of runs, of which the shortest frame is used.
"""
WAYS: dict[str, dict[str, int]] = {
    "as it is by itself": {},
    "one iteration": {"max_iterations": 1},
    "one iteration, 4 substeps": {"max_iterations": 1, "substeps": 4},
}


class Played(NamedTuple):
    """Seconds, iterations, and seconds of the reported parts, for each frame (f,)."""

    seconds: np.ndarray
    iterations: np.ndarray
    parts: dict[str, np.ndarray]


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield the bar."""
    yield Case("live", _live)


def _job(nodes: int, **settings: int) -> Job:
    """Return the bar, held at one end, with 0 or 4 nodes."""
    mesh = block(CELLS, BAR)
    used, triangles = np.unique(boundary_triangles(mesh.tets), return_inverse=True)
    X = mesh.rest_positions[used]
    pins = np.flatnonzero(np.isin(used, held_end(mesh)))
    found = [np.argmin(np.linalg.norm(X - place, axis=1)) for place in PLACES[:nodes]]
    return scene(
        (X, triangles.reshape(-1, 3)),
        FRAMES,
        materials=[{"youngs_modulus": E, "poissons_ratio": POISSON, "density": DENSITY}],
        pins=(pins, np.tile(X[pins], (FRAMES, 1, 1))),
        resolution={"cells_across": ACROSS},
        solver={"solver": "conjac", "max_iterations": 50, **settings},
        dynamic_nodes=np.array(found, dtype=np.int32),
    ).job.extended()


def _played(job: Job, prepared: Prepared) -> Played:
    """Pull the tip up and release it."""
    body, X = LiveBody(job, prepared), job.body.surface.positions
    tip, up = int(np.argmax(X @ [1.0, 0.0, 0.1])), np.array([0.0, 0.0, REACH * BAR[0]])
    shape = REPEATS, FRAMES - 1
    seconds, iterations, parts = np.zeros(shape), np.zeros(shape), {}
    for turn in range(REPEATS):
        body.reset()
        for k in range(FRAMES - 1):
            part = (k + 1) / PULLED
            grabs = [Grab(tip, X[tip] + part * up, STRENGTH)] if part < 1.0 else []
            began = time.perf_counter()
            frame = body.advance(grabs)
            prepared.surface(frame.state.positions, k)
            seconds[turn, k] = time.perf_counter() - began
            iterations[turn, k] = sum(report.iterations for report in frame.reports)
            for report in frame.reports:
                for name, spent in report.seconds.items():
                    parts.setdefault(name, np.zeros(shape))[turn, k] += spent
    return Played(seconds.min(axis=0), iterations[0], {name: spent.min(axis=0) for name, spent in parts.items()})


def _live() -> Iterable[Row]:
    """Simulate two seconds, the first half with a grab."""
    warm_up(ignore)
    case, curves = "live", []
    for nodes in (4, 0):
        for name, settings in WAYS.items():
            job = _job(nodes, **settings)
            load_kernels(job, live=True)
            prepared = prepare(job)
            if not curves:
                yield row(case, "tets", len(prepared.model.mesh.tets))
            of, seen = f"{nodes} nodes, {name}", _played(job, prepared)
            for moment, frames in (("in the hand", slice(0, PULLED - 1)), ("let go", slice(PULLED - 1, None))):
                yield row(case, f"a frame {moment}, {of}", 1e3 * float(np.median(seen.seconds[frames])), "ms")
            for part, spent in seen.parts.items():
                yield row(case, f"of all, {part}, {of}", float(spent.sum() / seen.seconds.sum()))
            yield row(case, f"longest frame, {of}", 1e3 * float(seen.seconds.max()), "ms")
            yield row(case, f"iterations a frame, {of}", float(seen.iterations.mean()))
            curves.append(Curve(of, np.arange(1, FRAMES), 1e3 * seen.seconds))
    draw("conjac", case, [Plot("a frame in live mode takes", "frame", "ms", curves, log_y=True)])
