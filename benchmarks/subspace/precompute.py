"""Precomputation of a subspace: time by parts and peak memory at half a million tets, 16 modes, 581 points (the size of
[SubMFEM23] Fig. 1).
"""

from __future__ import annotations

import cProfile
import pstats
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ...core.foundation.events import ignore
from ...core.foundation.process.process_memory import peak_memory
from ...core.methods.model.model import Model, build_model
from ...core.methods.subspaces.reduced_model import skinning_subspace
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..bodies import block, held_end
from ..pictures import Bars, draw
from ..processes import fresh
from ..registry import Case, Row, row

CELLS = (84, 33, 32)
"""532,224 tets and 95,370 vertices; the paper's mammoth has 531,565 and 98,175."""

MODES, POINTS = 16, 581
MINUTES, GIGABYTES = 3.0, 6.0
PARTS = 12
"""Number of functions reported."""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield one case, in a separate process."""
    yield Case("precompute", _precompute)


def _body() -> Model:
    """Return a beam of muscle with joints and bones across it: the mammoth's three stiffnesses."""
    mesh = block(CELLS, (4.0, 1.5, 1.5))
    place = mesh.rest_positions[mesh.tets].mean(axis=1)
    bone = np.linalg.norm(place[:, 1:] - 0.75, axis=1) < 0.3
    joint = np.abs(np.mod(place[:, 0], 1.0) - 0.5) < 0.08
    E = np.where(bone, np.where(joint, 5e5, 1e10), 1e5)
    return build_model(mesh, E, 0.45, 1e3, "fixed_corotated", pinned=held_end(mesh))


def measured() -> dict[str, Any]:
    """Return seconds, peak memory before and after in bytes, and cumulative seconds of the slowest functions of the
    subspace's packages.
    """
    model, before = _body(), peak_memory()
    profile = cProfile.Profile()
    start = time.perf_counter()
    space = profile.runcall(skinning_subspace, model, MODES, POINTS).model
    seconds = time.perf_counter() - start
    parts = {}
    for (file, _line, function), (_calls, _all, _own, whole, _callers) in pstats.Stats(profile).stats.items():
        if Path(file).parent.name in ("subspaces", "cubature") and not function.startswith("<"):
            parts[function] = parts.get(function, 0.0) + whole
    longest = sorted(parts, key=lambda function: -parts[function])[:PARTS]
    return {
        "vertices": len(model.mesh.rest_positions),
        "tets": len(model.mesh.tets),
        "points": len(space.elastic.weights),
        "seconds": seconds,
        "before": before,
        "peak": peak_memory(),
        "parts": {function: parts[function] for function in longest},
    }


def _precompute() -> Iterable[Row]:
    warm_up(ignore)  # so that the process compiles nothing
    told = fresh(measured)
    for what in ("vertices", "tets", "points"):
        yield row("precompute", what, told[what])
    yield row("precompute", "minutes", told["seconds"] / 60, "min", at_most=MINUTES)
    yield row("precompute", "peak memory", told["peak"] / 1e9, "GB", at_most=GIGABYTES)
    yield row("precompute", "of it before the subspace", told["before"] / 1e9, "GB")
    for function, seconds in told["parts"].items():
        yield row("precompute", f"in {function}", seconds, "s")
    parts = told["parts"]
    bars = Bars(f"{told['seconds']:.0f} s", "s, with what it calls", list(parts), {"": list(parts.values())})
    draw("subspace", "precompute", [bars])
