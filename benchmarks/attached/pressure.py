"""Pressure in chambers: a thick sphere against Lamé, a gas, and a balloon in a box."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from ...core.foundation.events import ignore
from ...core.foundation.schema.settings import ContactSettings
from ...core.geometry.mesh.surface_mesh import signed_volume
from ...core.geometry.mesh.tet_mesh import TetMesh, oriented
from ...core.jobs.job.body import Body
from ...core.jobs.job.chamber import Chamber
from ...core.jobs.job.environment import Collider
from ...core.mechanics.forces.chamber_pressure import ATMOSPHERE
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..bodies import block
from ..crossings import crossings
from ..registry import Case, Row, row
from ..thin_bodies import ball
from .ties import body, play

INNER, OUTER = 0.06, 0.1
"""Radii of the thick sphere, m."""
MODULUS, POISSON = 1e5, 0.3


def shell(rings: int, layers: int, inner: float = INNER, outer: float = OUTER) -> TetMesh:
    """Return a hollow sphere: layers of prisms, of three tets each, over a triangulated sphere."""
    skin = ball(rings, 1.0)
    n, radii = len(skin.positions), np.linspace(inner, outer, layers + 1)
    unit = skin.positions / np.linalg.norm(skin.positions, axis=1, keepdims=True)
    X = np.concatenate([r * unit for r in radii])
    # Corners by their index: neighbouring prisms then divide the quad between them along the same diagonal.
    low = np.sort(skin.triangles.astype(np.int64), axis=1)
    tets = []
    for k in range(layers):
        a, b, c = (low + k * n).T
        up = n
        tets += [
            np.stack([a, b, c, c + up], 1),
            np.stack([a, b, b + up, c + up], 1),
            np.stack([a, a + up, b + up, c + up], 1),
        ]
    return oriented(X, np.concatenate(tets))


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield the thick sphere in two resolutions, and the balloon in a box."""
    for rings, layers in ((12, 4), (20, 7)):
        yield Case(f"pressure_lame_{layers}", partial(_lame, rings, layers))
    yield Case("pressure_balloon", _balloon)


def _radial(rest: np.ndarray, x: np.ndarray, radius: float) -> float:
    at = np.isclose(np.linalg.norm(rest, axis=1), radius)
    moved = (x - x.mean(axis=0))[at]
    return float(np.linalg.norm(moved, axis=1).mean() - radius)


def _lame(rings: int, layers: int) -> Iterable[Row]:
    """Compare the displacements under a small inner pressure with Lamé's solution."""
    warm_up(ignore)
    case, p, a, b = f"pressure_lame_{layers}", 100.0, INNER, OUTER
    given = Chamber(is_gas=False, pressure=np.array([p]))
    sphere = body("sphere", shell(rings, layers), youngs_modulus=MODULUS, chamber=given, solver={"gravity": (0.0,) * 3})
    played = play([sphere], 10, 1.0)
    for radius, words in ((a, "inner"), (b, "outer")):
        found = _radial(sphere.surface.positions, played.positions["sphere"][-1], radius)
        exact = p * a**3 / (b**3 - a**3) / MODULUS
        exact *= (1.0 - 2.0 * POISSON) * radius + (1.0 + POISSON) * b**3 / (2.0 * radius**2)
        yield row(case, f"displacement over Lamé's, {words}", found / exact)
        yield row(case, f"error, {words}", abs(found / exact - 1.0), "", at_most=0.01)
    yield row(case, "iterations", played.iterations)


def _balloon() -> Iterable[Row]:
    """Inflate a thin balloon of gas between two plates: p V, crossings, convergence."""
    warm_up(ignore)
    case, frames = "pressure_balloon", 25
    pressure = np.linspace(0.0, 2e4, frames)
    corners, faces = block((1, 1, 1), (0.6, 0.6, 0.02)).rest_positions - [0.3, 0.3, 0.01], None
    from ...core.geometry.mesh.topology import boundary_triangles

    faces = boundary_triangles(block((1, 1, 1), (0.6, 0.6, 0.02)).tets)
    plates = tuple(
        Collider(name, faces, (corners + [0.0, 0.0, z])[None]) for name, z in (("floor", -0.122), ("lid", 0.122))
    )
    mesh = shell(12, 2, 0.09, 0.1)
    fields = {"youngs_modulus": 2e5, "colliders": plates, "solver": {"tolerance": 1e-6}}
    balloon = body("balloon", mesh, chamber=Chamber(pressure=pressure), **fields)
    balloon = Body(**{**balloon.__dict__, "contact": ContactSettings(bodies=False)})
    played = play([balloon], frames, 24.0)
    (inside,) = balloon.chamber.surfaces(balloon.surface)
    V0 = signed_volume(balloon.surface.positions, inside)
    volumes = [signed_volume(x, inside) for x in played.positions["balloon"]]
    last = played.positions["balloon"][-1]
    yield row(case, "volume over that at rest", volumes[-1] / V0)
    yield row(case, "gauge pressure at the end", (pressure[-1] + ATMOSPHERE) * V0 / volumes[-1] - ATMOSPHERE, "Pa")
    yield row(case, "height over the width", np.ptp(last[:, 2]) / np.ptp(last[:, 0]))
    yield row(case, "iterations a step", played.iterations / len(played.reports))
    yield row(case, "unconverged steps", sum(not each.converged for each in played.reports), "", at_most=0)
    skin = np.concatenate([balloon.surface.triangles, *(faces + len(last) + k * len(corners) for k in range(2))])
    every = [np.concatenate([x, *(plate.positions[0] for plate in plates)]) for x in played.positions["balloon"]]
    yield row(case, "crossings", sum(len(crossings(x, skin)) for x in every), "", at_most=0)
