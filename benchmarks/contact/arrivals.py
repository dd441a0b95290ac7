"""Pins and plates that press, jump and close reach their prescribed positions, or a blocked motion is reported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ..meetings import Scene, Watched, box, plate, watch
from ..registry import Case, Row, row

H = 0.01
STILL = {"gravity": (0.0, 0.0, 0.0), "max_iterations": 200}
CLOSED = np.concatenate([plate(0.0)[0], plate(0.104)[0]])
"""Plates 2 mm from a block of 10 cm."""


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield each case, with Mixed FEM."""
    yield Case("arrival_crusher", _crusher)
    yield Case("arrival_pins", _pins)
    yield Case("arrival_blocked", _blocked)
    yield Case("arrival_jump", _jump)
    yield Case("arrival_teleport", _teleport)


def _lowered(by: float) -> np.ndarray:
    return CLOSED - np.outer(np.arange(8) >= 4, [0.0, 0.0, by])


def _common(case: str, words: str, seen: Watched) -> Iterator[Row]:
    yield row(case, f"frames with a crossing{words}", seen.crossed, "", at_most=0)
    unsettled = sum(not report.converged for report in seen.reports)
    yield row(case, f"steps that did not settle{words}", unsettled, "", at_most=0)
    yield row(case, f"most of the way that is left{words}", max(report.blocked for report in seen.reports))


def _crusher() -> Iterable[Row]:
    case, scene = (
        "arrival_crusher",
        Scene(
            [box((0.0, 0.0, 0.002), (5, 5, 5))],
            [plate(0.0), plate(0.104)],
            places=lambda k: _lowered(0.06 * (k + 1) / 12),
        ),
    )
    seen = watch(scene, 12, H, "mixed_fem")
    yield from _common(case, "", seen)
    yield row(case, "iterations a step", float(seen.iterations.mean()), "", at_most=8)
    off = float(np.abs(seen.meeting.collider_positions - _lowered(0.06)).max())
    yield row(case, "plates off their targets", off, "m", at_most=0)


def _pins() -> Iterable[Row]:
    """Push a free block between two blocks that are held at their far ends."""
    case, end = "arrival_pins", 1e-9
    for way, steps in ((0.01, 6), (0.1, 1)):
        bodies = [
            box((0.0, 0.0, 0.0), pinned=lambda X: X[:, 0] < end),
            box((0.102, 0.0, 0.0)),
            box((0.204, 0.0, 0.0), pinned=lambda X: X[:, 0] > 0.1 - end),
        ]
        X = np.concatenate([each.mesh.rest_positions[each.pinned] for each in bodies])
        inwards = np.where(X[:, :1] < 0.1, 1.0, -1.0) * [1.0, 0.0, 0.0]
        scene = Scene(bodies, pins=lambda k, X, way=way, n=inwards: X + 0.5 * way * (k + 1) * n, settings=STILL)
        seen, words = watch(scene, steps, H, "mixed_fem"), f", {1e3 * way:g} mm a step"
        yield from _common(case, words, seen)
        yield row(
            case, f"iterations a step{words}", float(seen.iterations.mean()), "", at_most=9 if steps > 1 else None
        )
        targets = X + 0.5 * way * steps * inwards
        off = float(np.abs(seen.states[-1].positions[seen.whole.pinned] - targets).max())
        yield row(case, f"pins off their targets{words}", off, "m", at_most=0)


def _blocked() -> Iterable[Row]:
    """Lower a plate by 3 cm on a block whose top is pinned and whose bottom is free, without gravity; close two plates
    on one whose top and bottom are pinned.
    """
    case, first = "arrival_blocked", plate(0.104)
    body = box((0.0, 0.0, 0.002), pinned=lambda X: X[:, 2] > 0.1 - 1e-9)
    lowered = plate(0.074)[0]
    yield from _of_blocked(case, "", Scene([body], [first], places=lambda _k: lowered, settings=STILL))
    held = box((0.0, 0.0, 0.002), pinned=lambda X: np.abs(X[:, 2] - 0.05) > 0.05 - 1e-9)
    closed = np.concatenate([lowered, plate(0.03)[0]])
    scene = Scene([held], [first, plate(0.0)], places=lambda _k: closed, settings=STILL)
    yield from _of_blocked(case, ", by two plates", scene)


def _of_blocked(case: str, words: str, scene: Scene) -> Iterable[Row]:
    seen = watch(scene, 30, H, "mixed_fem")
    yield row(case, f"frames with a crossing{words}", seen.crossed, "", at_most=0)
    yield row(case, f"steps in which it is told{words}", sum(r.blocked > 0.0 for r in seen.reports), "", at_least=30)
    yield row(case, f"iterations of the first step{words}", int(seen.iterations[0]), "", at_most=10)
    yield row(case, f"most iterations of another{words}", int(seen.iterations[1:].max()), "", at_most=10)
    gap = float(seen.meeting.collider_positions[0, 2] - 0.102) / seen.meeting.barrier.dhat
    yield row(case, f"gap over the distance{words}", gap, "", at_least=0.3)
    drift = float(np.abs(seen.states[-1].positions - seen.states[10].positions).max())
    yield row(case, f"drift in 20 steps{words}", drift / 0.1, "sizes", at_most=1e-4)
    if len(scene.colliders) > 1:
        forces = -seen.meeting.barrier.gradient(seen.meeting.surface_positions(seen.states[-1].positions))
        upper, lower = (forces[-8:-4].sum(axis=0)[2], forces[-4:].sum(axis=0)[2])
        yield row(case, f"force on the upper plate{words}", upper, "N")
        yield row(case, f"the other one's over that, plus 1{words}", abs(lower / upper + 1.0), "", at_most=0.01)


def _jump() -> Iterable[Row]:
    """Move a plate in one step into the block, to half of its height and to 3 mm."""
    case = "arrival_jump"
    for by, words in ((0.054, ", to a half"), (0.101, ", to three millimetres")):
        scene = Scene(
            [box((0.0, 0.0, 0.002))], [plate(0.0), plate(0.104)], places=lambda _k, by=by: _lowered(by), settings=STILL
        )
        seen = watch(scene, 3, H, "mixed_fem")
        yield from _common(case, words, seen)
        yield row(case, f"iterations of the first step{words}", int(seen.iterations[0]), "", at_most=60)


def _teleport() -> Iterable[Row]:
    """Move a plate in one step from above a free block into its middle, and beyond it."""
    case = "arrival_teleport"
    for by, words in ((0.054, ", into"), (0.154, ", through")):
        scene = Scene(
            [box((0.0, 0.0, 0.0))], [plate(0.104)], places=lambda _k, by=by: plate(0.104 - by)[0], settings=STILL
        )
        seen = watch(scene, 3, H, "mixed_fem")
        yield from _common(case, words, seen)
        yield row(case, f"frames with a tet inside out{words}", seen.inverted)
        yield row(case, f"iterations of the first step{words}", int(seen.iterations[0]), "", at_most=60)
        told = seen.reports[0].blocked > 0.0 or bool((seen.meeting.collider_positions == plate(0.104 - by)[0]).all())
        yield row(case, f"arrived, or it is told{words}", int(told), "", at_least=1)
