"""Identities that hold to round-off: affine patch, objectivity, sums of forces and torques."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from ...core.geometry.mesh.tet_mesh import TetMesh
from ...core.geometry.mesh.topology import boundary_triangles
from ..pictures import Bars, draw
from ..registry import Case, Row, row
from .bars import TURNS, bar_model, lattice_bar, shaken_bar

OBJECTIVE, BALANCED, AFFINE = 1e-9, 1e-12, 1e-12
RATIO = 0.49
BODIES = {
    "lattice": lambda: lattice_bar(3, TURNS["0.7 about (1,1,1)"]),
    "shaken": lambda: shaken_bar(3, 1),
}
DEFORMED = 0.05
"""Standard deviation of the displacements of vertices, m; a cell is 1/3 m."""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield one case per mesh."""
    for name in BODIES:
        yield Case(f"exactness_{name}", partial(_exactness, name))


def filled_inside(mesh: TetMesh) -> np.ndarray:
    """Return the mask (n,) of the vertices inside the mesh whose tets are all filled."""
    inside = np.ones(len(mesh.rest_positions), dtype=bool)
    inside[boundary_triangles(mesh.tets).ravel()] = False
    inside[mesh.tets[mesh.fill < 1.0 - 1e-9].ravel()] = False
    return inside


def _exactness(name: str) -> Iterable[Row]:
    case, mesh = f"exactness_{name}", BODIES[name]()
    model = bar_model(mesh, RATIO, True)
    elastic, potential, X = model.elastic, model.elastic.stabilization, mesh.rest_positions
    rng = np.random.default_rng(4)
    x = X + DEFORMED * rng.standard_normal(X.shape)
    g = potential.gradient(x)
    total = elastic.gradient(elastic.deformation(x))
    turn = Rotation.from_rotvec([0.9, -1.7, 0.4]).as_matrix()
    A = np.eye(3) + 0.2 * rng.standard_normal((3, 3))
    affine = X @ A.T + [3.0, -1.0, 2.0]
    stress = elastic.gradient(elastic.deformation(affine))
    inside = filled_inside(mesh)

    def unbalanced(forces: np.ndarray) -> float:
        torque = np.cross(x, forces).sum(axis=0)
        scale = np.abs(forces).sum()
        return max(np.abs(forces.sum(axis=0)).max() / scale, np.abs(torque).max() / (scale * mesh.size))

    moved = x @ turn.T + [3.0, -1.0, 2.0]
    value = potential.value(x)
    measured = {
        "stabilization, rotated: energy off": (abs(potential.value(moved) / value - 1.0), OBJECTIVE),
        "stabilization, rotated: forces off": (_off(potential.gradient(moved), g @ turn.T), OBJECTIVE),
        "stabilization: forces and torques, sums": (unbalanced(g), BALANCED),
        "all elastic forces and torques, sums": (unbalanced(total), BALANCED),
        "affine: F off": (float(np.abs(elastic.elements.gradients(affine) - A).max()), AFFINE),
        "affine: stabilization's forces": (float(np.abs(potential.gradient(affine)).max() / np.abs(g).max()), AFFINE),
        "affine: elastic forces inside": (float(np.abs(stress[inside]).max() / np.abs(stress).max()), AFFINE),
    }
    for metric, (found, bar) in measured.items():
        yield row(case, metric, float(found), at_most=bar)
    yield row(case, "vertices inside, filled around", int(inside.sum()))
    shown = {"off": [max(float(found), 1e-18) for found, _ in measured.values()]}
    draw("elements", case, [Bars("relative error", "", list(measured), shown, log_x=True)])


def _off(found: np.ndarray, wanted: np.ndarray) -> float:
    return float(np.abs(found - wanted).max() / np.abs(wanted).max())
