"""Rabbit dropped on a floor ([ConJac20] Fig. 8, Table 1), and a sliding block: contact and friction of paper and
library.

The paper's contact (Sec. 4): vertices under the floor are pulled back to the nearest point on it by ``K ((1 - alpha) n
n^T + alpha 1)``; velocities after friction are those of Bridson et al. 2002, ``v_t`` shortened by ``mu`` times the
change of ``v_n`` by contact; the nodes' velocities are the nearest to these in the norm of ``M + beta h² K``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg
from scipy.spatial.transform import Rotation

from ...core.contact.penalty.contact_points import ContactPoints
from ...core.contact.penalty.obstacle import GroundPlane
from ...core.contact.penalty.penalty import PenaltyContact, PenaltyParameters
from ...core.foundation.errors import SinewError
from ...core.foundation.events import ignore
from ...core.foundation.schema.settings import SolverSettings
from ...core.geometry.mesh.embedding import embed
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.geometry.mesh.topology import boundary_triangles
from ...core.mechanics.forces.step_potential import Load, Motion, StepPotential
from ...core.methods.model.model import Model, build_model
from ...core.methods.model.state import State
from ...core.methods.solvers import make_solver
from ...core.methods.solvers.conjac_map import ReducedSystem, project_vector
from ...core.methods.solvers.conjac_published import PublishedConJacSolver
from ...core.methods.solvers.incremental_potential import IncrementalPotential
from ...core.methods.solvers.theta_extrapolation import Solution
from ...core.numerics.optimization.step_report import StepReport
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..bodies import block
from ..creatures import capsule, carved, ellipsoid
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row
from ..released import EARTH, PAPER, nearest, with_nodes

E, POISSON, DENSITY, BETA = 4e4, 0.45, 1e3, 0.5
"""Material and damping of the paper's Table 1 and Sec. 4: Pa, no unit, kg/m³, s."""
CELL, HEIGHT, FALL, THROWN = 0.1, 0.1, 0.05, 0.3
"""Cell size for a rabbit 1.55 high, the height to which it is scaled, m, its fall, m, and sideways speed, m/s."""
EARS = [(0.0, -0.12, 1.5), (0.0, 0.12, 1.5)]
NODES = np.array([*EARS, (0.3, 0, 0.95), (-0.3, 0, 0.5), (0.35, 0, 0.3), (0, -0.3, 0.4), (0, 0.3, 0.4), (0, 0, 0)])
TURNS = {"upright": (0.0, 0.0, 0.0), "on its side": (1.2, 0.3, 0.0), "on its ears": (0.2, 2.6, 0.0)}
STEP, SECONDS, FINER, FRICTION, ALPHA = 0.005, 0.4, 4, 0.3, 0.1
SINKING, HOLDING = 5e-3, 20
"""Penetration at rest relative to the height, distributed over this many vertices: the paper states no stiffness."""
ANGLE = np.radians(30.0)


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield the fall and the slope."""
    yield Case("bunny", _bunny)
    yield Case("bunny_slope", _slope)


class Floor:
    """Floor of the paper, at z = 0, for vertices of a model."""

    def __init__(self, model: Model, stiffness: float) -> None:
        triangles = boundary_triangles(model.mesh.tets)
        self.vertices, self.stiffness = np.unique(triangles), stiffness
        self._points = model.points(embed(model.mesh.rest_positions[self.vertices], model.mesh))

    def begin(self, motion: Motion) -> FloorPotential:
        """Return the potential for the vertices below the floor at the beginning of the step."""
        start = motion.x_prev[self.vertices]
        held = np.where(start[:, 2] < 0.0, self.stiffness, 0.0)
        return FloorPotential(self._points, held, start * [1.0, 1.0, 0.0])


class FloorPotential(StepPotential):
    """Springs to the nearest points on the floor."""

    def __init__(self, points: Any, stiffness: np.ndarray, targets: np.ndarray) -> None:
        self._points, self._targets = points, targets
        self._K = stiffness[:, None, None] * np.diag([ALPHA, ALPHA, 1.0])

    def _force(self, x: np.ndarray) -> np.ndarray:
        return np.einsum("pij,pj->pi", self._K, self._points.positions(x) - self._targets)

    def value(self, positions: np.ndarray) -> float:
        """Return the potential, J."""
        return 0.5 * float(np.sum((self._points.positions(positions) - self._targets) * self._force(positions)))

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """Return the gradient (n,3), N."""
        return self._points.spread(self._force(positions))

    def add_stiffness(self, _positions: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Add the constant stiffness."""
        self._points.add_stiffness(self._K, scale, blocks)


class PaperOnFloor(PublishedConJacSolver):
    """The paper's step with its velocity filter, on its floor."""

    floor: Floor
    friction: float

    def _reduced_system(self, *given: Any, **named: Any) -> ReducedSystem:
        self._last = super()._reduced_system(*given, **named)
        return self._last

    def solve(self, state: State, step: IncrementalPotential, report: StepReport) -> Solution:
        """Solve as :meth:`PublishedConJacSolver.solve` does, then apply friction to the velocities."""
        at, on = super().solve(state, step, report), self.floor.vertices
        touching = on[state.positions[on, 2] < 0.0]
        if not len(touching):
            return at
        v = at.velocities.copy()
        before = state.velocities[touching] + step.h * np.asarray(self.settings.gravity)
        pushed = np.maximum(v[touching, 2] - before[:, 2], 0.0)
        slip = np.linalg.norm(v[touching, :2], axis=1)
        v[touching, :2] *= np.maximum(1.0 - self.friction * pushed / np.maximum(slip, 1e-12), 0.0)[:, None]
        carried, beta = self._last, self.settings.damping_factor
        projected = project_vector(carried.T, self.model.mass @ v)
        means = (self._nodes.rows @ v).ravel()
        whole = carried.mass + beta * carried.stiffness
        found = scipy.linalg.solve(whole, projected + beta * carried.stiffness @ means, assume_a="pos")
        velocities = carried.T @ found
        x = at.x + step.h * (velocities - at.velocities)
        deformation = self.elastic.deformation(x)
        return Solution(x, deformation, deformation.stretch(), velocities)


def _rabbit() -> Model:
    def inside(p: np.ndarray) -> np.ndarray:
        parts = [ellipsoid(p, (0.0, 0.0, 0.4), (0.4, 0.34, 0.4)), ellipsoid(p, (0.2, 0.0, 0.9), (0.25, 0.22, 0.23))]
        parts += [capsule(p, (0.12, 0.1 * s, 1.0), (0.0, 0.13 * s, 1.47), 0.085) for s in (1.0, -1.0)]
        parts += [ellipsoid(p, (0.15, 0.2 * s, 0.1), (0.3, 0.12, 0.1)) for s in (1.0, -1.0)]
        return np.any(parts, axis=0)

    mesh = carved((-0.5, -0.5, 0.0), (0.6, 0.5, 1.6), CELL, inside)
    by = HEIGHT / np.ptp(mesh.rest_positions[:, 2])
    model = build_model(type(mesh)(by * mesh.rest_positions, mesh.tets), E, POISSON, DENSITY)
    return with_nodes(model, np.unique(nearest(model, by * NODES)))


def _ours(model: Model, step: float, friction: float) -> Load:
    surface = SurfaceMesh(model.mesh.rest_positions, boundary_triangles(model.mesh.tets))
    points = ContactPoints.of(surface, model.mesh, model.elastic.youngs_modulus, model.points)
    return PenaltyContact(
        points, GroundPlane(0.0), friction, PenaltyParameters.for_body(DENSITY, model.size, 9.81, step), step
    )


def _moved(stepper: Any, load: Load, state: State, step: float, count: int) -> tuple[np.ndarray, int, str]:
    """Return the centres (k,3) m of a body over time, iterations, and the reason if the run was aborted."""
    weights = stepper.model.lumped_masses / stepper.model.lumped_masses.sum()
    seen, iterations, pins = [weights @ state.positions], 0, np.empty((0, 3))
    for _ in range(count):
        try:
            state, report = stepper.step(state, pins, step, (load,))
        except SinewError as error:
            return np.array(seen), iterations, error.code
        seen.append(weights @ state.positions)
        iterations += report.iterations
    return np.array(seen), iterations, ""


def _ways(model: Model, friction: float, gravity: tuple[float, float, float]) -> dict[str, tuple[Any, Load]]:
    """Return a stepper and its floor for each compared method."""
    paper = {**PAPER, "damping_factor": BETA, "gravity": gravity}
    stepper = PaperOnFloor(model, SolverSettings(**paper))
    stiffness = 9.81 * model.lumped_masses.sum() / HOLDING / (SINKING * np.ptp(model.mesh.rest_positions[:, 2]))
    stepper.floor, stepper.friction = Floor(model, stiffness), friction
    better = make_solver(model, SolverSettings(solver="conjac", max_iterations=2, gravity=gravity))
    whole = replace(model, nodes=None)
    mixed, ours = {"solver": "mixed_fem", "max_iterations": 10, "gravity": gravity}, _ours(whole, STEP, friction)
    return {
        "as published": (stepper, stepper.floor),
        "ConJac": (better, _ours(model, STEP, friction)),
        "Mixed FEM, Euler": (make_solver(whole, SolverSettings(**mixed)), ours),
        "Mixed FEM, BDF2": (
            make_solver(whole, SolverSettings(**mixed, integrator="bdf2")),
            _ours(whole, STEP, friction),
        ),
    }


def _bunny() -> Iterable[Row]:
    """Compare the bounce height and the sliding distance with a reference of four times as many steps."""
    warm_up(ignore)
    case, model, plots = "bunny", _rabbit(), []
    yield row(case, "vertices", model.unknowns)
    yield row(case, "tets", len(model.mesh.tets))
    yield row(case, "nodes", len(model.nodes.centres))
    count = round(SECONDS / STEP)
    for words, turn in TURNS.items():
        x = Rotation.from_rotvec(turn).apply(model.mesh.rest_positions)
        x[:, 2] += FALL - x[:, 2].min()
        start = replace(model.state_at(x), velocities=np.tile([THROWN, 0.0, 0.0], (model.unknowns, 1)))
        fine = {"solver": "mixed_fem", "integrator": "bdf2", "max_iterations": 30, "gravity": EARTH}
        whole = replace(model, nodes=None)
        ours = _ours(whole, STEP / FINER, FRICTION)
        truth = _moved(make_solver(whole, SolverSettings(**fine)), ours, start, STEP / FINER, FINER * count)[0][::FINER]
        curves, lowest = (
            [Curve("reference", STEP * np.arange(len(truth)), truth[:, 2])],
            int(truth[: len(truth) // 2, 2].argmin()),
        )
        for name, (stepper, load) in _ways(model, FRICTION, EARTH).items():
            seen, iterations, stopped = _moved(stepper, load, start, STEP, count)
            curves.append(Curve(name, STEP * np.arange(len(seen)), seen[:, 2]))
            if stopped:
                yield row(case, f"{words}, {name}: stopped after", STEP * (len(seen) - 1), "s")
                continue
            up, right = (np.ptp(each[lowest:, 2]) for each in (seen, truth))
            yield row(case, f"{words}, {name}: rebound over the reference's", up / right)
            away = (seen[-1] - truth[-1])[:2] / np.linalg.norm((truth[-1] - truth[0])[:2])
            yield row(case, f"{words}, {name}: end of its slide off by", np.linalg.norm(away), "of it")
            yield row(case, f"{words}, {name}: iterations a step", iterations / count)
        plots.append(Plot(words, "t (s)", "height of the centre (m)", curves))
    draw("conjac", case, plots)


def _slope() -> Iterable[Row]:
    """Compare a block at 30 degrees after a quarter of a second with Coulomb's law."""
    warm_up(ignore)
    mesh = block((4, 4, 3), (0.1, 0.1, 0.05))
    model = build_model(mesh, 2e5, 0.4, DENSITY)
    model = with_nodes(model, nearest(model, np.array([(x, y, 0.05) for x in (0.0, 0.1) for y in (0.0, 0.1)])))
    pull = (9.81 * np.sin(ANGLE), 0.0, -9.81 * np.cos(ANGLE))
    for friction in (0.1, FRICTION, 0.5):
        right = 0.5 * 0.25**2 * (pull[0] + friction * pull[2])
        for name, (stepper, load) in _ways(model, friction, pull).items():
            seen, _iterations, stopped = _moved(stepper, load, model.rest_state(), STEP, round(0.25 / STEP))
            way = np.nan if stopped else seen[-1, 0] - seen[0, 0]
            bar = {"at_least": 0.9, "at_most": 1.1} if name == "ConJac" else {}
            yield row("bunny_slope", f"mu {friction}, {name}: way over Coulomb's", way / right, "", **bar)
