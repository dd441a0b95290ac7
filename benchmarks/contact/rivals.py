"""Stack of five and hairpin, compared with MuJoCo's flex and Blender's Soft Body and Cloth: crossings and time."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from ...core.foundation.events import ignore
from ...core.geometry.mesh.topology import boundary_triangles
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..crossings import crossings
from ..meetings import Scene, watch
from ..pictures import Snapshot, draw
from ..processes import ask, python_with
from ..registry import Case, Row, row
from . import scenes

FRAMES, H = 48, 1.0 / 24.0
STIFFNESS = {"stack": 1e5, "hairpin": 5e4}
"""Young's modulus of the scenes' bodies, Pa; Poisson's ratio is 0.4, friction 0.3."""

RADIUS = 1e-3
"""Contact distance of MuJoCo's vertices, m."""

MUJOCO = {"10 steps a frame": 10, "40 steps a frame": 40}
BLENDER = {"Soft Body": 20, "Cloth": 10}
"""Minimum steps per frame, and quality."""


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield both scenes."""
    for name in STIFFNESS:
        yield Case(f"rivals_{name}", partial(_compared, name))


def _compared(name: str) -> Iterable[Row]:
    """Compare two seconds of frames of 1/24 s, ours in one step each, by processor time."""
    warm_up(ignore)
    case, scene = f"rivals_{name}", getattr(scenes, name)(H, FRAMES)
    seconds, frames = _ours(scene)
    yield from _told(case, "ours", scene, seconds, frames)
    shots = [Snapshot("ours", frames[-1], _tets(scene))]
    for words, found in _rivals(name, scene):
        if found is None:
            yield row(case, f"{words} is not installed: skipped", float("nan"))
            continue
        yield from _told(case, words, scene, found["seconds"], found["positions"])
        yield row(
            case, f"processor time over ours, median, {words}", float(np.median(found["seconds"]) / np.median(seconds))
        )
        shots.append(Snapshot(words, np.nan_to_num(found["positions"][-1]), _tets(scene)))
    draw("contact", case, shots)


def _ours(scene: Scene) -> tuple[np.ndarray, np.ndarray]:
    """Return processor seconds of each frame, and all vertices in each."""
    seen = watch(scene, FRAMES, H, "mixed_fem")
    return np.array(seen.processor), np.array([state.positions for state in seen.states])


def _tets(scene: Scene) -> np.ndarray:
    starts = np.cumsum([0, *(len(each.mesh.rest_positions) for each in scene.bodies)])
    return np.concatenate([each.mesh.tets + start for each, start in zip(scene.bodies, starts)])


def _body(scene: Scene) -> np.ndarray:
    """Return for each vertex the number of its body."""
    return np.repeat(np.arange(len(scene.bodies)), [len(each.mesh.rest_positions) for each in scene.bodies])


def _heights(scene: Scene) -> np.ndarray:
    """Return the heights of the upper plate at the first frame and each one after it; nothing without one."""
    if len(scene.colliders) < 2:
        return np.zeros(0)
    return np.array([scene.colliders[1][0][0, 2], *(scene.places(k)[4, 2] for k in range(FRAMES))])


def _rivals(name: str, scene: Scene) -> Iterator[tuple[str, dict[str, np.ndarray] | None]]:
    X = np.concatenate([each.mesh.rest_positions for each in scene.bodies])
    tets, body = _tets(scene), _body(scene)
    common = {
        "frames": FRAMES,
        "heights": _heights(scene),
        "friction": scene.friction,
        "selves": len(scene.selves),
    }
    python = python_with("mujoco")
    masses = np.concatenate([each.lumped_masses for each in scene.bodies])
    for words, substeps in MUJOCO.items():
        question = common | {
            "positions": X,
            "tets": tets,
            "body": body,
            "masses": masses,
            "youngs_modulus": STIFFNESS[name],
            "poissons_ratio": 0.4,
            "damping": 0.0,
            "radius": RADIUS,
            "time_step": H / substeps,
            "substeps": substeps,
            "iterations": 100,
        }
        yield f"MuJoCo, {words}", None if python is None else ask(python, "mujoco_meeting.py", question)
    faces = boundary_triangles(tets)
    kept = np.unique(faces)
    for kind, substeps in BLENDER.items():
        if find_spec("bpy") is None:
            yield f"Blender ({kind})", None
            continue
        question = common | {
            "positions": X[kept],
            "faces": np.searchsorted(kept, faces),
            "mass": float(masses.sum()),
            "substeps": substeps,
            "kind": kind,
        }
        found = ask(sys.executable, "blender_meeting.py", question)
        whole = np.tile(X, (len(found["positions"]), 1, 1))
        whole[:, kept] = found["positions"]
        yield f"Blender's {kind}", found | {"positions": whole}


def _told(case: str, words: str, scene: Scene, seconds: np.ndarray, frames: np.ndarray) -> Iterator[Row]:
    """Yield the numbers of frames with intersections of bodies or self-contact surfaces, and with plates."""
    faces, body, heights = boundary_triangles(_tets(scene)), _body(scene), _heights(scene)
    kept, crossed, beyond, deepest = np.unique(faces), 0, 0, 0.0
    for k, x in enumerate(frames):
        if not np.isfinite(x).all():
            crossed, beyond = crossed + 1, beyond + 1
            continue
        found = crossings(x, faces)
        one, other = body[found[:, 0]], body[faces[found[:, 2], 0]]
        crossed += bool(((one != other) | np.isin(one, scene.selves)).any())
        below = max(0.0, -float(x[kept, 2].min()))
        above = max(0.0, float(x[kept, 2].max()) - heights[k]) if len(heights) else 0.0
        deepest = max(deepest, below, above)
        beyond += bool(below > 0.0 or above > 0.0)
    bar = 0 if words == "ours" else None
    yield row(case, f"frames in which bodies cross, of {len(frames)}, {words}", crossed, "", at_most=bar)
    yield row(case, f"frames in which plates are crossed, {words}", beyond, "", at_most=bar)
    yield row(case, f"deepest in a plate, {words}", deepest, "m")
    yield row(case, f"processor ms a frame, median, {words}", 1e3 * float(np.median(seconds)), "ms")
    yield row(case, f"processor ms a frame, most, {words}", 1e3 * float(seconds.max()), "ms")
    height = float(np.ptp(frames[-1][kept, 2]) / np.ptp(frames[0][kept, 2]))
    yield row(case, f"height at the end, of the first, {words}", height)
