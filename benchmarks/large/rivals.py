"""Large scenes beside IPC, MuJoCo's flex, Newton's VBD and Blender's Soft Body: crossings, error and time."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ...core.foundation.events import ignore
from ...core.foundation.schema.settings import SolverSettings
from ...core.geometry.mesh.topology import boundary_triangles
from ...core.mechanics.materials.lame import lame_parameters
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..contact.peers import RATIO, Answer, Peers
from ..meetings import Scene
from ..pictures import Snapshot, draw
from ..processes import ask, python_with
from ..registry import Case, Row, row
from .scenes import SCENES, H, Played

SIZES = {"5k": 5_000, "20k": 20_000}
NAMES = ("jelly", "slabs")
FRAMES = 20
"""Number of frames of ``H`` s."""

EXACT = {"tolerance": 1e-7, "max_iterations": 400}
FINE = 8
"""Steps a frame of the reference of errors in time."""

STRIDE = 4
"""Frames whose positions are compared are those at multiples of this number."""

OURS = {
    "1 step": {},
    "1 step, smoothed elements": {"is_smoothed": True},
    "4 frames a step": {"stride": STRIDE},
    "4 steps": {"steps": 4},
}
IPC = {"1 step": 1e-2, "1 step, 1e-3": 1e-3}
"""Tolerance ``eps_d``, 1/s, whose default in [IPC20] is 1e-2."""

MUJOCO = {"1 step": (1, 100), "4 steps": (4, 100), "16 steps": (16, 1000)}
"""Steps a frame, and largest number of iterations a step; also in VBD."""
VBD = {"1 step": (1, 10), "4 steps": (4, 25)}
CONTACT_STIFFNESS = 1e4
"""Stiffness of VBD's contacts, N/m."""
SOFT_BODY = {"20 steps": 20, "100 steps": 100}


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield two scenes at two sizes, and the agreement with IPC's method."""
    for name in NAMES:
        for size in SIZES:
            yield Case(f"large_rivals_{name}_{size}", partial(_compared, name, size))
    yield Case("large_rivals_agree", _agreement)


def _compared(name: str, size: str) -> Iterable[Row]:
    """Compare plain tets of Stable Neo-Hookean in all methods but Blender's."""
    warm_up(ignore)
    case, scene = f"large_rivals_{name}_{size}", SCENES[name](SIZES[size])
    peers = Peers(scene, FRAMES, H)
    yield row(case, "tets", len(peers.tets))
    same, fine = _ours(scene, **EXACT), _ours(scene, steps=FINE, **EXACT)
    seconds, shots = 0.0, []
    for words, found in _answers(scene, peers):
        if found is None:
            yield row(case, f"{words} is not installed: skipped", float("nan"))
            continue
        seconds = seconds or float(found["seconds"].sum())
        yield from peers.rows(case, words, found, bar=0 if "ours" in words else None)
        yield row(case, f"processor time over ours, {words}", float(found["seconds"].sum()) / seconds)
        if words.startswith(("ours, 1 step", "IPC")):
            yield from _errors(case, f"beside converged steps, {words}", peers, found, same)
        yield from _errors(case, f"in time, {words}", peers, found, fine)
        for part in ("iterations", "linear", "contact", "elastic", "warnings"):
            if part in found:
                yield row(case, f"{part} a frame, {words}", float(found[part].sum()) / FRAMES)
        shots.append(Snapshot(words, np.nan_to_num(found["positions"][-1]), peers.tets))
    draw("large", case, shots)


def _answers(scene: Scene, peers: Peers) -> Iterator[tuple[str, Answer | None]]:
    """Yield each method with each of its settings, ours first; None if it is not installed."""
    for words, settings in OURS.items():
        yield f"ours, {words}", _ours(scene, **settings)
    for words, eps_d in IPC.items():
        yield f"IPC, {words}", _ipc(scene, eps_d)
    radius = 0.5 * Played.of(scene).contact.barrier.dhat
    if (python := python_with("mujoco")) is None:
        yield "MuJoCo", None
    for words, (steps, iterations) in MUJOCO.items() if python else ():
        yield f"MuJoCo, {words}", peers.mujoco(python, steps, radius=radius, iterations=iterations, material=1)
    if (python := python_with("newton")) is None:
        yield "Newton", None
    for words, (steps, iterations) in VBD.items() if python else ():
        contact = {"radius": radius, "contact_stiffness": CONTACT_STIFFNESS}
        yield f"VBD, {words}", peers.newton(python, steps, iterations=iterations, **contact)
    for words, steps in SOFT_BODY.items() if find_spec("bpy") else ():
        yield f"Soft Body, {words}", peers.blender("Soft Body", steps, ball=radius)


def _ours(
    scene: Scene, frames: int = FRAMES, stride: int = 1, steps: int = 1, is_smoothed: bool = False, **settings: Any
) -> Answer:
    """Return positions, processor seconds and iterations of frames, every ``stride`` of them in ``steps`` steps."""
    played = Played.of(scene, is_smoothed)
    solver, state = played.solver(**settings), played.scene.state(played.whole)
    positions, seconds, iterations = [state.positions], [], []
    for _ in range(frames // stride):
        start, count = time.process_time(), 0
        for _ in range(steps):
            state, report = played.step(solver, state, 0, stride * H / steps)
            count += report.iterations
        seconds += [(time.process_time() - start) / stride] * stride
        iterations.append(count)
        positions += [state.positions] * stride
    return {"positions": np.array(positions), "seconds": np.array(seconds), "iterations": np.array(iterations)}


def _ipc(scene: Scene, eps_d: float, frames: int = FRAMES) -> Answer:
    """Return the same of IPC's Newton method, with our barrier's distance and pressure and our stiction speed."""
    played = Played.of(scene, is_smoothed=False)
    barrier, whole = played.contact.barrier, played.whole
    mu, lam = lame_parameters(whole.youngs_modulus, RATIO)
    question = {
        "rest_positions": whole.mesh.rest_positions,
        "tets": whole.mesh.tets,
        "mu": mu,
        "lam": lam,
        "mass_data": whole.mass.data,
        "mass_indices": whole.mass.indices,
        "mass_indptr": whole.mass.indptr,
        "gravity": np.array(SolverSettings().gravity),
        "vertices": np.unique(boundary_triangles(whole.mesh.tets)),
        "surface_rest": barrier.surfaces.rest_positions,
        "faces": barrier.surfaces.faces,
        "body_ids": barrier.surfaces.body_ids,
        "obstacles": played.contact.collider_positions,
        "dhat": barrier.dhat,
        "stiffness": barrier.stiffness,
        "friction": scene.friction,
        "eps_v": barrier.eps_v,
        "time_step": H,
        "frames": frames,
        "eps_d": eps_d,
        "iterations": 1000,
    }
    return ask(sys.executable, "ipc_newton.py", question, blas_threads=1)


def _errors(case: str, words: str, peers: Peers, found: Answer, exact: Answer) -> Iterator[Row]:
    """Yield the distance of surface vertices, of the scene's size: root of the mean square, and the largest."""
    size = float(np.ptp(peers.X, axis=0).max())
    one, other = (each["positions"][STRIDE::STRIDE, peers.surface] for each in (found, exact))
    apart = np.linalg.norm(one - other, axis=2) / size
    yield row(case, f"error {words}", float(np.sqrt(np.mean(apart**2))))
    yield row(case, f"largest error {words}", float(apart.max()))


def _agreement() -> Iterable[Row]:
    """Compare both methods without friction, whose lag differs, as both converge."""
    warm_up(ignore)
    case = "large_rivals_agree"
    for name in NAMES:
        scene = replace(SCENES[name](SIZES["5k"]), friction=0.0)
        ends = [found["positions"][-1] for found in (_ours(scene, 10, **EXACT), _ipc(scene, 1e-6, 10))]
        apart = float(np.abs(ends[0] - ends[1]).max() / np.ptp(ends[0], axis=0).max())
        yield row(case, f"ours and IPC after 10 steps, of the size, {name}", apart, "", at_most=1e-6)
