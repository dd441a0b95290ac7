"""Stiffness damping: its effect on rotation, decay of vibrations, cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from ...core.foundation.schema.settings import MaterialSettings, ResolutionSettings, SolverSettings
from ...core.foundation.schema.solver_kinds import SOLVER_KINDS
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.geometry.mesh.tet_mesh import TetMesh
from ...core.geometry.mesh.topology import boundary_triangles
from ...core.jobs.job.body import Body
from ...core.jobs.job.job import Job
from ...core.mechanics.energies import ENERGIES
from ...core.methods.model.model import Model, build_model
from ...core.methods.model.state import State
from ...core.methods.solvers import make_solver
from ...core.methods.solvers.stretch_damping import StretchDamping
from ...core.methods.subspaces.reduced_model import skinning_subspace
from ...core.methods.subspaces.space import Space
from ...core.numerics.integrators.registry import INTEGRATORS
from ...core.simulation.frame_loop.stepper import Stepper
from ...core.simulation.preparation.prepare import prepare
from ..bodies import block, hard_starts, held_end, stiff_slabs
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row

CELLS, SIZE = (8, 2, 2), (0.4, 0.1, 0.1)
DENSITY = 1e3
NOWHERE, DOWN = (0.0, 0.0, 0.0), (0.0, 0.0, -9.81)
BETAS = (0.001, 0.01)
SLABS = "1e5 and 1e9"
STIFFNESSES: dict[str, float | None] = {"1e5": 1e5, "1e7": 1e7, "1e9": 1e9, SLABS: None}
COUNTED = "backward_euler", "bdf2"
"""Time integrators whose iterations are counted: those in ``BEFORE``."""
KEEPS = 0.5
"""Fraction of its spin kept without damping, below which Linearly Implicit's own error exceeds that of damping."""

BEFORE = {
    ("mixed_fem", 0.001): 2473,
    ("mixed_fem", 0.01): 2393,
    ("newton", 0.001): 1289,
    ("newton", 0.01): 1164,
}
"""Iterations with ``beta K (x - base) / h``: Mixed FEM in all scenes, Newton in the mild ones."""


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield bodies built in code."""
    for solver in SOLVER_KINDS:
        yield Case(f"damping_spin_{solver}", partial(_spin, solver))
    yield Case("damping_spin_live", _live)
    yield Case("damping_vibration", _vibration)
    yield Case("damping_forces", _forces)
    yield Case("damping_iterations", _iterations)
    yield Case("damping_scrambled", _scrambled)


def _body(stiffness: str, ratio: float, held: bool) -> Model:
    mesh = block(CELLS, SIZE)
    modulus = STIFFNESSES[stiffness]
    pinned = held_end(mesh) if held else ()
    return build_model(mesh, stiff_slabs(mesh, 1e9, 1e5) if modulus is None else modulus, ratio, DENSITY, pinned=pinned)


class SeenModel:
    """A model in the space of a solver, observed at its vertices."""

    def __init__(self, model: Model, solver: str, space: Space | None = None) -> None:
        self.model = model
        if space is None:
            space = skinning_subspace(model, 8, 160).model if SOLVER_KINDS[solver].takes_modes else model
        self.space = space

    def state(self, displacement: np.ndarray, velocities: np.ndarray) -> State:
        """Return a state with displacements and velocities (n,3) of the vertices, or the closest one."""
        if self.space is self.model:
            return self.model.state_at(self.model.mesh.rest_positions + displacement, velocities)
        A = self.space.basis
        return self.space.state_at(*(np.linalg.lstsq(A, each, rcond=None)[0] for each in (displacement, velocities)))

    def seen(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """Return positions and velocities of the vertices."""
        if self.space is self.model:
            return state.positions, state.velocities
        A = self.space.basis
        return self.model.mesh.rest_positions + A @ state.positions, A @ state.velocities

    def spin(self, state: State) -> float:
        """Return the angular momentum about z through the centre of mass, kg m²/s."""
        x, v = self.seen(state)
        centre = self.model.lumped_masses @ x / self.model.lumped_masses.sum()
        return float(np.cross(x - centre, self.model.mass @ v).sum(axis=0)[2])


# -- turning --


def _spins(body: SeenModel, solver: str, integrator: str, turns: float, rate: int, beta: float) -> list[float]:
    """Return the remaining fractions of the spin in a quarter of a second, step by step."""
    X = body.model.mesh.rest_positions
    settings = SolverSettings(
        solver=solver,
        integrator=integrator,
        stiffness_damping=beta,
        gravity=NOWHERE,
        max_iterations=200,
        tolerance=1e-7,
    )
    stepper = make_solver(body.space, settings)
    state = body.state(0.0 * X, np.cross([0.0, 0.0, 2.0 * np.pi * turns], X - X.mean(axis=0)))
    seen = [body.spin(state)]
    for _ in range(rate // 4):
        state, _report = stepper.step(state, state.positions[body.space.pinned], 1.0 / rate)
        seen.append(body.spin(state))
    return [each / seen[0] for each in seen]


def _spin(solver: str) -> Iterable[Row]:
    name, curves = f"damping_spin_{solver}", []
    for stiffness, integrator in product(STIFFNESSES, INTEGRATORS):
        body, off, own = SeenModel(_body(stiffness, 0.3, False), solver), [], []
        for turns, rate in product((0.25, 1.0), (24, 240)):
            free = _spins(body, solver, integrator, turns, rate, 0.0)
            own.append(free[-1])
            if solver == "linearly_implicit" and free[-1] < KEEPS:
                continue
            for beta in BETAS:
                damped = _spins(body, solver, integrator, turns, rate, beta)
                off.append(abs(damped[-1] / free[-1] - 1.0))
                if (integrator, rate, turns) == ("bdf2", 24, 0.25):
                    curves.append(Curve(f"{stiffness} Pa, {beta} s", np.arange(7) / 24, damped))
        label = f"{stiffness} Pa, {integrator}"
        yield row(name, f"{label}: least spin left without", min(own))
        if off:
            yield row(name, f"{label}: farthest off that by friction", max(off), "", at_most=0.01)
    draw("physics", name, [Plot("A quarter turn a second, 24 steps of BDF2 a second", "t (s)", "spin left", curves)])


def _live() -> Iterable[Row]:
    """Simulate as bakes and live mode do: a job's frames, in a subspace, on a lattice, with two substeps each."""
    mesh, curves = block(CELLS, SIZE), []
    surface = SurfaceMesh(mesh.rest_positions, boundary_triangles(mesh.tets))
    for solver, beta in product(("subspace_mixed_fem", "subspace_fem"), BETAS):
        seen = []
        for each in (0.0, beta):
            settings = SolverSettings(
                solver=solver,
                integrator="bdf2",
                substeps=2,
                stiffness_damping=each,
                gravity=NOWHERE,
                tolerance=1e-7,
                max_iterations=200,
            )
            rubber = Body(
                surface=surface,
                materials=(MaterialSettings("Rubber", 1e7),),
                material_weights=np.ones((len(surface.positions), 1)),
                pinned_vertices=np.zeros(0, dtype=np.int32),
                pin_positions=np.zeros((7, 0, 3)),
                resolution=ResolutionSettings(cells_across=8),
                solver=settings,
            )
            job = Job(bodies=(rubber,), frame_start=1, frame_end=7, frame_rate=24.0)
            prepared = prepare(job)
            body = SeenModel(prepared.model, solver, prepared.space)
            X, stepper = prepared.model.mesh.rest_positions, Stepper(job, prepared)
            state = body.state(0.0 * X, np.cross([0.0, 0.0, 2.0 * np.pi], X - X.mean(axis=0)))
            spins = [body.spin(state)]
            for frame in range(1, 7):
                state, _reports = stepper.advance(state, frame)
                spins.append(body.spin(state))
            seen.append(np.divide(spins, spins[0]))
        curves.append(Curve(f"{solver}, {beta} s", np.arange(7) / 24, seen[1]))
        label = f"{solver}, {beta} s: off that without friction"
        yield row("damping_spin_live", label, abs(seen[1][-1] / seen[0][-1] - 1.0), "", at_most=0.01)
    draw("physics", "damping_spin_live", [Plot("A turn a second, frames of a job", "t (s)", "spin left", curves)])


# -- vibrations --


def _mode(model: Model) -> tuple[float, np.ndarray]:
    """Return the lowest vibration of a free body: angular frequency, 1/s, and its mass-orthonormal shape (n,3)."""
    X, elastic = model.mesh.rest_positions, model.elastic
    shifts = 1e-6 * np.eye(X.size).reshape(-1, *X.shape)
    forces = [elastic.gradient(elastic.deformation(X + shift)) for shift in (*shifts, *-shifts)]
    K = np.subtract(*np.split(np.reshape(forces, (2 * X.size, -1)), 2)) / 2e-6
    values, vectors = eigh(0.5 * (K + K.T), np.kron(model.mass.toarray(), np.eye(3)), subset_by_index=(6, 6))
    return float(np.sqrt(values[0])), vectors[:, 0].reshape(X.shape)


def _energies(model: Model, omega: float, mode: np.ndarray, solver: str, beta: float, steps: int) -> list[float]:
    """Return the decay of a vibration over two periods, with ``steps`` steps of BDF2 per period, up to a factor."""
    body, X = SeenModel(model, solver), model.mesh.rest_positions
    settings = SolverSettings(
        solver=solver, integrator="bdf2", stiffness_damping=beta, gravity=NOWHERE, tolerance=1e-12
    )
    stepper, state, seen = make_solver(body.space, settings), body.state(1e-4 * mode, 0.0 * X), []
    for _ in range(2 * steps + 1):
        x, v = body.seen(state)
        amplitude, speed = (float(np.sum(mode * (model.mass @ part))) for part in (x - X, v))
        seen.append((omega * amplitude) ** 2 + speed**2)
        state, _report = stepper.step(state, state.positions[body.space.pinned], 2.0 * np.pi / omega / steps)
    return seen


def _vibration() -> Iterable[Row]:
    mesh = block((6, 1, 1), SIZE)
    model = build_model(mesh, 1e5, 0.3, DENSITY)
    omega, mode = _mode(model)
    beta, curves = 0.04 / omega, []
    for solver in SOLVER_KINDS:
        for steps in (20, 40, 100):
            free, damped = (_energies(model, omega, mode, solver, each, steps) for each in (0.0, beta))
            rate = np.log(free[-1] / free[steps] * damped[steps] / damped[-1]) / (2.0 * np.pi / omega)
            part, label = rate / (beta * omega**2), f"{solver}, {steps} steps a period"
            yield row("damping_vibration", f"{label}: decay / Rayleigh's", part)
            if steps >= 40:
                yield row("damping_vibration", f"{label}: |ratio - 1|", abs(part - 1.0), "", at_most=0.02)
            if solver == "mixed_fem":
                curves.append(Curve(f"{steps} steps", np.arange(2 * steps + 1) / steps, np.divide(damped, damped[0])))
    draw("physics", "damping_vibration", [Plot("A small vibration", "periods", "energy", curves, log_y=True)])


# -- forces --


def _forces() -> Iterable[Row]:
    """Measure total force and torque of damping for every energy; path and momenta of a bent, flying body."""
    name = "damping_forces"
    for energy in ENERGIES:
        mesh = block(CELLS, SIZE)
        model, rng = build_model(mesh, 1e5, 0.3, DENSITY, energy), np.random.default_rng(0)
        X = mesh.rest_positions
        solver = make_solver(model, SolverSettings(integrator="bdf2", stiffness_damping=0.01, gravity=NOWHERE))
        state = model.state_at(X + 2e-3 * rng.standard_normal(X.shape), rng.standard_normal(X.shape))
        state, _report = solver.step(state, state.positions[:0], 0.01)
        time = solver.integrator.begin(state.positions, state.velocities, state.history, 0.01)
        x = state.positions + 2e-3 * rng.standard_normal(X.shape)
        stress = StretchDamping(model.elastic, 0.01, state, time).stress(model.elastic.deformation(x))
        force = model.elastic.nodal_forces(stress)
        size = np.abs(force).sum()
        yield row(
            name, f"{energy}: |sum of forces| / forces", np.abs(force.sum(axis=0)).max() / size, "", at_most=1e-13
        )
        torque = np.abs(np.cross(x, force).sum(axis=0)).max() / (size * model.size)
        yield row(name, f"{energy}: |torque| / (forces size)", torque, "", at_most=1e-13)
    for solver in SOLVER_KINDS:
        body = SeenModel(_body(SLABS, 0.3, False), solver)
        velocities = np.tile([1.0, 2.0, -3.0], (len(X), 1))
        settings = SolverSettings(
            solver=solver, integrator="bdf2", stiffness_damping=0.01, gravity=DOWN, tolerance=1e-9
        )
        stepper, state = make_solver(body.space, settings), body.state(0.0 * X, velocities)
        for _ in range(24):
            state, _report = stepper.step(state, state.positions[body.space.pinned], 1 / 24)
        off = np.abs(body.seen(state)[1] - velocities - DOWN).max() / 10.0
        yield row(name, f"{solver}: flight of a second, off / speed", off, "", at_most=1e-9)


# -- cost --


class Scene(NamedTuple):
    """A body and its motion: hang, shake, stretch, spin or twist."""

    stiffness: str
    kind: str

    @property
    def mild(self) -> bool:
        """Return True for one stiffness, held: position damping then prevents no relevant rotation."""
        return self.stiffness != SLABS and self.kind != "spin"


SCENES = [
    *(Scene(stiffness, kind) for stiffness in ("1e5", "1e7", SLABS) for kind in ("hang", "shake", "stretch")),
    *(Scene(stiffness, "spin") for stiffness in ("1e5", "1e9", SLABS)),
    Scene(SLABS, "twist"),
]


def _count(scene: Scene, solver: str, integrator: str, beta: float) -> int:
    """Return the iterations of a second at 24 steps per second and the default tolerance."""
    model = _body(scene.stiffness, 0.4, scene.kind != "spin")
    X = x = model.mesh.rest_positions
    v = np.zeros_like(X)
    if scene.kind == "stretch":
        x = X * [1.5, 1.0, 1.0]
    elif scene.kind == "spin":
        arm = X - X.mean(axis=0)
        v = np.cross([0.0, 0.0, 2.0 * np.pi], arm) + [0.0, 0.0, 1.0] * (20.0 * arm[:, :1] ** 2 - 0.2)
    elif scene.kind == "twist":
        angle, (y, z) = 5.0 * X[:, 0], X[:, 1:].T - 0.05
        c, s = np.cos(angle), np.sin(angle)
        x = np.column_stack([X[:, 0], 0.05 + c * y - s * z, 0.05 + s * y + c * z])
        v = 0.5 * np.random.default_rng(0).standard_normal(X.shape)
    gravity = NOWHERE if scene.kind == "spin" else DOWN
    settings = SolverSettings(
        solver=solver, integrator=integrator, stiffness_damping=beta, gravity=gravity, max_iterations=200
    )
    stepper, state, total = make_solver(model, settings), model.state_at(x, v), 0
    for k in range(24):
        shake = 0.03 * np.sin(2.0 * (k + 1)) if scene.kind == "shake" else 0.0
        at = X if scene.kind == "shake" else state.positions
        state, report = stepper.step(state, at[model.pinned] + [0.0, 0.0, shake], 1 / 24)
        total += report.iterations
    return total


def _iterations() -> Iterable[Row]:
    name, curves = "damping_iterations", []
    for solver in ("mixed_fem", "newton"):
        counts = {
            (beta, scene): sum(_count(scene, solver, integrator, beta) for integrator in COUNTED)
            for beta in (0.0, *BETAS)
            for scene in SCENES
        }
        for beta in (0.0, *BETAS):
            curves.append(Curve(f"{solver}, {beta} s", range(len(SCENES)), [counts[beta, scene] for scene in SCENES]))
            for scene in SCENES:
                yield row(name, f"{solver}, {beta} s: {scene.stiffness} Pa, {scene.kind}", counts[beta, scene])
        for beta in BETAS:
            # Position damping prevented stiff parts from rotating, which made them easy for Newton: compare it with
            # none there.
            compared = [scene for scene in SCENES if solver == "mixed_fem" or scene.mild]
            total, bar = sum(counts[beta, scene] for scene in compared), 1.1 if solver == "mixed_fem" else 1.2
            yield row(name, f"{solver}, {beta} s: / of the positions'", total / BEFORE[solver, beta], "", at_most=bar)
            free, damped = (sum(counts[each, scene] for scene in SCENES) for each in (0.0, beta))
            yield row(name, f"{solver}, {beta} s: all / without friction", damped / free, "", at_most=bar)
    draw("physics", name, [Plot("Iterations of two seconds, scene by scene", "scene", "", curves, log_y=True)])


def _scrambled() -> Iterable[Row]:
    """Measure the steps until a free bar is uninverted from any start, with and without damping."""
    mesh: TetMesh = block((4, 1, 1), SIZE)
    model = build_model(mesh, 1e5, 0.3, DENSITY)
    curves = []
    for name, start in hard_starts(mesh.rest_positions).items():
        for beta in (0.0, *BETAS):
            stepper = make_solver(model, SolverSettings(stiffness_damping=beta, gravity=NOWHERE))
            state, smallest = model.state_at(start), []
            for _ in range(60):
                state, _report = stepper.step(state, state.positions[:0], 1 / 30)
                smallest.append(float(model.elastic.deformation(state.positions).sigma.min()))
            yield row(
                "damping_scrambled", f"{name}, {beta} s: smallest stretch at the end", smallest[-1], "", at_least=0.9
            )
            curves.append(Curve(f"{name}, {beta} s", np.arange(60) / 30, smallest))
    draw("physics", "damping_scrambled", [Plot("Any start", "t (s)", "smallest stretch", curves)])
