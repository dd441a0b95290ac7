"""Sparse handles against skinning modes in a subspace, at equal unknowns: dents and bending."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse.linalg as linalg

from ...core.methods.model.model import build_model
from ...core.methods.subspaces.skinning import Coordinates
from ...core.methods.subspaces.skinning_basis import orthonormal, skinning_columns
from ...core.methods.subspaces.skinning_modes import skinning_modes
from ...core.methods.subspaces.sparse_handles import sparse_handles
from ..bodies import block
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row
from .bases import galerkin, stiffness_matrix

BASES = {"modes": skinning_modes, "handles": sparse_handles}
COUNTS = 8, 16, 32, 64
FAR = 0.15


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield one case per block and load."""
    for words, cells, size in (("slab", (16, 16, 4), (0.4, 0.4, 0.1)), ("block", (20, 20, 10), (0.4, 0.4, 0.2))):
        for radius in (0.03, 0.06):
            case = f"dent_{words}_{radius * 1e3:.0f}mm"
            yield Case(case, partial(_pressed, case, cells, size, radius))


def _pressed(case: str, cells: tuple[int, int, int], size: tuple[float, float, float], radius: float) -> Iterable[Row]:
    """Press a disc of the top of a block on the ground; its size is relative to a side of 0.4 m."""
    mesh = block(cells, size)
    X, centre = mesh.rest_positions, np.array([0.13, 0.22, size[2]])
    model = build_model(mesh, 1e5, 0.4, 1e3, pinned=np.flatnonzero(X[:, 2] < 1e-9))
    free, K = stiffness_matrix(model)
    away = np.linalg.norm(X - centre, axis=1)[free]
    f = np.zeros((len(free), 3))
    f[(away < radius) & np.isclose(X[free, 2], size[2]), 2] = -1.0
    full = linalg.spsolve(K, f.ravel()).reshape(-1, 3)
    curves, coordinates = {name: [] for name in BASES}, Coordinates.around(X).of(X)
    for count in COUNTS:
        for name, found in BASES.items():
            columns = skinning_columns(found(model, count).weights, coordinates)
            A = columns @ orthonormal(columns, model.mass)
            left = galerkin(K, A[free], f) - full
            curves[name].append(float(np.linalg.norm(left) / np.linalg.norm(full)))
            yield row(case, f"error, {count} {name} ({A.shape[1]} unknowns)", curves[name][-1])
            far = float(np.linalg.norm(left[away > FAR]) / np.linalg.norm(full))
            yield row(case, f"error farther than {FAR} m, {count} {name}", far)
        yield row(case, f"error of handles over modes, {count}", curves["handles"][-1] / curves["modes"][-1])
    lines = [Curve(name, COUNTS, errors, f"C{k}o-") for k, (name, errors) in enumerate(curves.items())]
    draw("multilevel", case, [Plot("dent", "modes or handles", "error", lines, True, True)])
