"""Coulomb friction: a block on an incline sticks below the friction angle and slides at g (sin - mu cos) above it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ...core.contact.penalty.collider_pose import ColliderPose
from ...core.contact.penalty.collider_surface import ColliderSurface
from ...core.contact.penalty.contact_points import ContactPoints
from ...core.contact.penalty.mesh_collider import MeshCollider
from ...core.contact.penalty.obstacle import GroundPlane, Obstacle
from ...core.contact.penalty.penalty import PenaltyContact, PenaltyParameters
from ...core.foundation.schema.settings import SolverSettings
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.geometry.mesh.topology import boundary_triangles
from ...core.methods.model.model import build_model
from ...core.methods.solvers import make_solver
from ...core.methods.subspaces.reduced_model import skinning_subspace
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..bodies import block
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row

G, ANGLE, STEP, STEPS = 9.81, np.radians(20.0), 1 / 60, 60
SIZE = (0.2, 0.2, 0.1)
TILTS = ("gravity", "collider")


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield the incline as a tilted gravity over the ground, and as a tilted mesh."""
    for tilt in TILTS:
        yield Case(f"incline_{tilt}", lambda tilt=tilt: _incline(tilt))


def slide(
    tilt: str,
    friction: float,
    solver: str = "mixed_fem",
    steps: int = STEPS,
    cells: tuple[int, int, int] = (2, 2, 1),
    modes: int = 0,
    most: int | None = None,
) -> np.ndarray:
    """Return distances down a slope of 20 degrees, (steps+1,) m, of a block of 2 kg/l that starts at rest.

    ``tilt``: "gravity" tilts gravity over the ground, "collider" a square below the block. ``modes``: of a subspace,
    for its solvers; ``most``: maximum number of contact points.
    """
    mesh = block(cells, SIZE)
    model = build_model(mesh, 1e7, 0.3, 2000.0)
    space = skinning_subspace(model, modes, 0).model if modes else model
    surface = SurfaceMesh(mesh.rest_positions, boundary_triangles(mesh.tets))
    points = ContactPoints.of(surface, mesh, np.full(len(mesh.tets), 1e7), space.points, most)
    numbers = PenaltyParameters.for_body(2000.0, mesh.size, G, STEP)
    c, s = np.cos(ANGLE), np.sin(ANGLE)
    down = np.array([1.0, 0.0, 0.0])
    gravity = G * np.array([s, 0.0, -c])
    x = mesh.rest_positions
    obstacle: Obstacle = GroundPlane(0.0)
    if tilt == "collider":
        R = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
        square = np.array([[-1.0, -9.0, 0.0], [9.0, -9.0, 0.0], [9.0, 9.0, 0.0], [-1.0, 9.0, 0.0]])
        surface = ColliderSurface("slope", np.array([[0, 1, 2], [0, 2, 3]]), (square @ R.T)[None])
        pose = ColliderPose.of(surface, square @ R.T)
        obstacle = MeshCollider(surface, pose, pose, 0.0, numbers.sheet_thickness)
        x = (x + [0.0, 0.0, numbers.sheet_thickness]) @ R.T
        gravity, down = np.array([0.0, 0.0, -G]), R @ down
    load = PenaltyContact(points, obstacle, friction, numbers, STEP)
    stepper = make_solver(space, SolverSettings(solver=solver, gravity=tuple(gravity)))
    X = mesh.rest_positions
    # Without pins a subspace's basis is orthonormal under the mass.
    state = space.state_at(space.basis.T @ (model.mass @ (x - X)) if modes else x)
    way = [0.0]
    for _ in range(steps):
        state, _report = stepper.step(state, np.zeros((0, 3)), STEP, (load,))
        now = X + space.basis @ state.positions if modes else state.positions
        way.append(float(np.mean((now - x) @ down)))
    return np.array(way)


def acceleration(way: np.ndarray) -> float:
    """Return the acceleration along a path of equal steps of implicit Euler from rest, m/s²: ``x_n = a h² n (n + 1) /
    2``. The first tenth, in which the block settles, is omitted.
    """
    n = np.arange(len(way))[len(way) // 10 :]
    basis = np.column_stack([0.5 * STEP**2 * n * (n + 1), STEP * n, np.ones(len(n))])
    return float(np.linalg.lstsq(basis, way[n], rcond=None)[0][0])


def _incline(tilt: str) -> Iterable[Row]:
    warm_up(lambda _event: None)
    name, critical = f"incline_{tilt}", np.tan(ANGLE)
    curves = []
    for part in (0.0, 0.5, 0.9, 0.98, 1.02, 1.5):
        way = slide(tilt, part * critical)
        label = f"mu = {part:g} tan"
        curves.append(Curve(label, STEP * np.arange(len(way)), way))
        if part < 1.0:
            expected = G * (np.sin(ANGLE) - part * critical * np.cos(ANGLE))
            yield row(name, f"acceleration, {label}", acceleration(way), "m/s²")
            # Relative to the driving force: at mu = 0.98 tan the acceleration is a small difference.
            error = abs(acceleration(way) - expected) / (G * np.sin(ANGLE))
            yield row(name, f"its error / (g sin), {label}", error, "", at_most=1e-4)
        else:
            yield row(name, f"way in a second / size, {label}", way[-1] / SIZE[0], "", at_most=2e-3)
    slides = slide(tilt, 0.98 * critical)[-1] / SIZE[0]
    yield row(name, "way in a second / size, mu = 0.98 tan", slides, "", at_least=0.1)
    draw("mixed-fem", name, [Plot("A block on a slope of 20 degrees", "t (s)", "way (m)", curves)])
