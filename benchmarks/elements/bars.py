"""Torsional stiffness and bending of free square bars 8:1, of the draft lattice and of random tets.

The squared frequency of a free bar is proportional to its stiffness. Closed forms: torsion
``f = sqrt(G J / (rho I_p)) / 2 L`` with ``J = 0.140577 a⁴`` and ``I_p = a⁴ / 6`` [Timoshenko, Goodier]; bending, a
Timoshenko beam by Rayleigh-Ritz.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import Legendre, leggauss
from scipy.linalg import eigh
from scipy.spatial import Delaunay
from scipy.spatial.transform import Rotation

from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.geometry.mesh.tet_mesh import TetMesh, oriented
from ...core.geometry.tetrahedra.lattice import lattice_tets
from ...core.methods.eigenfit.vibrations import vibrations
from ...core.methods.model.model import Model, build_model
from ..physics.lattice import cube_surface
from ..pictures import Bars, draw
from ..registry import Case, Row, row

LENGTH, WIDTH = 8.0, 1.0
YOUNGS_MODULUS, DENSITY = 1e5, 1e3
RATIOS = (0.3, 0.45, 0.49, 0.499)
TORSION = {2: 1.19, 3: 1.07, 4: 1.03}
"""Cells through a bar of the lattice, and the largest torsional stiffness over the closed form."""
BENDING = {2: 0.08, 3: 0.03, 4: 0.02}
"""Cells through a bar of the lattice, and the largest relative error of its bending stiffness."""
SHAKEN = {2: 0.20, 4: 0.05}
"""Cells through a bar of random tets, and the largest relative error of its torsional and of its bending stiffness."""
SEEDS = {2: range(1, 13), 4: range(1, 4)}
"""Seeds of the random tets by cells through."""
SHAKE = 0.25
"""Largest displacement of a grid point of the random tets, in cells."""
RIGID, ELASTIC = 6, 10
LEGENDRE = 14
"""Legendre polynomials of deflection and rotation of the Timoshenko beam."""


def _turn(angle: float, *axis: float) -> np.ndarray:
    return Rotation.from_rotvec(angle * np.array(axis) / np.linalg.norm(axis)).as_matrix()


TURNS = {
    "aligned": np.eye(3),
    "0.4 about y": _turn(0.4, 0.0, 1.0, 0.0),
    "0.7 about (1,1,1)": _turn(0.7, 1.0, 1.0, 1.0),
    "0.2 about z": _turn(0.2, 0.0, 0.0, 1.0),
    "0.9 about (1,2,3)": _turn(0.9, 1.0, 2.0, 3.0),
    "0.5 about x": _turn(0.5, 1.0, 0.0, 0.0),
}
"""Rotations of the bar in the lattice."""


class Stiffness(NamedTuple):
    """Torsional and bending stiffness of a bar over the closed forms."""

    torsion: float
    bending: float


def cases(data: Path | None) -> Iterator[Case]:
    """Yield bars of the lattice, one case per number of cells through, and bars of random tets."""
    for cells in TORSION:
        yield Case(f"bars_lattice_{cells}", partial(_lattice, cells))
    yield Case("bars_shaken", _shaken)


def lattice_bar(cells: int, turn: np.ndarray, length: float = LENGTH) -> TetMesh:
    """Return a square bar around the origin in the draft lattice, its axis along ``turn @ x``, ``cells`` through."""
    size = (length, WIDTH, WIDTH)
    box = cube_surface(np.ones((1, 1, 1), dtype=bool), size)
    positions = (box.positions - 0.5 * np.array(size)) @ turn.T
    across = round(float(np.ptp(positions, axis=0).max()) * cells / WIDTH + 0.5)
    return lattice_tets(SurfaceMesh(positions, box.triangles), max(across, 2))


def shaken_bar(cells: int, seed: int) -> TetMesh:
    """Return a bar along x of the Delaunay tets of a grid whose points are displaced, each within its side."""
    rng = np.random.default_rng(seed)
    low, high = np.array([-0.5 * LENGTH, -0.5, -0.5]), np.array([0.5 * LENGTH, 0.5, 0.5])
    sides = [np.linspace(a, b, round((b - a) * cells) + 1) for a, b in zip(low, high, strict=True)]
    grid = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, 3)
    shake = SHAKE / cells * rng.uniform(-1.0, 1.0, grid.shape)
    shake[np.isclose(grid, low) | np.isclose(grid, high)] = 0.0
    points = grid + shake
    # In general position Delaunay tets are unique; tets of points of one face, flat, are dropped.
    tets = Delaunay(points + 1e-9 * rng.standard_normal(grid.shape)).simplices
    corners = points[tets]
    volumes = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) / 6.0
    return oriented(points, tets[volumes > 1e-4 / cells**3])


def bar_model(mesh: TetMesh, ratio: float, smoothed: bool) -> Model:
    """Return the model of a free bar of one material."""
    return build_model(mesh, YOUNGS_MODULUS, ratio, DENSITY, smoothed=smoothed)


def torsional_frequency(ratio: float) -> float:
    """Return the first torsional frequency of a free bar, Hz, in closed form."""
    shear = YOUNGS_MODULUS / (2.0 * (1.0 + ratio))
    return math.sqrt(shear * 0.140577 * 6.0 / DENSITY) / (2.0 * LENGTH)


@cache
def bending_frequency(ratio: float) -> float:
    """Return the first bending frequency of a free Timoshenko beam, Hz."""
    nodes, weights = leggauss(40)
    basis = [Legendre.basis(i) for i in range(LEGENDRE)]
    w = 0.5 * LENGTH * weights
    P = np.array([each(nodes) for each in basis])
    D = np.array([each.deriv()(nodes) for each in basis]) * 2.0 / LENGTH
    bend = YOUNGS_MODULUS * WIDTH**4 / 12.0
    shear = 10.0 * (1.0 + ratio) / (12.0 + 11.0 * ratio) * YOUNGS_MODULUS / (2.0 * (1.0 + ratio)) * WIDTH**2
    coupled, none = -shear * (D * w) @ P.T, np.zeros((LEGENDRE, LEGENDRE))
    K = np.block(
        [[shear * (D * w) @ D.T, coupled], [coupled.T, bend * (D * w) @ D.T + shear * (P * w) @ P.T]],
    )
    mass = DENSITY * (P * w) @ P.T
    M = np.block([[WIDTH**2 * mass, none], [none, WIDTH**4 / 12.0 * mass]])
    squares = eigh(K, M, eigvals_only=True)
    # A translation and a rotation come first.
    return math.sqrt(squares[2]) / (2.0 * math.pi)


def measure_stiffness(mesh: TetMesh, turn: np.ndarray, ratio: float, smoothed: bool) -> Stiffness:
    """Return the stiffness of a free bar around the origin, its axis along ``turn @ x``."""
    model = bar_model(mesh, ratio, smoothed)
    found = vibrations(model, RIGID + ELASTIC).after(RIGID, ELASTIC)
    X = mesh.rest_positions @ turn
    shape = np.column_stack([0.0 * X[:, 0], -X[:, 2], X[:, 1]]) * np.sin(math.pi * X[:, :1] / LENGTH)
    twist = shape @ turn.T
    likeness = [abs(float((twist * (model.mass @ mode)).sum())) for mode in found.modes]
    torsion = found.frequencies[int(np.argmax(likeness))] / torsional_frequency(ratio)
    return Stiffness(float(torsion**2), float((found.frequencies[0] / bending_frequency(ratio)) ** 2))


def _listed(values: Iterable[float]) -> str:
    return " ".join(f"{each:.3f}" for each in values)


def _over_truth(
    case: str, words: str, torsion: Sequence[float], bending: Sequence[float], bar: float | None
) -> Iterable[Row]:
    """Yield the stiffness ratios of several bars, and with a ``bar`` the largest in torsion."""
    yield row(case, f"{words}: torsion over truth", _listed(torsion))
    yield row(case, f"{words}: bending over truth", _listed(bending))
    if bar is not None:
        yield row(case, f"{words}: torsion, largest", max(torsion), at_most=bar)


def _lattice(cells: int) -> Iterable[Row]:
    case, shown = f"bars_lattice_{cells}", {}
    for ratio in RATIOS:
        for smoothed in (True, False):
            found = [measure_stiffness(lattice_bar(cells, turn), turn, ratio, smoothed) for turn in TURNS.values()]
            torsion, bending = zip(*found, strict=True)
            words = f"nu {ratio}, {'smoothed' if smoothed else 'plain'}"
            shown[words] = [min(torsion), max(torsion)]
            yield from _over_truth(case, words, torsion, bending, TORSION[cells] if smoothed else None)
            if smoothed:
                off = max(abs(each - 1.0) for each in bending)
                yield row(case, f"{words}: bending off by", off, at_most=BENDING[cells])
    series = {"least": [each[0] for each in shown.values()], "most": [each[1] for each in shown.values()]}
    draw("elements", case, [Bars("torsional stiffness over truth", "ratio", list(shown), series)])


def _shaken() -> Iterable[Row]:
    case, shown = "bars_shaken", {}
    for cells, bar in SHAKEN.items():
        meshes = [shaken_bar(cells, seed) for seed in SEEDS[cells]]
        for ratio in (RATIOS[0], RATIOS[-1]):
            for smoothed in (True, False):
                found = [measure_stiffness(mesh, np.eye(3), ratio, smoothed) for mesh in meshes]
                torsion, bending = zip(*found, strict=True)
                words = f"{cells} cells, nu {ratio}, {'smoothed' if smoothed else 'plain'}"
                shown[words] = [min(torsion), max(torsion)]
                yield from _over_truth(case, words, torsion, bending, None)
                if smoothed:
                    for mode, values in (("torsion", torsion), ("bending", bending)):
                        off = max(abs(each - 1.0) for each in values)
                        yield row(case, f"{words}: {mode} off by", off, at_most=bar)
    series = {"least": [each[0] for each in shown.values()], "most": [each[1] for each in shown.values()]}
    draw("elements", case, [Bars("torsional stiffness over truth", "ratio", list(shown), series, log_x=True)])
