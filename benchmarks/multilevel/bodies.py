"""Scenes after those of [SMS25], built in code at any number of tets, and single steps of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...core.contact.barrier.contact_load import ContactLoad
from ...core.foundation.schema.settings import SolverSettings
from ...core.geometry.mesh.tet_mesh import TetMesh
from ...core.methods.model.merged_model import merge_models
from ...core.methods.model.model import Model, build_model
from ...core.methods.model.state import State
from ...core.methods.multilevel.multilevel_system import Levels
from ...core.methods.solvers import make_solver
from ...core.numerics.optimization.step_report import StepReport
from ...core.simulation.contact_setup.collision_surfaces import ColliderSet, make_contact_load
from ..creatures import capsule, carved
from ..meetings import Scene, box, plate

Direction = Callable[[Levels, np.ndarray], np.ndarray]
"""Function that returns the approximate solution (f,3) of a linear system for a right-hand side (f,3)."""

H = 0.01
"""Time step of the scenes, s ([SMS25] Table 1)."""


def thrown(speed: float, body: int = 0) -> Callable[[Model], State]:
    """Return a function to the state in which one body falls at ``speed``, m/s."""

    def state(whole: Model) -> State:
        velocities = np.zeros((whole.unknowns, 3))
        velocities[whole.slices[body].vertices, 2] = -speed
        return whole.state_at(whole.mesh.rest_positions, velocities)

    return state


def _of(mesh: TetMesh, stiffness: np.ndarray | float, lifted: float = 0.001) -> Model:
    X = mesh.rest_positions
    X = X - [0.0, 0.0, X[:, 2].min() - lifted]
    return build_model(TetMesh(X, mesh.tets), stiffness, 0.4, 1e3)


def jelly(tets: int) -> Scene:
    """Return a soft block on the ground that a stiff anvil hits (Fig. 22)."""
    n = max(int(round((tets / 2.6) ** (1 / 3))), 6)
    soft = box((-0.2, -0.2, 0.001), (n, n, max(n // 3, 2)), (0.4, 0.4, 0.15), 4e5)
    k = max(n // 3, 2)
    anvil = box((-0.06, -0.05, 0.152), (k, k, max(k // 2, 1)), (0.12, 0.12, 0.06), 1e9)
    return Scene([soft, anvil], [plate(0.0)], 0.1, state=thrown(3.0, 1))


def slabs(tets: int) -> Scene:
    """Return a beam of soft and stiff slabs that falls on a bar."""
    n = max(int(round((tets / 48) ** (1 / 3))), 2)
    bar = box((0.2, 0.0, 0.001), (max(n // 2, 2), 2 * n, max(n // 2, 2)), (0.05, 0.2, 0.05), 1e6)
    mesh = box((0.0, 0.05, 0.052), (8 * n, n, n), (0.4, 0.1, 0.1)).mesh
    x = mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0]
    beam = build_model(mesh, np.where((x / 0.05).astype(int) % 2 == 0, 1e5, 1e8), 0.4, 1e3)
    return Scene([bar, beam], [plate(0.0)], 0.3, state=thrown(2.0, 1))


def hand(tets: int) -> Scene:
    """Return a hand with bones of 1e9 Pa in flesh of 3e4 Pa that falls flat on the ground."""
    cell = 0.02 * (8_000 / tets) ** (1 / 3) * 0.62
    tips = [((-0.05 + 0.035 * k, 0.1, 0.0), (-0.065 + 0.045 * k, 0.23 - 0.015 * abs(k - 1.4), 0.0)) for k in range(4)]
    fingers = [*tips, ((0.06, 0.02, 0.0), (0.12, 0.1, 0.0))]

    def inside(p: np.ndarray) -> np.ndarray:
        palm = (np.abs(p[:, 0]) < 0.07) & (p[:, 1] > -0.02) & (p[:, 1] < 0.1) & (np.abs(p[:, 2]) < 0.018)
        return palm | np.any([capsule(p, *finger, 0.016) for finger in fingers], axis=0)

    mesh = carved((-0.12, -0.04, -0.03), (0.16, 0.27, 0.03), cell, inside)
    c = mesh.rest_positions[mesh.tets].mean(axis=1)
    bone = np.any([capsule(c, start, end, 0.006) for start, end in fingers], axis=0)
    return Scene([_of(mesh, np.where(bone, 1e9, 3e4))], [plate(0.0)], 0.5, state=thrown(2.0))


def lattice_ball(tets: int, stiffness: float = 1e7, radius: float = 0.12) -> TetMesh:
    """Return a hollow ball with a lattice of holes, after the airless basketball."""
    cell = radius * 0.085 * (20_000 / tets) ** (1 / 3)

    def inside(p: np.ndarray) -> np.ndarray:
        r = np.linalg.norm(p, axis=1)
        q = 2.0 * np.pi * p / (0.75 * radius)
        holes = np.cos(q[:, 0]) + np.cos(q[:, 1]) + np.cos(q[:, 2])
        return (r < radius) & (r > 0.78 * radius) & (holes < 1.3)

    return carved((-1.05 * radius,) * 3, (1.05 * radius,) * 3, cell, inside)


def basketball(tets: int, stiffness: float = 1e7) -> Scene:
    """Return the lattice ball that falls on the ground (Figs. 13, 14)."""
    return Scene([_of(lattice_ball(tets), stiffness)], [plate(0.0)], 0.5, state=thrown(5.0))


def basketball_hoop(tets: int) -> Scene:
    """Return the soft lattice ball on a pinned ring of steel, 3 % too small (Fig. 1)."""
    mesh = lattice_ball(0.8 * tets)
    cell = 0.012

    def inside(p: np.ndarray) -> np.ndarray:
        return (np.hypot(p[:, 0], p[:, 1]) - 0.135) ** 2 + p[:, 2] ** 2 < 0.018**2

    ring = carved((-0.16, -0.16, -0.024), (0.16, 0.16, 0.024), cell, inside)
    X = ring.rest_positions
    steel = build_model(ring, 1e10, 0.3, 7e3, pinned=np.flatnonzero(X[:, 0] > 0.1))
    ball = _of(mesh, 5e5, 0.062)
    return Scene([ball, steel], (), 0.1, state=thrown(3.0))


def kooshball(tets: int) -> Scene:
    """Return a ball with thin tendrils thrown at the ground (Fig. 15)."""
    cell = 0.005 * (20_000 / tets) ** (1 / 3)
    k = np.arange(40) + 0.5
    z, turn = 1.0 - k / 20.0, np.pi * (1.0 + 5.0**0.5) * k
    away = np.column_stack([np.sqrt(1.0 - z**2) * np.cos(turn), np.sqrt(1.0 - z**2) * np.sin(turn), z])

    def inside(p: np.ndarray) -> np.ndarray:
        tendrils = np.any([capsule(p, (0.0, 0.0, 0.0), 0.11 * d, 0.0055) for d in away], axis=0)
        return tendrils | (np.linalg.norm(p, axis=1) < 0.04)

    mesh = carved((-0.12,) * 3, (0.12,) * 3, cell, inside)
    return Scene([_of(mesh, 5e5)], [plate(0.0)], 0.2, state=thrown(5.0))


def shoe(tets: int) -> Scene:
    """Return a soft midsole between a stiff outsole and an upper, thrown at the ground (Figs. 16, 17)."""
    n = max(int(round((tets / 60) ** (1 / 3))), 2)
    mesh = block_of((5 * n, 2 * n, n), (0.28, 0.1, 0.06))
    c = mesh.rest_positions[mesh.tets].mean(axis=1)
    E = np.select([c[:, 2] < 0.01, c[:, 2] > 0.045], [1e8, 1e7], 1e6)
    return Scene([_of(mesh, E)], [plate(0.0)], 0.5, state=thrown(5.0))


def stressball(tets: int) -> Scene:
    """Return a soft ball in a stiff shell with cells, thrown at the ground (Fig. 18)."""
    radius = 0.1
    cell = radius * 0.115 * (20_000 / tets) ** (1 / 3)
    mesh = carved((-0.105,) * 3, (0.105,) * 3, cell, lambda p: np.linalg.norm(p, axis=1) < radius)
    c = mesh.rest_positions[mesh.tets].mean(axis=1)
    q, r = 2.0 * np.pi * c / 0.11, np.linalg.norm(c, axis=1)
    shell = (r > 0.8 * radius) & (np.cos(q[:, 0]) + np.cos(q[:, 1]) + np.cos(q[:, 2]) < 0.5)
    return Scene([_of(mesh, np.where(shell, 1e8, 4e5))], [plate(0.0)], 0.5, state=thrown(10.0))


def roller(tets: int) -> Scene:
    """Return a foam roller whose pinned axle presses it onto pinned, bumpy ground (Fig. 21)."""
    cell = 0.0075 * (20_000 / tets) ** (1 / 3)

    def wheel(p: np.ndarray) -> np.ndarray:
        return (np.hypot(p[:, 0], p[:, 2]) < 0.06) & (np.abs(p[:, 1]) < 0.06)

    mesh = carved((-0.065, -0.065, -0.065), (0.065, 0.065, 0.065), cell, wheel)
    mesh = TetMesh(mesh.rest_positions + [0.0, 0.0, 0.001 - mesh.rest_positions[:, 2].min() + 0.03], mesh.tets)
    X = mesh.rest_positions
    axle = np.hypot(X[:, 0], X[:, 2] - X[:, 2].mean()) < 0.02
    foam = build_model(mesh, 2e4, 0.4, 2e2, pinned=np.flatnonzero(axle))
    ground = block_of((int(0.2 / cell), int(0.14 / cell), max(int(0.03 / cell), 2)), (0.2, 0.14, 0.03))
    Y = ground.rest_positions - [0.1, 0.07, 0.0]
    bumps = 0.5 + 0.5 * np.cos(60.0 * Y[:, 0]) * np.cos(50.0 * Y[:, 1])
    Y[:, 2] *= 0.7 + 0.3 * bumps
    soil = build_model(TetMesh(Y, ground.tets), 1e6, 0.4, 1e3, pinned=np.flatnonzero(Y[:, 2] < 1e-9))
    rest, count = merge_models([foam, soil]), len(foam.pinned)
    start = rest.mesh.rest_positions[rest.pinned]

    def pins(k: int) -> np.ndarray:
        turned, angle = start.copy(), 0.12 * (k + 1)
        arms = start[:count] - start[:count].mean(axis=0)
        c, s = np.cos(angle), np.sin(angle)
        arms = np.column_stack([c * arms[:, 0] + s * arms[:, 2], arms[:, 1], c * arms[:, 2] - s * arms[:, 0]])
        turned[:count] = start[:count].mean(axis=0) + arms + [0.06 * angle, 0.0, -0.004 * min(k + 1, 5)]
        return turned

    return Scene([foam, soil], (), 0.1, pins=pins)


def block_of(cells: tuple[int, int, int], size: tuple[float, float, float]) -> TetMesh:
    """Return a block from the origin."""
    return box((0.0, 0.0, 0.0), cells, size).mesh


SCENES: dict[str, Callable[[int], Scene]] = {
    "jelly": jelly,
    "slabs": slabs,
    "hand": hand,
    "basketball": basketball,
    "basketball_hoop": basketball_hoop,
    "kooshball": kooshball,
    "shoe": shoe,
    "stressball": stressball,
    "roller": roller,
}


class Moment(NamedTuple):
    """A state of a scene at which single steps are compared.

    ``whole``: merged model. ``state``: state of the scene. ``step``: number of the next step. ``scene``: the scene.
    """

    whole: Model
    state: State
    step: int
    scene: Scene

    def contact(self) -> ContactLoad:
        """Return the contact of the scene, as at its start."""
        places, triangles = zip(*self.scene.colliders) if self.scene.colliders else ((), ())
        names = tuple(f"plate {k}" for k in range(len(places)))
        each = ColliderSet(names, triangles, tuple(place[None] for place in places))
        return make_contact_load(self.whole, each, self.scene.friction, self.scene.selves)

    def advanced(
        self, polished: bool = True, direction: Direction | None = None, **settings: Any
    ) -> tuple[State, StepReport, float, Any]:
        """Return the state after a step, its report, its processor time, s, and the solver.

        ``polished``: False to leave out the last level of the multilevel solver. ``direction``: function
        that replaces the solution by levels, or None.
        """
        solver = make_solver(self.whole, SolverSettings(**{"max_iterations": 100, **settings}))
        if direction is not None:
            solver.system.levels.solve = partial(direction, solver.system.levels)
        if not polished:
            solver.system.levels.polishing = 0
        pins = self.whole.mesh.rest_positions[self.whole.pinned]
        targets, meet = pins if self.scene.pins is None else self.scene.pins(self.step), self.contact()
        begin = time.process_time()
        state, report = solver.step(self.state, targets, H, (meet,))
        return state, report, time.process_time() - begin, solver

    @property
    def diagonal(self) -> float:
        """Diagonal of the scene's bounding box, m."""
        return float(np.linalg.norm(np.ptp(self.state.positions, axis=0)))


def moment_of(scene: Scene, steps: int) -> Moment:
    """Return the state of a scene after a number of steps with Newton's method."""
    whole = merge_models(scene.bodies)
    moment = Moment(whole, scene.state(whole), 0, scene)
    for k in range(steps):
        moment = moment._replace(state=moment.advanced(solver="newton", linear_solver="cholmod")[0], step=k + 1)
    return moment
