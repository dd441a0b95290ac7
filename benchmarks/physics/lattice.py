"""Draft lattice compared with quadratic hexahedra: sag and frequency of clamped bodies; rotating pins."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh

from ...core.foundation.schema.settings import MaterialSettings, ResolutionSettings, SolverSettings
from ...core.geometry.mesh.embedding import embed
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.jobs.job.body import Body
from ...core.jobs.job.job import Job
from ...core.mechanics.constraints.anchors import cell_sides
from ...core.methods.model.model import Model
from ...core.numerics.linear_solvers.factorized import factorized
from ...core.numerics.linear_solvers.registry import fastest
from ...core.simulation.frame_loop.single_body import simulate_body
from ...core.simulation.preparation.prepare import Prepared, prepare
from ..pictures import Curve, Plot, Snapshot, draw
from ..registry import Case, Row, row

FLESH, BONE = 1e6, 1e9
BARS = {12: 0.16, 20: 0.05, 32: 0.02, 44: 0.02, 64: 0.02}
"""Cells along, and allowed relative errors of sag and frequencies."""
OF_BONE = {12: 0.16, 20: 0.08, 32: 0.08, 44: 0.04, 64: 0.04}
"""The same of bodies of bone and flesh."""
ALONG = dict.fromkeys(BARS)
"""No bars if bone is parallel to the flesh: a cut tet has one modulus, and bone half as thick as the bar is 0.7 cells
thick at 12. Without rotation, the border is a plane of the lattice from 32 on.
"""
TURN = 0.4
MISS = 0.06
"""Allowed error of a pinned face that rotates, in cells."""
ROUND_OFF = 1e-9
HEADS = (("mixed_fem", 0), ("newton", 0), ("subspace_mixed_fem", 6), ("subspace_mixed_fem", 16))
"""Solvers of the heavy head, and their modes."""
HEAD_CUBE = 0.15
"""Edge length of its cubes, m."""


class Specimen(NamedTuple):
    """Body of cubes, clamped at x = 0, and reference values.

    Attributes
    ----------
    cubes : (x,y,z) bool, occupied ones; size : m, of all of them
    bone : the half of bone, if any: "held", up to x = 1/2, or "beyond"; "under" the flesh or "beside" it
    ratio : Poisson's ratio
    tip : (4,3) m, positions whose mean sag along -z is compared
    sag : m per m/s²; frequencies : Hz, the first five
    bars : cells along, and allowed errors of both
    """

    cubes: np.ndarray
    size: tuple[float, float, float]
    bone: str
    ratio: float
    tip: np.ndarray
    sag: float
    frequencies: tuple[float, ...]
    bars: Mapping[int, float | None] = BARS


HALVES = {"held": (0, 1), "beyond": (0, -1), "beside": (1, 1), "under": (2, 1)}
"""Axis across the border, and the side of the bone."""
HAIR = 1e-4
"""Half the distance, m, of the two rows of vertices at both sides of the border."""


def _bar(
    width: float,
    height: float,
    bone: str,
    ratio: float,
    sag: float,
    frequencies: tuple[float, ...],
    bars: Mapping[int, float | None] = BARS,
) -> Specimen:
    tip = np.array([[1.0, y, z] for y in (0.0, width) for z in (0.0, height)])
    cells = 64, max(round(64 * width), 2), max(round(64 * height), 2)
    return Specimen(np.ones(cells, dtype=bool), (1.0, width, height), bone, ratio, tip, sag, frequencies, bars)


def _angle(ratio: float, sag: float, frequencies: tuple[float, ...]) -> Specimen:
    """Return an L: a leg along x and one along y from its end, 1 x 0.8 m, of a square section of 0.2 m."""
    cubes = np.zeros((50, 40, 10), dtype=bool)
    cubes[:, :10] = cubes[40:] = True
    tip = np.array([[x, 0.8, z] for x in (0.8, 1.0) for z in (0.0, 0.2)])
    return Specimen(cubes, (1.0, 0.8, 0.2), "", ratio, tip, sag, frequencies)


EIGHTH = 0.125
BODIES = {
    "bar 8:1": _bar(EIGHTH, EIGHTH, "", 0.3, 0.0963569478, (0.6347215, 0.6347215, 3.721586, 3.721586, 4.515654)),
    "bar 8:1, nu 0.45": _bar(
        EIGHTH, EIGHTH, "", 0.45, 0.0945364546, (0.6407186, 0.6407186, 3.734386, 3.734386, 4.278402)
    ),
    "bar 8:1, half bone": _bar(
        EIGHTH, EIGHTH, "beyond", 0.3, 0.0898145356, (0.6533198, 0.6533198, 4.812641, 4.812641, 4.955388), OF_BONE
    ),
    "bar 8:1, bone held": _bar(
        EIGHTH, EIGHTH, "held", 0.3, 0.0063296877, (2.452779, 2.452779, 9.042381, 12.26569, 12.26569), OF_BONE
    ),
    "bar 8:1, bone under": _bar(
        EIGHTH, EIGHTH, "under", 0.3, 0.000753580128, (7.169936, 13.93726, 41.97935, 51.85315, 61.05915), ALONG
    ),
    "bar 8:1, bone beside": _bar(
        EIGHTH, EIGHTH, "beside", 0.3, 0.000199429652, (7.169936, 13.93726, 41.97935, 51.85315, 61.05915), ALONG
    ),
    "bar 5:1": _bar(0.12, 0.2, "", 0.3, 0.0384939363, (0.6118823, 0.9981761, 3.603542, 4.051938, 5.385213)),
    "bar 5:1, nu 0.45": _bar(0.12, 0.2, "", 0.45, 0.0376413802, (0.621302, 1.00907, 3.636949, 3.847314, 5.372965)),
    "L": _angle(0.3, 0.150187213, (0.4934513, 0.5153215, 1.211488, 1.582652, 4.410904)),
    "L, nu 0.45": _angle(0.45, 0.154925767, (0.4881765, 0.5217705, 1.186157, 1.600943, 4.384697)),
}
"""By scikit-fem 12: quadratic hexahedra (``ElementHex2``), linear elasticity, 1000 kg/m³: 32 x 4 x 4 for the bars 8:1,
20 x 4 x 6 for the bar 5:1, cubes of a fifteenth of a metre (15 x 12 x 4) for the L.
"""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield one case per body, and the rotating pins."""
    for name in BODIES:
        yield Case(f"lattice_{name.replace(' ', '_')}", lambda name=name: _measured(name))
    yield Case("lattice_turned_pins", _turned_pins)
    yield Case("lattice_heavy_head", _heavy_head)


def rotation(angle: float) -> np.ndarray:
    """Return the rotation about y, (3,3)."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def cube_surface(cubes: np.ndarray, size: tuple[float, float, float]) -> SurfaceMesh:
    """Return the surface of cubes (x,y,z) bool, as triangles that face outwards."""
    padded, quads = np.pad(cubes, 1), []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (0, 1):
            open_side = padded & ~np.roll(padded, -1 if side else 1, axis)
            at = np.argwhere(open_side) - 1
            corners = []
            for a, b in ((0, 0), (1, 0), (1, 1), (0, 1)) if side else ((0, 0), (0, 1), (1, 1), (1, 0)):
                corner = at.copy()
                corner[:, axis] += side
                corner[:, u] += a
                corner[:, v] += b
                corners.append(corner)
            quads.append(np.stack(corners, axis=1))
    found, index = np.unique(np.concatenate(quads).reshape(-1, 3), axis=0, return_inverse=True)
    faces = index.reshape(-1, 4)
    triangles = np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]])
    return SurfaceMesh(found * (np.array(size) / cubes.shape), triangles)


def held_job(body: Specimen, cells: int, turned: float, frames: int = 2, rate: float = 24.0, **settings: object) -> Job:
    """Return the job of a body clamped at x = 0, rotated in the lattice together with gravity."""
    surface, R = cube_surface(body.cubes, body.size), rotation(turned)
    X = surface.positions
    pins = np.flatnonzero(X[:, 0] == 0.0)
    bone = _boned(body, X)
    solver = SolverSettings(**{"gravity": tuple(-9.81 * R[:, 2]), **settings})
    held = Body(
        surface=SurfaceMesh(X @ R.T, surface.triangles),
        materials=tuple(MaterialSettings(name, E, body.ratio, 1e3) for name, E in (("Flesh", FLESH), ("Bone", BONE))),
        material_weights=np.column_stack([~bone, bone]).astype(float),
        pinned_vertices=pins,
        pin_positions=np.tile(X[pins] @ R.T, (frames, 1, 1)),
        resolution=ResolutionSettings(cells_across=cells),
        solver=solver,
    )
    return Job(bodies=(held,), frame_start=1, frame_end=frames, frame_rate=rate)


def _boned(body: Specimen, positions: np.ndarray) -> np.ndarray:
    """Return the mask of vertices in bone, and move two rows of vertices to the border."""
    if not body.bone:
        return np.zeros(len(positions), dtype=bool)
    axis, side = HALVES[body.bone]
    x, middle = positions[:, axis], 0.5 * body.size[axis]
    x[np.isclose(x, middle)] -= HAIR
    x[np.isclose(x, middle + body.size[axis] / body.cubes.shape[axis])] = middle + HAIR
    return side * (middle - x) > 0.0


def stiffness_and_mass(model: Model) -> tuple[sp.csc_matrix, sp.csc_matrix]:
    """Return stiffness and mass matrices (3n,3n) of a body at rest with its springs: N/m, kg."""
    n, elastic = len(model.mesh.rest_positions), model.elastic
    blocks = model.stiffness(elastic.tangent(elastic.deformation(model.mesh.rest_positions)), 0.0)
    first, second = (3 * each for each in model.elements.nodes.vertex_pairs)
    rows = np.broadcast_to(first[:, None, None] + np.arange(3)[:, None], blocks.shape)
    columns = np.broadcast_to(second[:, None, None] + np.arange(3), blocks.shape)
    K = sp.csc_matrix((blocks.ravel(), (rows.ravel(), columns.ravel())), shape=(3 * n, 3 * n))
    apart = np.broadcast_to((first != second)[:, None, None], blocks.shape).ravel()
    K = K + sp.csc_matrix((blocks.ravel()[apart], (columns.ravel()[apart], rows.ravel()[apart])), shape=K.shape)
    return (K + sp.kron(model.anchors, sp.identity(3))).tocsc(), sp.kron(model.mass, sp.identity(3)).tocsc()


def sag_and_frequencies(
    prepared: Prepared, tip: np.ndarray, down: np.ndarray, count: int = 1
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the mean sag of positions (k,3) per m/s², m; the first ``count`` frequencies, Hz; the displacements (n,3)
    of the vertices.
    """
    model = prepared.model
    K, M = stiffness_and_mass(model)
    factor = factorized(K, fastest())
    u = factor.solve(M @ np.tile(down, len(model.mesh.rest_positions))).reshape(-1, 3)
    inverse = LinearOperator(K.shape, matvec=factor.solve, dtype=np.float64)
    start = np.ones(K.shape[0])
    values = eigsh(K, count, M, sigma=0.0, OPinv=inverse, v0=start, return_eigenvectors=False)
    at = embed(tip, model.mesh)
    return float((at.apply(u, model.mesh.tets) @ down).mean()), np.sqrt(np.sort(values)) / (2.0 * math.pi), u


def _measured(name: str) -> Iterable[Row]:
    body, case = BODIES[name], f"lattice_{name.replace(' ', '_')}"
    curves, shot = [], None
    for turned, words in ((0.0, ""), (TURN, f", turned by {TURN} rad")):
        R, sags, frequencies = rotation(turned), [], []
        for cells, bar in body.bars.items():
            prepared = prepare(held_job(body, cells, turned))
            sag, found, u = sag_and_frequencies(prepared, body.tip @ R.T, -R[:, 2], len(body.frequencies))
            sags.append(sag / body.sag)
            frequencies.append(found / body.frequencies)
            through = (cells - 0.5) * min(body.tip[:, 2].max(), np.ptp(body.tip[:, 1]) or 1.0)
            for what, ratios in (("sag", sags[-1:]), ("five frequencies", frequencies[-1])):
                metric = f"{what} over truth, {cells} cells ({through:.1f} through){words}"
                yield row(case, metric, " ".join(f"{ratio:.3f}" for ratio in ratios))
                yield row(case, f"{metric}: off by", max(abs(ratio - 1.0) for ratio in ratios), at_most=bar)
            shot = shot or Snapshot("magnified", prepared.model.mesh.rest_positions + u, prepared.model.mesh.tets)
        curves += [
            Curve(f"sag{words}", list(BARS), sags),
            Curve(f"frequency{words}", list(BARS), [each[0] for each in frequencies]),
        ]
    draw("physics", case, [Plot(f"{name} over quadratic hexahedra", "cells along", "ratio", curves), shot])


def _turned_pins() -> Iterable[Row]:
    """Rotate the clamped face of bars under gravity by 30 degrees in half a second, then hold it. At 1e6 Pa the bar 5:1
    sags by a third of its length, the bar 8:1 hangs straight down.
    """
    frames, cells, case = 25, 20, "lattice_turned_pins"
    curves = []
    for body, solver, stiffness in product(
        ("bar 5:1", "bar 8:1"), ("mixed_fem", "subspace_mixed_fem"), (FLESH, 10.0 * FLESH)
    ):
        job = held_job(BODIES[body], cells, 0.0, frames, solver=solver, max_iterations=30)
        angles = np.radians(30.0) * np.minimum(np.arange(frames) / 12.0, 1.0)
        track = np.stack([job.body.pin_positions[0] @ rotation(angle).T for angle in angles])
        of_one = tuple(replace(each, youngs_modulus=stiffness) for each in job.body.materials)
        run = followed(job.with_body(pin_positions=track, materials=of_one))
        words = f"{body}, {solver}, {stiffness:.0e} Pa"
        yield from _told(case, words, run)
        curves.append(Curve(words, np.arange(frames), run.missed))
    draw("physics", case, [Plot("pins off their targets", "frame", "cells", curves)])


def _heavy_head() -> Iterable[Row]:
    """Simulate a soft ball with ears, 2.7 m wide, that hangs on a patch at its back and on an edge of each ear."""
    case, curves = "lattice_heavy_head", []
    for (solver, modes), stiffness in product(HEADS, (1e4, 5e4, 1e6)):
        job = head_job(stiffness, 21, solver=solver, **({"modes": modes} if modes else {}))
        run = followed(job)
        words = f"{solver}{f', {modes} modes' if modes else ''}, {stiffness:.0e} Pa"
        yield from _told(case, words, run)
        curves.append(Curve(words, np.arange(21), run.missed))
    draw("physics", case, [Plot("pins off their targets", "frame", "cells", curves)])


def head_cubes() -> np.ndarray:
    """Return the mask of 18 x 11 x 13 cubes: a ball, and a plate on each side of it."""
    x, y, z = np.indices((18, 11, 13)) + 0.5 - np.array([9.0, 5.5, 6.5])[:, None, None, None]
    ball = (x / 6.5) ** 2 + (y / 5.6) ** 2 + (z / 6.6) ** 2 < 1.0
    return ball | ((np.abs(x) > 4.0) & (np.abs(y - 1.5) < 1.1) & (np.abs(z - 1.0) < 3.0))


def head_job(stiffness: float, frames: int, **settings: object) -> Job:
    """Return the job of that ball with a Young's modulus in Pa, in ten cells across."""
    cubes = head_cubes()
    surface = cube_surface(cubes, tuple(HEAD_CUBE * np.array(cubes.shape)))
    X = surface.positions / HEAD_CUBE
    behind = X[:, 1] > cubes.shape[1] - 0.5
    at_ears = (np.abs(X[:, 0] - 9.0) > 8.5) & (np.abs(X[:, 1] - 8.0) < 0.5) & (np.abs(X[:, 2] - 8.5) < 1.0)
    pins = np.flatnonzero(behind | at_ears)
    head = Body(
        surface=surface,
        materials=(MaterialSettings("Flesh", stiffness),),
        material_weights=np.ones((len(X), 1)),
        pinned_vertices=pins,
        pin_positions=np.tile(surface.positions[pins], (frames, 1, 1)),
        resolution=ResolutionSettings(cells_across=10),
        solver=SolverSettings(**settings),
    )
    return Job(bodies=(head,), frame_start=1, frame_end=frames, frame_rate=24.0)


class Followed(NamedTuple):
    """Distances of pinned vertices from their targets at each frame, of the body and as displayed, in cells; mean
    iterations per step.
    """

    missed: list[float]
    shown: list[float]
    iterations: float


def followed(job: Job) -> Followed:
    """Return the frames of a job as distances of its pins."""
    prepared, missed, shown, iterations = prepare(job), [], [], []
    cell = cell_sides(prepared.model.mesh).min()
    for k, frame in enumerate(simulate_body(job, prepared)):
        for told, at in ((missed, None), (shown, k)):
            away = prepared.surface(frame.state.positions, at)[job.body.pinned_vertices] - job.body.pin_positions[k]
            told.append(float(np.linalg.norm(away, axis=1).max()) / cell)
        iterations += [report.iterations for report in frame.reports]
    return Followed(missed, shown, float(np.mean(iterations)))


def _told(case: str, words: str, run: Followed) -> Iterator[Row]:
    yield row(case, f"{words}: body off its targets at most", max(run.missed), "cells", at_most=MISS)
    yield row(case, f"{words}: shown off them at most", max(run.shown), "cells", at_most=ROUND_OFF)
    yield row(case, f"{words}: iterations a step, mean", run.iterations)
