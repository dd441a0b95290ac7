"""Rows of [MFEM22] Table 1: milliseconds per iteration, compared with the paper's (eight cores, its bodies)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...core.foundation.events import ignore
from ...core.geometry.mesh.tet_mesh import TetMesh
from ...core.methods.model.model import Model, build_model
from ...core.methods.model.state import State
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..bodies import bent, block, has, held_end, load
from ..measures import iteration_cost
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row


class _Entry(NamedTuple):
    """A row of the table, and its body: a file, or a beam with about as many tets."""

    name: str
    energy: str
    youngs_modulus: float
    paper: tuple[float, float, float, float]  # ms: assembly, global solve, local solve, line search
    tets: int
    file: str
    cells: tuple[int, int, int]
    stiff: float | None = None


_SNH = "stable_neo_hookean"
_TABLE = (
    _Entry("astronaut", _SNH, 2e4, (111.46, 222.93, 10.57, 19.13), 39270, "", (45, 12, 12)),
    _Entry("boat", _SNH, 1e5, (31.66, 36.17, 3.17, 4.91), 11295, "boat", (30, 8, 8)),
    _Entry("gummy bear", _SNH, 6e4, (32.11, 218.57, 3.68, 39.34), 24393, "gummy_bear", (40, 10, 10), 1e14),
    _Entry("bunny", _SNH, 3e4, (5.23, 12.23, 0.31, 1.17), 2274, "coarse_bunny", (15, 5, 5)),
    _Entry("gecko", _SNH, 1e12, (42.68, 46.23, 4.09, 6.46), 11552, "", (30, 8, 8)),
    _Entry("virus", "fixed_corotated", 1e6, (32.77, 37.46, 2.90, 5.32), 13342, "virus", (35, 8, 8)),
    _Entry("beam twist", "fixed_corotated", 1e6, (248.834, 976.70, 21.13, 33.93), 100793, "", (66, 16, 16)),
    _Entry("beam stretch", _SNH, 1e6, (71.60, 127.59, 5.97, 8.97), 23701, "beam_5k", (40, 10, 10)),
    _Entry("dragon", _SNH, 1e5, (286.55, 828.36, 29.50, 41.52), 120045, "", (78, 16, 16)),
)
_COLUMNS = {
    "assembly": ("assembly",),
    "global solve": ("factorization", "solve"),
    "local solve": ("local",),
    "line search": ("line_search",),
}


def cases(data: Path | None) -> Iterator[Case]:
    """Yield one case for the table."""
    yield Case("table_1", lambda: _table(data))


def _table(data: Path | None) -> Iterable[Row]:
    warm_up(ignore)
    ours, theirs = [], []
    for entry in _TABLE:
        model, state = _body(data, entry)
        (cost,) = iteration_cost(model, state, ("mixed_fem",), 3)
        yield row("table_1", f"{entry.name}: tets (paper {entry.tets})", len(model.mesh.tets))
        for (column, parts), paper in zip(_COLUMNS.items(), entry.paper):
            seconds = sum(cost.parts[part] for part in parts)
            yield row("table_1", f"{entry.name}: {column} (paper {paper:g})", 1e3 * seconds, "ms")
        ours.append((len(model.mesh.tets), 1e3 * cost.whole))
        theirs.append((entry.tets, sum(entry.paper)))
        yield row("table_1", f"{entry.name}: iteration (paper {theirs[-1][1]:.1f})", ours[-1][1], "ms")
    curves = [Curve("ours, two cores", *zip(*sorted(ours)), "C1o"), Curve("paper, eight cores", *zip(*theirs), "C7s")]
    draw("full-space", "table_1", [Plot("an iteration (Table 1)", "tets", "ms", curves, True, True)])


def _body(data: Path | None, entry: _Entry) -> tuple[Model, State]:
    if entry.file and has(data, entry.file):
        body = load(data, entry.file)
        mesh = TetMesh(body["vertices"], body["tets"])
        pinned = body.get("pinned", held_end(mesh))
        stiff_part = body.get("material_ids", np.zeros(len(mesh.tets))) == 1
    else:
        mesh = block(entry.cells, (4.0, 1.0, 1.0))
        pinned = held_end(mesh)
        stiff_part = mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0] > 3.0
    E = entry.youngs_modulus if entry.stiff is None else np.where(stiff_part, entry.stiff, entry.youngs_modulus)
    model = build_model(mesh, E, 0.45, 1e3, entry.energy, pinned=pinned)
    return model, bent(model)
