"""First frequency of a cube with one node, on meshes of 4 to 16 cells per side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.linalg

from ...core.methods.eigenfit.vibrations import vibrations
from ...core.methods.model.model import Model, build_model
from ...core.methods.solvers.conjac_map import ConJacMap
from ...core.numerics.linear_solvers.elastic_system import ElasticSystem
from ...core.numerics.linear_solvers.registry import AUTOMATIC, choose
from ..bodies import block, held_end
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row
from ..released import nearest, with_nodes

SIDE, CELLS = 0.1, (4, 8, 12, 16)
STEP, WEIGHT = 0.005, 1e-9


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield the only case."""
    yield Case("cube", _cube)


def carried_frequencies(model: Model) -> np.ndarray:
    """Return the frequencies, Hz, ascending, of a body at rest that moves by J only: of ``J^T K J`` and ``J^T M J``."""
    x, nodes = model.mesh.rest_positions, model.nodes
    held = np.union1d(model.pinned, nodes.centres).astype(np.int64)
    body = replace(model, masses=WEIGHT * model.masses, pinned=held).body
    system = ElasticSystem(body, choose(AUTOMATIC, body))
    system.assemble_tangent(model.elastic.tangent(model.elastic.deformation(x)), STEP**2, x)
    system.factorize()
    map_ = ConJacMap(system, model.mesh.tets, nodes, model.pinned)
    flat = map_.J.reshape(len(x), -1)
    mass = np.tensordot(map_.J, (model.mass @ flat).reshape(map_.J.shape), axes=((0, 1), (0, 1)))
    squares = scipy.linalg.eigh(map_.stiffness, mass, eigvals_only=True)
    return np.sqrt(np.maximum(squares, 0.0)) / STEP / (2.0 * np.pi)


def _cube() -> Iterable[Row]:
    """Hold one face, with the node in the middle of the opposite one."""
    found: dict[str, list[float]] = {"all vertices": [], "a ball": [], "a single vertex": []}
    for cells in CELLS:
        mesh = block((cells,) * 3, (SIDE,) * 3)
        model = build_model(mesh, 1e4, 0.4, 1e3, pinned=held_end(mesh))
        centre = nearest(model, np.array([[SIDE, 0.5 * SIDE, 0.5 * SIDE]]))
        true = float(vibrations(model, 1).frequencies[0])
        ball, single = (float(carried_frequencies(with_nodes(model, centre, each))[0]) for each in (False, True))
        for name, value in zip(found, (true, ball, single)):
            found[name].append(value)
        bar = 1.04 if cells >= 8 else 1.07
        yield row("cube", f"first frequency of all vertices, {cells} cells", true, "Hz")
        yield row("cube", f"over that, a ball, {cells} cells", ball / true, "", at_most=bar)
        yield row("cube", f"over that, a single vertex, {cells} cells", single / true)
    curves = [Curve(name, CELLS, values, "o-") for name, values in found.items()]
    draw("conjac", "cube", [Plot("first frequency", "cells a side", "Hz", curves)])
