"""Stack of five and hairpin, compared with MuJoCo's flex and Blender's Soft Body and Cloth: crossings and time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from ...core.foundation.events import ignore
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..meetings import Scene, watch
from ..pictures import Snapshot, draw
from ..processes import python_with
from ..registry import Case, Row, row
from . import scenes
from .peers import Answer, Peers

FRAMES, H = 48, 1.0 / 24.0

RADIUS = 1e-3
"""Contact distance of MuJoCo's vertices, m."""

MUJOCO = {"10 steps a frame": 10, "40 steps a frame": 40}
BLENDER = {"Soft Body": 20, "Cloth": 10}
"""Minimum steps per frame, and quality."""


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield both scenes."""
    for name in ("stack", "hairpin"):
        yield Case(f"rivals_{name}", partial(_compared, name))


def _compared(name: str) -> Iterable[Row]:
    """Compare two seconds of frames of 1/24 s, ours in one step each, by processor time."""
    warm_up(ignore)
    case, scene = f"rivals_{name}", getattr(scenes, name)(H, FRAMES)
    peers, ours = Peers(scene, FRAMES, H), _ours(scene)
    yield from peers.rows(case, "ours", ours, bar=0)
    shots = [Snapshot("ours", ours["positions"][-1], peers.tets)]
    for words, found in _rivals(peers):
        if found is None:
            yield row(case, f"{words} is not installed: skipped", float("nan"))
            continue
        yield from peers.rows(case, words, found)
        ratio = float(np.median(found["seconds"]) / np.median(ours["seconds"]))
        yield row(case, f"processor time over ours, median, {words}", ratio)
        shots.append(Snapshot(words, np.nan_to_num(found["positions"][-1]), peers.tets))
    draw("contact", case, shots)


def _ours(scene: Scene) -> Answer:
    seen = watch(scene, FRAMES, H, "mixed_fem")
    return {"seconds": np.array(seen.processor), "positions": np.array([state.positions for state in seen.states])}


def _rivals(peers: Peers) -> Iterator[tuple[str, Answer | None]]:
    python, has_blender = python_with("mujoco"), find_spec("bpy") is not None
    for words, substeps in MUJOCO.items():
        yield f"MuJoCo, {words}", python and peers.mujoco(python, substeps, radius=RADIUS, iterations=100, material=0)
    for kind, substeps in BLENDER.items():
        yield f"Blender's {kind}", peers.blender(kind, substeps, ball=0.01) if has_blender else None
