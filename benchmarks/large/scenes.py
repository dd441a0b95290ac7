"""Scenes of many tets in contact, at any size, and their steps one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from ...core.contact.barrier.contact_load import ContactLoad
from ...core.foundation.schema.settings import SolverSettings
from ...core.geometry.mesh.tet_mesh import TetMesh
from ...core.methods.model.merged_model import merge_models
from ...core.methods.model.model import Model, build_model
from ...core.methods.model.state import State
from ...core.methods.solvers import make_solver
from ...core.methods.solvers.protocol import Solver
from ...core.numerics.optimization.step_report import StepReport
from ...core.simulation.contact_setup.collision_surfaces import ColliderSet, make_contact_load
from ..contact.scenes import hairpin as small_hairpin
from ..creatures import capsule, carved
from ..elements.contacts import smoothed
from ..meetings import Scene, box, plate

TETS_A_CUBE = 6.0
H = 0.01


def _cells(tets: float, size: Sequence[float]) -> tuple[int, int, int]:
    """Return cells of about equal edges that divide a box into about ``tets`` tets."""
    edge = (np.prod(size) * TETS_A_CUBE / tets) ** (1.0 / 3.0)
    return tuple(max(round(length / edge), 1) for length in size)


def _stacked(at: Sequence[float], tets: float, size: Sequence[float], stiffness: float) -> Model:
    return box(at, _cells(tets, size), size, stiffness)


def jelly(tets: int, soft: float = 3e4, stiff: float = 1e9) -> Scene:
    """Return a soft block on the ground, below an anvil."""
    block, anvil = (0.2, 0.2, 0.2), (0.12, 0.12, 0.08)
    share = np.prod(block) / (np.prod(block) + np.prod(anvil))
    bodies = [
        _stacked((0.0, 0.0, 0.001), share * tets, block, soft),
        _stacked((0.04, 0.04, 0.203), (1.0 - share) * tets, anvil, stiff),
    ]
    return Scene(bodies, [plate(0.0)])


def boxes(tets: int, stiffness: float = 1e5) -> Scene:
    """Return two boxes on the ground, one on the other."""
    size = (0.2, 0.2, 0.2)
    bodies = [_stacked((0.013 * k, 0.007 * k, 0.001 + 0.202 * k), tets / 2, size, stiffness) for k in range(2)]
    return Scene(bodies, [plate(0.0)])


def slabs(tets: int, soft: float = 1e5, stiff: float = 1e8) -> Scene:
    """Return four crossed bars, soft and stiff alternately."""
    bodies = []
    for k in range(4):
        size = (0.4, 0.1, 0.06) if k % 2 == 0 else (0.1, 0.4, 0.06)
        at = (-0.5 * size[0], -0.5 * size[1], 0.001 + 0.062 * k)
        bodies.append(_stacked(at, tets / 4, size, stiff if k % 2 else soft))
    return Scene(bodies, [plate(0.0)])


def hand(tets: int, flesh: float = 3e4, bone: float = 1e9, tilt: float = 0.0, speed: float = 0.0) -> Scene:
    """Return a hand with bones that lies down on the ground: palm, five fingers, and a bone in each.

    ``tilt``, degrees: angle by which the fingers point down. ``speed``, m/s: speed of the fall.
    """
    fingers = [((0.0, y, 0.0), (0.12 - 0.25 * abs(y - 0.01), 1.6 * y, 0.0)) for y in (-0.04, -0.013, 0.013, 0.04)]
    fingers.append(((-0.06, -0.04, 0.0), (0.02, -0.12, 0.0)))

    def inside(p: np.ndarray) -> np.ndarray:
        palm = (np.abs(p[:, 0] + 0.05) < 0.05) & (np.abs(p[:, 1]) < 0.052) & (np.abs(p[:, 2]) < 0.0125)
        return np.logical_or.reduce([palm, *(capsule(p, *each, 0.0125) for each in fingers)])

    cell = (5.3e-4 * TETS_A_CUBE / tets) ** (1.0 / 3.0)
    mesh = carved((-0.11, -0.14, -0.015), (0.14, 0.09, 0.015), cell, inside)
    X = mesh.rest_positions
    centres = X[mesh.tets].mean(axis=1)
    inner = np.logical_or.reduce([capsule(centres, *each, 0.005) for each in fingers])
    X = X @ Rotation.from_euler("y", tilt, degrees=True).as_matrix().T
    mesh = TetMesh(X - [0.0, 0.0, X[:, 2].min() - 0.0005], mesh.tets)
    body = build_model(mesh, np.where(inner, bone, flesh), 0.4, 1e3)
    velocities = np.full(X.shape, [0.0, 0.0, -speed])
    return Scene([body], [plate(0.0)], state=lambda model: model.state_at(model.mesh.rest_positions, velocities))


def landing(tets: int) -> Scene:
    """Return a hand with bones that lands on its fingers."""
    return hand(tets, tilt=20.0, speed=1.0)


def pile(tets: int, stiffness: float = 2e4) -> Scene:
    """Return ten dropped jellies."""
    rng, found = np.random.default_rng(1), []
    for k in range(10):
        at = np.array([0.12 * (k % 2), 0.06 * ((k // 2) % 2), 0.001 + 0.102 * (k // 2)]) + 0.001 * rng.random(3)
        found.append(_stacked(at, tets / 10, (0.1, 0.1, 0.1), stiffness))
    return Scene(found, [plate(0.0)])


def hairpin(tets: int) -> Scene:
    """Return a body with self-contact and two arms, pressed together by a plate."""
    return small_hairpin(H, 24, cell=(3.1e-3 * TETS_A_CUBE / tets) ** (1.0 / 3.0))


SCENES = {
    "jelly": jelly,
    "boxes": boxes,
    "slabs": slabs,
    "hand": hand,
    "landing": landing,
    "pile": pile,
    "hairpin": hairpin,
}
"""By name: functions of the number of tets that return a scene."""


class Played(NamedTuple):
    """A scene that is simulated step by step."""

    scene: Scene
    whole: Model
    contact: ContactLoad

    @classmethod
    def of(cls, scene: Scene, is_smoothed: bool = True) -> Played:
        """Merge the bodies of the scene, of smoothed elements or plain tets."""
        whole = merge_models([smoothed(each) if is_smoothed else each for each in scene.bodies])
        names = tuple(f"plate {k}" for k in range(len(scene.colliders)))
        places, triangles = zip(*scene.colliders) if scene.colliders else ((), ())
        colliders = ColliderSet(names, triangles, tuple(each[None] for each in places))
        return cls(scene, whole, make_contact_load(whole, colliders, scene.friction, scene.selves))

    def solver(self, linear_solver: str = "automatic", **settings: Any) -> Solver:
        """Return a solver of the scene, by default Mixed FEM."""
        chosen = {"max_iterations": 100, **self.scene.settings, **settings}
        return make_solver(self.whole, SolverSettings(linear_solver=linear_solver, **chosen))

    def step(self, solver: Solver, state: State, number: int, h: float = H) -> tuple[State, StepReport]:
        """Return the state after a step of ``h`` s, and the step's report.

        Pins and colliders move to their places of the step ``number``.
        """
        if self.scene.places is not None:
            first = np.concatenate([positions for positions, _triangles in self.scene.colliders])
            self.contact.collider_positions = self.scene.places(number - 1) if number else first
            self.contact.targets = self.scene.places(number)
        rest = self.whole.mesh.rest_positions[self.whole.pinned]
        return solver.step(state, rest if self.scene.pins is None else self.scene.pins(number), h, (self.contact,))
