"""The paper's own step ([ConJac20] Figs. 3-4) and the improved one: twisted bar with 1 to 32 nodes, bar of slabs with
one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ...core.foundation.events import ignore
from ...core.foundation.schema.settings import SolverSettings
from ...core.methods.model.model import Model, build_model
from ...core.methods.solvers import make_solver
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..bodies import block, held_end, stiff_slabs
from ..pictures import Curve, Plot, Snapshot, draw
from ..registry import Case, Row, row
from ..released import (
    BAR,
    CHEAP,
    DENSITY,
    EARTH,
    NOWHERE,
    PAPER,
    POISSON,
    Motion,
    as_published,
    move,
    nearest,
    reference,
    statics,
    with_nodes,
)

SIZE, STEP, BETA = BAR[0], 0.005, 0.5
"""Lengths in m, steps in s, and the beta of the paper's dragon."""
PUBLISHED = {**PAPER, "damping_factor": BETA}
NODES = (1, 2, 4, 8, 16, 32)
TURN, MOVED = np.pi, 60
"""Rotation of the end, and the number of steps that it takes, followed by as many at rest."""
FRAMES = 24
COLUMN, SLABS = (0.1, 0.035, 0.035), 5
"""Proportions of *Hetero*: those of the bar of 34 x 12 x 12 cells of Table 1."""


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield the twist, first without nodes and slowly, and hetero."""
    yield Case("twist_statics", _twist_statics)
    yield Case("twist", _twist)
    yield Case("hetero", _hetero)


def _held_at_both_ends(E: float) -> tuple[Model, np.ndarray]:
    """Return the bar, and the mask of pins at the moving end."""
    mesh = block((16, 4, 4), BAR)
    x = mesh.rest_positions[:, 0]
    model = build_model(mesh, E, POISSON, DENSITY, pinned=np.flatnonzero((x < 1e-9) | (x > SIZE - 1e-9)))
    return model, model.mesh.rest_positions[model.pinned, 0] > 0.5 * SIZE


def _targets(model: Model, moves: np.ndarray, part: float) -> np.ndarray:
    """Return the targets of the pins (p,3): the far end rotated about the bar's axis by a fraction of the whole
    rotation, bent sideways and stretched by its thickness.
    """
    X = model.mesh.rest_positions[model.pinned]
    middle = np.array([SIZE, 0.5 * BAR[1], 0.5 * BAR[2]])
    turned = middle + Rotation.from_rotvec([TURN * part, 0.0, 0.0]).apply(X - middle) + part * BAR[1] * np.eye(3)[0]
    return np.where(moves[:, None], turned + 0.5 * part * BAR[1] * np.eye(3)[2], X)


def _twist_statics() -> Iterable[Row]:
    """Compare half a revolution in 24 frames without nodes, a step each, with statics of each frame."""
    warm_up(ignore)
    case = "twist_statics"
    model, moves = _held_at_both_ends(1e4)
    ways: dict[str, dict[str, Any]] = {
        "as published, gamma 1/3": PUBLISHED,
        "as published, gamma 1": {**PUBLISHED, "stabilization": 1.0},
        "ConJac, 1 correction": CHEAP,
        "ConJac, 3 corrections": {**CHEAP, "max_iterations": 3},
        "Mixed FEM in steps of 10 s, 2": {"solver": "mixed_fem", "max_iterations": 2},
    }
    true, start = [], model.state_at(statics(model))
    rest = make_solver(model, SolverSettings(solver="newton", gravity=NOWHERE, tolerance=1e-10, max_iterations=200))
    state = start
    for k in range(FRAMES):
        state, _report = rest.step(model.state_at(state.positions), _targets(model, moves, (k + 1) / FRAMES), 1e3)
        true.append(state.positions)
    curves = []
    for name, settings in ways.items():
        step = 10.0 if "10 s" in name else 1 / FRAMES
        carried = with_nodes(model, [])
        seen = move(carried, start, step, FRAMES, lambda t, s=step: _targets(model, moves, t / s / FRAMES), **settings)
        if seen.stopped:
            yield row(case, f"broke off, {name}", seen.stopped)
            continue
        off = np.linalg.norm(seen.positions[1:] - np.array(true), axis=2).max(axis=1) / SIZE
        yield row(case, f"farthest off statics, {name}", float(off.max()), "sizes")
        curves.append(Curve(name, np.arange(1, FRAMES + 1), off))
    draw("conjac", case, [Plot("off statics", "frame", "sizes", curves, log_y=True)])


def _twist() -> Iterable[Row]:
    """Rotate the bar's end by half a revolution, stretch and bend it in 0.3 s, then hold it for as long."""
    warm_up(ignore)
    case, finer = "twist", 3
    model, moves = _held_at_both_ends(1e4)
    start, count = model.rest_state(), 2 * MOVED

    def pins(t: float) -> np.ndarray:
        return _targets(model, moves, min(t / (MOVED * STEP), 1.0))

    truth = reference(model, start, STEP / finer, finer * count, pins).every(finer)
    errors: dict[str, list[float]] = {"as published": [], "ConJac": []}
    shots = [Snapshot("reference", truth.positions[MOVED], model.mesh.tets)]
    for nodes in NODES:
        carried = with_nodes(model, _between(model, nodes))
        for name, settings in {"as published": PUBLISHED, "ConJac": CHEAP}.items():
            seen = move(carried, start, STEP, count, pins, **settings)
            errors[name].append(np.nan if seen.stopped else seen.farthest(truth, SIZE))
            yield from _told(case, f"{name}, {nodes} nodes", seen, truth)
        if nodes in (1, 32) and not seen.stopped:
            shots.append(Snapshot(f"ConJac, {nodes} nodes", seen.positions[MOVED], model.mesh.tets))
    curves = [Curve(name, NODES, values, "o-") for name, values in errors.items()]
    draw("conjac", case, [Plot("farthest point off", "nodes", "sizes", curves, True, True), *shots])


def _between(model: Model, nodes: int) -> np.ndarray:
    """Return the nodes as the paper places them, inset from the pinned end."""
    X, centres = model.mesh.rest_positions, as_published(model, nodes)
    slices = nodes if nodes <= 4 else nodes // 4
    places = X[centres].copy()
    places[:, 0] *= slices / (slices + 1)
    return nearest(model, places)


def _told(case: str, name: str, seen: Motion, truth: Motion) -> Iterator[Row]:
    """Yield measures during the motion and after it; the reason if it was aborted."""
    if seen.stopped:
        yield row(case, f"broke off after, {name}", STEP * len(seen.seconds), "s")
        return
    yield row(case, f"kinetic energy / reference, {name}", seen.liveliness / truth.liveliness)
    still = slice(MOVED + 1, None)
    yield row(case, f"the same once the end stands, {name}", seen.kinetic[still].mean() / truth.kinetic[still].mean())
    yield row(case, f"farthest point off, {name}", seen.farthest(truth, SIZE), "sizes")


def _hetero() -> Iterable[Row]:
    """Simulate an upright bar held below, of three slabs of 1e6 Pa and two of 1e4 Pa between them, compressed by its
    weight; one node on top. One second with damping, so that it comes to rest. A bar of 15 cm would buckle.
    """
    warm_up(ignore)
    case = "hetero"
    mesh = block((20, 6, 6), COLUMN)
    E = stiff_slabs(mesh, 1e4, 1e6, SLABS)
    model = build_model(mesh, E, POISSON, DENSITY, pinned=held_end(mesh))
    gravity, up, size = (EARTH[2], 0.0, 0.0), (1.0, 0.0, 0.0), COLUMN[0]
    x = statics(model, gravity=gravity)
    carried = with_nodes(model, nearest(model, np.array([[size, 0.5 * COLUMN[1], 0.5 * COLUMN[2]]])))
    lower, upper = _bulges(model, x)
    yield row(case, "lower bulge, statics", lower)
    yield row(case, "lower bulge over upper, statics", lower / upper, "", at_least=1.0)
    shots = [Snapshot("statics", x, mesh.tets, E, up=up)]
    for name, settings in {"as published": PUBLISHED, "ConJac": CHEAP}.items():
        seen = move(carried, model.rest_state(), STEP, 200, gravity=gravity, mass_damping=20.0, **settings)
        if seen.stopped:
            yield row(case, f"broke off after, {name}", STEP * len(seen.seconds), "s")
            continue
        found = _bulges(model, seen.positions[-1])
        yield row(case, f"lower bulge over upper, {name}", found[0] / found[1], "", at_least=1.0)
        yield row(case, f"off statics, {name}", np.abs(seen.positions[-1] - x).max() / size, "sizes")
        shots.append(Snapshot(name, seen.positions[-1], mesh.tets, E, up=up))
    draw("conjac", case, shots)


def _bulges(model: Model, x: np.ndarray) -> list[float]:
    """Return the relative widening of each soft slab at its middle, from below."""
    across = model.mesh.rest_positions[:, 0] / COLUMN[0]
    slices = [np.abs(across - (k + 0.5) / SLABS) < 1e-9 for k in range(1, SLABS, 2)]
    return [float(np.ptp(x[slice_, 1]) / COLUMN[1] - 1.0) for slice_ in slices]
