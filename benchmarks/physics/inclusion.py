"""Bone two cells thick in flesh: bending under loads on the bone only, compared with quadratic hexahedra.

A free bar of flesh, 1 m long, with bone along all of it, as a region. The bone is pulled up at its ends and down in the
middle by a density that is in equilibrium, ``6 x² - 6 x + 1`` N/m³; its work is the compliance. All four bodies were
used to choose the exponent of ``materials.fields.ModulusBlend``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...core.api.solid import Solid
from ...core.foundation.schema.settings import MaterialSettings, ResolutionSettings
from ...core.geometry.mesh.embedding import embed
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.jobs.job.body import Body
from ...core.mechanics.materials.layer import Layer
from ...core.numerics.linear_solvers.factorized import factorized
from ...core.numerics.linear_solvers.registry import fastest
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row
from .lattice import cube_surface, rotation

FLESH = 1e5
"""Young's modulus of the flesh, Pa."""
BAR = 0.08
"""Largest relative error of a compliance at two cells."""
THROUGH = (1.85, 1.95, 2.05, 2.15)
"""Cells across the bone's thickness: its borders are at different positions in the lattice each time."""


class Inclusion(NamedTuple):
    """Flesh of ``size`` (2,) m across, bone from ``low`` to ``high`` (2,) m; Poisson's ratio; ``compliance`` of
    scikit-fem 12 (``ElementHex2``, linear elasticity, 20 elements along), J, by contrast.
    """

    size: tuple[float, float]
    low: tuple[float, float]
    high: tuple[float, float]
    ratio: float
    compliance: dict[float, float]


INCLUSIONS = {
    "slab": Inclusion(
        (0.2, 0.2), (0.0, 0.05), (0.2, 0.15), 0.3, {1e2: 9.170485e-10, 1e4: 9.781363e-12, 1e6: 9.787888e-14}
    ),
    "core": Inclusion(
        (0.2, 0.2), (0.05, 0.05), (0.15, 0.15), 0.3, {1e2: 4.286966e-10, 1e4: 4.895169e-12, 1e6: 4.902130e-14}
    ),
    "beside": Inclusion(
        (0.2, 0.2), (0.05, 0.07), (0.15, 0.17), 0.45, {1e2: 4.248025e-10, 1e4: 4.907609e-12, 1e6: 4.915279e-14}
    ),
    "strip": Inclusion(
        (0.3, 0.15), (0.1, 0.03), (0.2, 0.09), 0.3, {1e2: 5.394296e-10, 1e4: 7.978015e-12, 1e6: 8.016672e-14}
    ),
}
_HALF_TURN = np.array([(-1.0, 2.0, 2.0), (2.0, -1.0, 2.0), (2.0, 2.0, -1.0)]) / 3.0
TURNS = {"aligned": np.eye(3), "turned by 0.4 rad": rotation(0.4), "by half a turn about the diagonal": _HALF_TURN}


def cases(data: Path | None) -> Iterator[Case]:
    """Yield one case per inclusion."""
    for name in INCLUSIONS:
        yield Case(f"inclusion_{name}", partial(_measured, name))


def bending_compliance(name: str, contrast: float, through: float, turn: np.ndarray) -> float:
    """Return the compliance over the correct one, with ``through`` cells across the bone's thickness."""
    body = INCLUSIONS[name]
    low, high = np.array([-0.1, *body.low]), np.array([1.1, *body.high])
    cells = round(through / (body.high[1] - body.low[1]) + 0.5)
    beyond = np.where(np.isclose(high[1], body.size[0]), 0.1, 0.0) * [0.0, 1.0, 0.0]
    flesh = cube_surface(np.ones((20, 4, 4), dtype=bool), (1.0, *body.size))
    bone = cube_surface(np.ones((1, 1, 1), dtype=bool), tuple(high - low + 2.0 * beyond))
    solid = Solid.of(
        Body(
            surface=SurfaceMesh(flesh.positions @ turn.T, flesh.triangles),
            materials=tuple(MaterialSettings(str(c), c * FLESH, body.ratio) for c in (1.0, contrast)),
            layers=(Layer(1, (SurfaceMesh((bone.positions + low - beyond) @ turn.T, bone.triangles),)),),
            resolution=ResolutionSettings(cells_across=cells),
        )
    )
    force = _pull(solid, low, high, turn)
    K = sp.csc_matrix(solid.K() + 1e-7 * FLESH * solid.M())  # far below the first vibration: holds a free body
    return float(force @ factorized(sp.tril(K, format="csc"), fastest()).solve(force)) / body.compliance[contrast]


def _pull(solid: Solid, low: np.ndarray, high: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Return nodal forces (3n,), N, of the density over the bone, without the resultant due to quadrature."""
    x, weight = np.polynomial.legendre.leggauss(60)
    across = (np.arange(8) + 0.5) / 8.0
    grid = np.meshgrid(0.5 * x + 0.5, *(a + across * (b - a) for a, b in zip(low[1:], high[1:])), indexing="ij")
    points = np.stack([each.ravel() for each in grid], axis=1)
    volume = np.repeat(0.5 * weight, 64) * (high[1:] - low[1:]).prod() / 64.0
    at = embed(points @ turn.T, solid.model.mesh)
    density = 6.0 * points[:, 0] ** 2 - 6.0 * points[:, 0] + 1.0
    nodal = np.zeros(len(solid.rest))
    np.add.at(nodal, solid.tets[at.tet_indices], (volume * density)[:, None] * at.barycentric)
    force, M = (nodal[:, None] * turn[:, 2]).ravel(), solid.M()
    arms = solid.rest - solid.rest.mean(axis=0)
    rigid = np.stack(
        [np.broadcast_to(e, arms.shape).ravel() for e in np.eye(3)] + [np.cross(e, arms).ravel() for e in np.eye(3)], 1
    )
    return force - M @ rigid @ np.linalg.solve(rigid.T @ (M @ rigid), rigid.T @ force)


def _measured(name: str) -> Iterable[Row]:
    case, curves = f"inclusion_{name}", []
    for contrast in INCLUSIONS[name].compliance:
        for words, turn in TURNS.items():
            ratios = [bending_compliance(name, contrast, through, turn) for through in THROUGH]
            yield row(case, f"bending over truth, {contrast:.0e}, {words}", " ".join(f"{r:.2f}" for r in ratios))
            yield row(case, f"{contrast:.0e}, {words}: off by", max(abs(r - 1.0) for r in ratios), at_most=BAR)
            curves.append(Curve(f"{contrast:.0e}, {words}", list(THROUGH), ratios))
    draw("physics", case, [Plot("bending compliance over quadratic hexahedra", "cells through", "ratio", curves)])
