"""Bodies at two resolutions under the same push: error of the coarse one, plain or matched."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..core.foundation.events import ignore
from ..core.foundation.schema.settings import SolverSettings
from ..core.geometry.mesh.embedding import embed
from ..core.geometry.mesh.tet_mesh import TetMesh
from ..core.mechanics.forces.acceleration_field import AccelerationField
from ..core.mechanics.forces.step_potential import Load
from ..core.methods.eigenfit.matching import Spectra, find_spectra, pair
from ..core.methods.eigenfit.methods import METHODS, MatchMethod, match_methods
from ..core.methods.eigenfit.vibrations import rigid_count, vibrations
from ..core.methods.model.model import Model, build_model
from ..core.methods.model.state import State
from ..core.methods.solvers import make_solver
from ..core.simulation.frame_loop.compile_kernels import warm_up
from .pictures import Curve, Plot, Snapshot, draw
from .registry import Row, row

STEP, PUSHED = 0.01, 0.3
FREQUENCY = 2.0
"""First frequency of every fine body, Hz, to which its stiffness is scaled."""
MATCHED = 10
"""Number of modes, as in [EigenFit19]."""
STILL = (0.0, 0.0, 0.0)
DEFAULT = match_methods(SolverSettings())[0].name
"""Method with bars: that of bodies in the full space."""

Field = Callable[[np.ndarray], np.ndarray]
"""Function of positions (k,3)."""


class Pair(NamedTuple):
    """One body at two resolutions."""

    coarse: Model
    fine: Model

    def lifted(self, displacements: np.ndarray) -> np.ndarray:
        """Return displacements of the coarse vertices (k,n,3) interpolated to the fine ones."""
        places = embed(self.fine.mesh.rest_positions, self.coarse.mesh)
        lift = places.matrix(self.coarse.mesh.tets, self.coarse.unknowns)
        return np.array([lift @ u for u in displacements])

    def of(self, change: Callable[[Model], Model]) -> Pair:
        """Return both models changed."""
        return Pair(change(self.coarse), change(self.fine))


class Specimen(NamedTuple):
    """A mesh, stiffnesses of its tets (m,) or one for all, of which only the ratios matter, and the pinned vertices."""

    mesh: TetMesh
    stiffness: np.ndarray | float
    pinned: np.ndarray


def pair_of(
    coarse: Specimen,
    fine: Specimen,
    energy: str = "stable_neo_hookean",
    ratio: float = 0.45,
) -> Pair:
    """Return a body at two resolutions, its stiffness scaled to the fine one's first frequency, Hz; 1000 kg/m³."""

    def made(of: Specimen, scale: float) -> Model:
        return build_model(of.mesh, scale * of.stiffness, ratio, 1e3, energy, pinned=of.pinned)

    scale = 1e5 / np.min(fine.stiffness)
    soft = made(fine, scale)
    rigid = rigid_count(soft)
    scale *= (FREQUENCY / vibrations(soft, rigid + 1).frequencies[rigid]) ** 2
    return Pair(made(coarse, scale), made(fine, scale))


def lowest_end(mesh: TetMesh) -> np.ndarray:
    """Return the vertices in the first tenth along the longest side."""
    along = mesh.rest_positions[:, np.argmax(np.ptp(mesh.rest_positions, axis=0))]
    return np.flatnonzero(along < along.min() + 0.1 * np.ptp(along))


def push(model: Model, amplitude: float, field: Field | None = None) -> Field:
    """Return accelerations with a static linear deflection of ``amplitude`` of the body's size: lateral and twisting
    about its longest side, or as ``field``.
    """
    X = model.mesh.rest_positions
    middle, axes = X.mean(axis=0), np.eye(3)[np.argsort(np.ptp(X, axis=0))]

    def across(at: np.ndarray) -> np.ndarray:
        return axes[1] + 0.5 * axes[0] + np.cross(axes[2], at - middle) * 2.0 / model.size

    field, rigid = field or across, rigid_count(model)
    found = vibrations(model, rigid + MATCHED).after(rigid, MATCHED)
    q = np.einsum("kni,ni->k", found.modes, model.mass @ field(X)) / found.eigenvalues
    bent = np.linalg.norm(np.tensordot(q, found.modes, axes=1), axis=1).max()
    return lambda at: amplitude * model.size / bent * field(at)


class Way(NamedTuple):
    """A model, the loads that a method adds to it, and the solver that steps it."""

    model: Model
    loads: tuple[Load, ...] = ()
    solver: str = "mixed_fem"


class Course(NamedTuple):
    """States, including the initial one; iterations; and the seconds of each step."""

    states: list[State]
    iterations: int
    seconds: np.ndarray

    @property
    def unknowns(self) -> np.ndarray:
        """Unknowns (k,r,3)."""
        return np.array([state.positions for state in self.states])

    @property
    def displacements(self) -> np.ndarray:
        """Displacements from the first state, (k,r,3)."""
        return self.unknowns - self.states[0].positions

    @property
    def farthest(self) -> float:
        """Largest displacement of an unknown from the first state, m."""
        return float(np.linalg.norm(self.displacements, axis=2).max())

    def then(self, other: Course) -> Course:
        """Return the course continued by another one."""
        seconds = np.concatenate([self.seconds, other.seconds])
        return Course(self.states + other.states[1:], self.iterations + other.iterations, seconds)


def course(
    way: Way, seconds: float, force: np.ndarray | None = None, start: State | None = None, **settings: object
) -> Course:
    """Simulate a model under ``force`` (n,3) N for the first PUSHED seconds, with the way's solver by default."""
    space = way.model
    chosen = {"solver": way.solver, "gravity": STILL, "max_iterations": 100, **settings}
    stepper, state = make_solver(space, SolverSettings(**chosen)), start or space.rest_state()
    states, iterations, spent, pins = [state], 0, [], space.rest_state().positions[space.pinned]
    pushed = () if force is None else (AccelerationField(force),)
    for k in range(round(seconds / STEP)):
        begin = time.perf_counter()
        state, report = stepper.step(state, pins, STEP, (*(pushed if k * STEP < PUSHED - 1e-9 else ()), *way.loads))
        spent.append(time.perf_counter() - begin)
        iterations += report.iterations
        states.append(state)
    return Course(states, iterations, np.array(spent))


def matched(method: type[MatchMethod], pair_: Pair, spectra: Spectra, count: int = MATCHED, beta: float = 0.0) -> Way:
    """Return the coarse model matched by a method; stepped by Newton if Mixed FEM does not support it."""
    model = pair_.coarse
    found = method(model, spectra, pair(spectra, count))
    if found.stiffness is not None:
        model = replace(model, elastic=model.elastic.scaled(found.stiffness))
    load = found.load(np.ones(len(model.mesh.tets)), beta)
    return Way(model, () if load is None else (load,), "newton" if method.of_positions else "mixed_fem")


def spectra_of(pair_: Pair, count: int = MATCHED) -> Spectra:
    """Return the spectra for matching the coarse body."""
    return find_spectra(pair_.coarse, pair_.coarse, count, finer=pair_.fine)


class Motions(NamedTuple):
    """Motions of the fine body, and of the coarse one by method; the distance of the farthest point of each at each
    time, (k,) m, and the length by which it is normalized, m.
    """

    fine: Course
    coarse: Mapping[str, Course]
    away: Mapping[str, np.ndarray]
    amplitude: float

    def error(self, name: str, seconds: float = np.inf) -> float:
        """Return the largest distance in the first seconds, % of the amplitude."""
        seen = STEP * np.arange(len(self.away[name])) < seconds + 0.5 * STEP
        return 100.0 * float(self.away[name][seen].max()) / self.amplitude


Mover = Callable[[Way], Course]
"""Function that simulates a model of either resolution."""


def motions(pair_: Pair, move: Mover, count: int = MATCHED, beta: float = 0.0) -> Motions:
    """Return the motions of the fine body, the unmatched coarse one, and the coarse one by each method."""
    warm_up(ignore)
    spectra = spectra_of(pair_, count)
    ways = {"plain": Way(pair_.coarse)}
    ways |= {name: matched(method, pair_, spectra, count, beta) for name, method in METHODS.items()}
    fine, coarse = move(Way(pair_.fine)), {name: move(way) for name, way in ways.items()}
    away = {
        name: np.linalg.norm(pair_.lifted(each.displacements) - fine.displacements, axis=2).max(axis=1)
        for name, each in coarse.items()
    }
    return Motions(fine, coarse, away, float(np.linalg.norm(fine.displacements, axis=2).max()))


def told(case: str, pair_: Pair, seen: Motions, part: float | None) -> Iterator[Row]:
    """Yield errors of a case's motions; that of DEFAULT is at most ``part`` of the plain one's."""
    yield row(case, "tets, coarse", len(pair_.coarse.mesh.tets))
    yield row(case, "tets, fine", len(pair_.fine.mesh.tets))
    yield row(case, "amplitude, of the size", seen.amplitude / pair_.fine.size)
    bar = None if part is None else part * seen.error("plain")
    for name, each in seen.coarse.items():
        yield row(case, f"error, {name}", seen.error(name), "%", at_most=bar if name == DEFAULT else None)
        yield row(case, f"error while it is pushed, {name}", seen.error(name, PUSHED), "%")
        yield row(case, f"iterations a step, {name}", each.iterations / len(each.seconds))
    draw("eigenfit", case, pictures(pair_, seen))


def pictures(pair_: Pair, seen: Motions) -> list[Plot | Snapshot]:
    """Return the distance plot, and a snapshot of the fine body at its largest deflection."""
    times, mesh = STEP * np.arange(len(seen.fine.states)), pair_.fine.mesh
    k = int(np.linalg.norm(seen.fine.displacements, axis=2).max(axis=1).argmax())
    return [
        Plot("away from the fine motion", "t (s)", "m", [Curve(name, times, off) for name, off in seen.away.items()]),
        Snapshot("fine", seen.fine.states[k].positions, mesh.tets, pair_.fine.elastic.youngs_modulus),
    ]


def pushed(
    case: str,
    pair_: Pair,
    amplitude: float,
    part: float | None,
    field: Field | None = None,
    seconds: float = 1.0,
    **settings: object,
) -> Iterable[Row]:
    """Yield the rows of a body that is pushed and released."""
    move = pushing(pair_, amplitude, field, seconds, **settings)
    yield from told(case, pair_, motions(pair_, move, beta=settings.get("stiffness_damping", 0.0)), part)


def pushing(
    pair_: Pair, amplitude: float, field: Field | None = None, seconds: float = 1.0, **settings: object
) -> Mover:
    """Return the function that simulates a body under a push."""
    a = push(pair_.fine, amplitude, field)

    def move(way: Way) -> Course:
        return course(way, seconds, way.model.mass @ a(way.model.mesh.rest_positions), **settings)

    return move
