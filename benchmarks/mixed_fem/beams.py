"""Stretched beams ([MFEM22] Fig. 5): volume and stress of the eight energies compared with their closed forms.

The ends slide: only x of their vertices is held, by springs along x of a million times the beam's stiffness, so the
beam may contract and every tet has the same stretch. In uniaxial tension the lateral stretch then solves ``dpsi/ds2 =
0``; the energies are implemented independently, and differentiated by complex steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

from ...core.foundation.schema.settings import SolverSettings
from ...core.geometry.mesh.tet_mesh import TetMesh
from ...core.mechanics.energies import ENERGIES
from ...core.mechanics.forces.step_potential import Motion
from ...core.methods.model.model import Model, build_model
from ...core.methods.model.state import State
from ...core.methods.solvers import make_solver
from ..bodies import block, has, load
from ..pictures import Curve, Plot, Snapshot, draw
from ..registry import Case, Row, row

STIFFNESS, RATIO = 1e6, 0.45
STRETCHES = (1.0, 1.1, 1.2, 1.3, 1.4, 1.5)
STATIC = 10.0
"""Length of a step, s, so long that inertia is a millionth of the stiffness; two steps per stretch."""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield a block built in code, and the paper's beam."""
    yield Case("beams", lambda: _beams("beams", block((10, 3, 3), (1.0, 0.25, 0.25)), 1e-5))
    if has(data, "beam_5k"):
        yield Case("beams_5k", lambda: _paper_beam(data))


def _paper_beam(data: Path) -> Iterable[Row]:
    body = load(data, "beam_5k")
    return _beams("beams_5k", TetMesh(body["vertices"], body["tets"]), 1e-2)


class GlidingEnds:
    """Load of springs that hold the x of some vertices at ``targets`` and leave y and z free, ``stiffness`` in N/m."""

    def __init__(self, tets: np.ndarray, vertices: np.ndarray, stiffness: np.ndarray) -> None:
        self.vertices, self.stiffness = vertices, stiffness
        self.targets = np.zeros(len(vertices))
        corners = tets.ravel()
        slot = np.array([np.flatnonzero(corners == v)[0] for v in vertices])
        self._tets = slot // 4
        # The diagonal block of corner a has number a (a + 3) / 2 of the ten pairs.
        self._pairs = (slot % 4) * (slot % 4 + 3) // 2

    def begin(self, motion: Motion) -> GlidingEnds:
        """Return the load itself: its potential depends on positions only."""
        return self

    def value(self, x: np.ndarray) -> float:
        """Return the potential, J."""
        return 0.5 * float(np.sum(self.stiffness * (x[self.vertices, 0] - self.targets) ** 2))

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Return the gradient (n,3), N."""
        out = np.zeros_like(x)
        out[self.vertices, 0] = self.stiffness * (x[self.vertices, 0] - self.targets)
        return out

    def add_stiffness(self, x: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Add the Hessian to the blocks of one tet for each vertex."""
        np.add.at(blocks, (self._tets, self._pairs, 0, 0), scale * self.stiffness)

    def update(self, x: np.ndarray) -> bool:
        """Return False: nothing is lagged."""
        return False


def _density(name: str) -> Callable[..., complex]:
    """Return the energy of principal stretches a, b, c, from its definition."""

    def quadratic(lam_part: Callable[..., complex]) -> Callable[..., complex]:
        return lambda a, b, c, mu, lam: (
            mu * ((a - 1) ** 2 + (b - 1) ** 2 + (c - 1) ** 2) + lam / 2 * lam_part(a, b, c, lam)
        )

    def green(a: complex, b: complex, c: complex, mu: float, lam: float) -> complex:
        e = np.array([a**2 - 1, b**2 - 1, c**2 - 1]) / 2
        return mu * np.sum(e**2) + lam / 2 * np.sum(e) ** 2

    hooke = quadratic(lambda a, b, c, lam: (a + b + c - 3) ** 2)
    return {
        "arap": quadratic(lambda a, b, c, lam: 0.0),
        "corotated": hooke,
        "linear": hooke,
        "fixed_corotated": quadratic(lambda a, b, c, lam: (a * b * c - 1) ** 2),
        "stvk": green,
        "neo_hookean": lambda a, b, c, mu, lam: (
            mu / 2 * (a * a + b * b + c * c - 3) - mu * np.log(a * b * c) + lam / 2 * np.log(a * b * c) ** 2
        ),
        "stable_neo_hookean": lambda a, b, c, mu, lam: (
            mu / 2 * (a * a + b * b + c * c - 3) - mu * (a * b * c - 1) + (lam + mu) / 2 * (a * b * c - 1) ** 2
        ),
        "fung": lambda a, b, c, mu, lam: (
            mu * (np.exp((a * a + b * b + c * c - 3) / 2) - 1) - mu * (a * b * c - 1) + lam / 2 * (a * b * c - 1) ** 2
        ),
    }[name]


def closed_form(name: str, stretch: float) -> tuple[float, float]:
    """Return volume ratio and axial stress (force by rest area, Pa) in uniaxial tension."""
    mu = STIFFNESS / (2 * (1 + RATIO))
    lam = STIFFNESS * RATIO / ((1 + RATIO) * (1 - 2 * RATIO))
    psi, i = _density(name), 1e-30j
    across = brentq(lambda t: psi(stretch, t + i, t, mu, lam).imag, 0.3, 1.2, xtol=1e-15)
    return stretch * across**2, psi(stretch + i, across, across, mu, lam).imag / i.imag


def _stretch(mesh: TetMesh, name: str) -> tuple[Model, State, np.ndarray]:
    """Return the body after quasistatic stretching, and stretch, volume ratio and axial stress at every stop (k,3).

    Mixed FEM uses the corotated form of the linear energy, which is equal without rotation; Newton FEM uses the linear
    one.
    """
    model = build_model(mesh, STIFFNESS, RATIO, 1e3, name)
    X = mesh.rest_positions
    low, high = (np.flatnonzero(np.abs(X[:, 0] - end) < 1e-6 * mesh.size) for end in (X[:, 0].min(), X[:, 0].max()))
    length, area = np.ptp(X[:, 0]), model.elastic.weights.sum() / np.ptp(X[:, 0])
    ends = np.concatenate([low, high])
    total = 1e6 * STIFFNESS * area / length
    rollers = GlidingEnds(mesh.tets, ends, np.concatenate([np.full(len(e), total / len(e)) for e in (low, high)]))
    solver = "newton" if name == "linear" else "mixed_fem"
    settings = SolverSettings(solver=solver, max_iterations=100, tolerance=1e-12, gravity=(0.0, 0.0, 0.0))
    stepper, state, course = make_solver(model, settings), model.rest_state(), []
    for stretch in STRETCHES:
        rollers.targets = np.concatenate([X[low, 0], X[low, 0] + stretch * length])
        for _ in range(2):
            state = State(state.positions, np.zeros_like(X), state.stretch)
            state, _report = stepper.step(state, np.empty((0, 3)), STATIC, (rollers,))
        x = state.positions
        deformation = model.elastic.deformation(x)
        ratio = float(np.sum(model.elastic.weights * np.linalg.det(deformation.F)) / model.elastic.weights.sum())
        pull = model.elastic.gradient(deformation)[high, 0].sum() / area
        course.append((float(x[high, 0].mean() - x[low, 0].mean()) / length, ratio, pull))
    return model, state, np.array(course)


def _beams(case: str, mesh: TetMesh, bar: float) -> Iterable[Row]:
    shots, volumes, stresses = [], [], []
    for k, name in enumerate(ENERGIES):
        model, state, course = _stretch(mesh, name)
        theory = np.array([closed_form(name, stretch) for stretch in course[:, 0]])
        yield row(case, f"{name}: stretch", course[-1, 0])
        yield row(case, f"{name}: volume ratio", course[-1, 1])
        yield row(
            case, f"{name}: |volume / theory - 1|", np.abs(course[:, 1] / theory[:, 0] - 1).max(), "", at_most=bar
        )
        error = np.abs(course[:, 2] - theory[:, 1]).max() / np.abs(theory[:, 1]).max()
        yield row(case, f"{name}: axial stress", course[-1, 2], "Pa")
        yield row(case, f"{name}: |stress - theory| / largest", error, "", at_most=bar)
        shots.append(Snapshot(f"{name}: {course[-1, 1]:.3f} of its volume", state.positions, model.mesh.tets))
        volumes += [
            Curve("", course[:, 0], theory[:, 0], f"C{k}-"),
            Curve(name, course[:, 0], course[:, 1], f"C{k}o"),
        ]
        stresses += [
            Curve("", course[:, 0], theory[:, 1], f"C{k}-"),
            Curve(name, course[:, 0], course[:, 2], f"C{k}o"),
        ]
    plots = [
        Plot("volume ratio (lines: closed form)", "stretch", "V / V0", volumes),
        Plot("axial stress (lines: closed form)", "stretch", "Pa", stresses),
    ]
    draw("mixed-fem", case, [*shots, *plots], columns=2)
