"""Polishing on all vertices: a ball on a spike, and a ball with tendrils (Figs. 11, 15)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ...core.methods.model.model import build_model
from ..creatures import carved
from ..meetings import Scene
from ..pictures import Snapshot, draw
from ..registry import Case, Row, row
from .bodies import SCENES, moment_of, thrown

PUBLISHED = {"solver": "multilevel_published", "subspace_tolerance": 1e-3}


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield one case per figure."""
    yield Case("polishing_spike", spike)
    yield Case("polishing_kooshball", kooshball)


def spike() -> Iterable[Row]:
    """Compare the depth of a dent with and without polishing: 64 handles, a ball that falls on a pinned spike."""
    case = "polishing_spike"
    ball_mesh = carved((-0.105,) * 3, (0.105,) * 3, 0.0105, lambda p: np.linalg.norm(p, axis=1) < 0.1)
    thorn = carved((-0.04, -0.04, 0.0), (0.04, 0.04, 0.1), 0.005, lambda p: np.hypot(*p.T[:2]) < 0.035 - 0.3 * p[:, 2])
    tip = thorn.rest_positions[:, 2].max()
    mesh = type(ball_mesh)(ball_mesh.rest_positions + [0.0, 0.0, tip + 0.1 + 0.004], ball_mesh.tets)
    fixed = build_model(thorn, 1e8, 0.4, 1e3, pinned=np.flatnonzero(thorn.rest_positions[:, 2] < 0.03))
    soft = build_model(mesh, 5e4, 0.4, 1e3)
    moment = moment_of(Scene([fixed, soft], (), 0.1, state=thrown(4.0, 1)), 0)
    first = moment.whole.slices[1].vertices
    under = first.start + int(np.argmin(np.linalg.norm(mesh.rest_positions - [0.0, 0.0, tip], axis=1)))
    ends = {"full space": moment.advanced(solver="newton", tolerance=1e-7)[0].positions}
    for words, settings in (("polished", {}), ("not polished", {"polished": False})):
        ends[words] = moment.advanced(handles=64, subspace_tolerance=1e-5, solver=PUBLISHED["solver"], **settings)[
            0
        ].positions
    depths = {words: float((x[under] - x[first].mean(axis=0))[2]) for words, x in ends.items()}
    rest = float((moment.state.positions[under] - moment.state.positions[first].mean(axis=0))[2])
    for words in ("polished", "not polished"):
        yield row(
            case,
            f"depth of the dent over the full space's, {words}",
            (depths[words] - rest) / (depths["full space"] - rest),
        )
        error = np.linalg.norm(ends[words] - ends["full space"], axis=1).max() / moment.diagonal
        yield row(case, f"largest error over the diagonal, {words}", float(error))
    draw("multilevel", case, [Snapshot(words, x, moment.whole.mesh.tets) for words, x in ends.items()])


def kooshball() -> Iterable[Row]:
    """Compare numbers of polishing iterations in a step of the ball with tendrils."""
    case = "polishing_kooshball"
    moment = moment_of(SCENES["kooshball"](20_000), 2)
    full, _report, cost, _solver = moment.advanced(solver="newton", linear_solver="cholmod", tolerance=1e-7)
    _same, _report, cost, _solver = moment.advanced(solver="newton", linear_solver="cholmod")
    yield row(case, "tets", len(moment.whole.mesh.tets))
    for polishing in (10, 40, 160):
        end, report, seconds, _solver = moment.advanced(polishing=polishing, handles=64, **PUBLISHED)
        error = np.linalg.norm(end.positions - full.positions, axis=1).max() / moment.diagonal
        yield row(case, f"Newton iterations, {polishing} polishing", report.iterations)
        yield row(case, f"time over Newton's with CHOLMOD, {polishing} polishing", seconds / cost)
        yield row(case, f"largest error over the diagonal, {polishing} polishing", float(error))
    draw("multilevel", case, [Snapshot("full space", full.positions, moment.whole.mesh.tets)])
