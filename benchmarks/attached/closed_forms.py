"""Regions against closed forms: bending and torsion of the inside, and torques of bones that turn in flesh.

A rigid sphere of radius a turns by a small angle theta inside an elastic ball of radius b, whose surface is held. For
every Poisson's ratio, the displacement is ``u = theta x X (1 / r³ - 1 / b³) / (1 / a³ - 1 / b³)``, and the torque
``8 pi mu theta / (1 / a³ - 1 / b³)``. A cylinder in an elastic tube of length L with free ends needs the torque
``4 pi mu L theta / (1 / a² - 1 / b²)``. Here b and L are 1 m.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from ...core.api.solid import Solid
from ...core.foundation.schema.settings import MaterialSettings, ResolutionSettings
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.jobs.job.body import Body
from ...core.jobs.job.job import Job
from ...core.mechanics.constraints.kinematic_region import KinematicRegion
from ...core.numerics.linear_solvers.factorized import factorized
from ...core.numerics.linear_solvers.registry import fastest
from ...core.simulation.preparation.body_model import pinned_surface
from ..pictures import Bars, draw
from ..registry import Case, Row, row
from .bones import bent, box

CELLS = 8, 12, 16, 24
"""Cells across the flesh."""
RADII = 0.4, 0.2
"""Radii of the bones, m."""
WIDE, OFF = 1.5, 0.05
"""Radius of a bone, in cells, from which on the torque has a bar, and its largest relative error."""
ANGLE, MODULUS, RATIO = 1e-4, 3e4, 0.45


def cases(data: Path | None) -> Iterator[Case]:
    """Yield the deformation of the inside, and the turned bones by cells."""
    yield Case("inside", _inside)
    for shape in ("sphere", "cylinder"):
        for cells in CELLS:
            yield Case(f"{shape}_{cells}", partial(_turned, shape, cells))


def _inside() -> Iterator[Row]:
    """Measure how points within a bone follow bending and torsion of its surface, in thicknesses of the bone."""
    surface = box((0.6, 0.06, 0.06), (30, 3, 3), (0.03, 0.07, 0.07))
    X = surface.positions
    low, high = X.min(axis=0), X.max(axis=0)
    points = low + np.random.default_rng(0).uniform(0.0, 1.0, (2000, 3)) * (high - low)

    def twisted(at: np.ndarray, angle: float) -> np.ndarray:
        turn = angle * (at[:, 0] - low[0]) / (high[0] - low[0])
        y, z = (at - 0.1)[:, 1:].T
        c, s = np.cos(turn), np.sin(turn)
        return np.column_stack([at[:, 0], 0.1 + c * y - s * z, 0.1 + s * y + c * z])

    shown: dict[str, float] = {}
    for name, moved, angles in (("bent", bent, (0.5, 1.0, 2.0)), ("twisted", twisted, (0.5, 1.0))):
        for angle in angles:
            found = KinematicRegion("Bone", surface, moved(X, angle)).follow(points)[0]
            off = float(np.linalg.norm(found - moved(points, angle), axis=1).max() / 0.06)
            yield row("inside", f"{name} by {angle:g} rad: off at most", off, "of its thickness", at_most=0.02)
            shown[f"{name} by {angle:g} rad"] = off
    draw("attached", "inside", [Bars("distance from the closed form", "thickness", list(shown), {"": shown.values()})])


def sphere(radius: float, cells: int) -> SurfaceMesh:
    """Return a sphere about the origin: a cube of ``cells`` quads along each side, its vertices moved radially."""
    cube = box((2.0, 2.0, 2.0), (cells, cells, cells), (-1.0, -1.0, -1.0))
    angles = np.tan(0.25 * np.pi * cube.positions)
    return SurfaceMesh(radius * angles / np.linalg.norm(angles, axis=1)[:, None], cube.triangles)


def cylinder(radius: float, low: float, high: float, sides: int, rings: int) -> SurfaceMesh:
    """Return a cylinder around the z axis from ``low`` to ``high``, m. The centres of its caps are last."""
    turns, z = 2.0 * np.pi * np.arange(sides) / sides, np.linspace(low, high, rings + 1)
    ring = radius * np.column_stack([np.cos(turns), np.sin(turns)])
    X = np.column_stack([np.tile(ring, (rings + 1, 1)), np.repeat(z, sides)])
    p = np.arange(sides * rings)
    q = p - p % sides + (p + 1) % sides
    first, last, centre = np.arange(sides), sides * rings + np.arange(sides), len(X)
    caps = [
        np.column_stack([np.full(sides, centre), np.roll(first, -1), first]),
        np.column_stack([np.full(sides, centre + 1), last, np.roll(last, -1)]),
    ]
    walls = [np.column_stack([p, q, q + sides]), np.column_stack([p, q + sides, p + sides])]
    return SurfaceMesh(np.concatenate([X, [[0.0, 0.0, low], [0.0, 0.0, high]]]), np.concatenate([*walls, *caps]))


def _bodies(shape: str, radius: float) -> tuple[SurfaceMesh, np.ndarray, SurfaceMesh, float]:
    """Return the flesh, its pinned vertices, the bone, and its torque, N m."""
    shear = MODULUS / (2.0 + 2.0 * RATIO)
    if shape == "sphere":
        ball = sphere(1.0, 24)
        loose = np.array([[0.0, 0.0, 0.7]])  # a vertex without faces, since a job refuses to pin all
        flesh = SurfaceMesh(np.concatenate([ball.positions, loose]), ball.triangles)
        torque = 8.0 * np.pi * shear * ANGLE / (radius**-3 - 1.0)
        return flesh, np.arange(len(ball.positions)), sphere(radius, 16), torque
    tube = cylinder(1.0, 0.0, 1.0, 48, 12)
    torque = 4.0 * np.pi * shear * ANGLE / (radius**-2 - 1.0)
    return tube, np.arange(len(tube.positions) - 2), cylinder(radius, -0.3, 1.3, 32, 16), torque


def _turned(shape: str, cells: int) -> Iterator[Row]:
    """Compare torques with the closed form, with and without the springs in tets partly inside the region."""
    case, shown = f"{shape}_{cells}", {"springs": [], "vertices alone": []}
    for radius in RADII:
        flesh, pinned, bone, exact = _bodies(shape, radius)
        turned = bone.positions + ANGLE * np.cross([0.0, 0.0, 1.0], bone.positions)
        body = Body(
            surface=flesh,
            materials=MaterialSettings("Flesh", MODULUS, RATIO),
            regions=KinematicRegion("Bone", bone, np.stack([bone.positions, turned])),
            pinned_vertices=pinned,
            resolution=ResolutionSettings(cells_across=cells),
        )
        job = Job(bodies=body, frame_end=2)
        wide = radius * cells / 2.0
        solid, of = Solid.of(job), f"radius {wide:.1f} cells"
        for (name, errors), keeps in zip(shown.items(), (True, False), strict=True):
            errors.append(_torque(job, solid, keeps) / exact - 1.0)
            yield row(case, f"{of}, {name}: error of the torque", errors[-1])
        yield row(case, f"{of}: torque off by", abs(shown["springs"][-1]), at_most=OFF if wide >= WIDE else None)
    draw("attached", case, [Bars("error of the torque", "ratio", [f"radius {radius} m" for radius in RADII], shown)])


def _torque(job: Job, solid: Solid, keeps: bool) -> float:
    """Return the torque, N m, from the energy at equilibrium. ``keeps``: True to use the springs of the region."""
    pinned = pinned_surface(job, solid.model.mesh, solid.embedding)
    schedule, found = pinned.schedule(), pinned.anchors(1)
    u = np.zeros_like(solid.rest)
    u[schedule.corners] = schedule.targets_at(1, 1.0) - solid.rest[schedule.corners]
    wanted = found.target_weights @ (pinned.targets_at(1, 1.0) - pinned.rest)
    P = found.embedding.matrix(solid.tets, len(solid.rest))
    stiffness = found.factors * solid.model.youngs_modulus[found.embedding.tet_indices]
    if not keeps:
        of_bone = found.target_weights[:, pinned.regions.of_pin >= 0]
        stiffness = np.where(np.asarray(of_bone.sum(axis=1)).ravel() > 0.0, 0.0, stiffness)
    springs = sp.kron(P.T @ sp.diags(stiffness) @ P, sp.eye(3))
    free = np.setdiff1d(np.arange(u.size), (3 * schedule.corners[:, None] + np.arange(3)).ravel())
    K = (solid.K() + springs).tocsr()
    load = (P.T @ (stiffness[:, None] * wanted)).ravel() - K @ u.ravel()
    factor = factorized(K[free][:, free].tocsc(), fastest())
    flat = u.reshape(-1)
    flat[free] += factor.solve(np.ascontiguousarray(load[free]))
    elastic = 0.5 * flat @ (solid.K() @ flat)
    stretched = 0.5 * stiffness @ ((P @ u - wanted) ** 2).sum(axis=1)
    return float(2.0 * (elastic + stretched) / ANGLE)
