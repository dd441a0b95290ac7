"""Bodies with nodes, pulled and released: remaining motion with each solver, error, and time of a step."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..core.foundation.errors import SinewError
from ..core.foundation.schema.settings import SolverSettings
from ..core.mechanics.forces.acceleration_field import AccelerationField
from ..core.mechanics.forces.step_potential import Load
from ..core.methods.model.model import Model, build_model
from ..core.methods.model.nodes import node_regions, single_vertices
from ..core.methods.model.state import State
from ..core.methods.solvers import make_solver
from .bodies import block, held_end

BAR, CELLS = (0.15, 0.045, 0.045), (20, 6, 6)
"""Bar of [ConJac20]'s *Twist*, m: 1,029 vertices and 4,320 tets as in its Table 1; 11 Hz at 1e6 Pa."""
POISSON, DENSITY = 0.4, 1e3
NOWHERE, EARTH = (0.0, 0.0, 0.0), (0.0, 0.0, -9.81)
TO_REST = (1e2, 1e3, 1e3)
"""Lengths of the steps to a static state, s."""
UNSTABLE = 1.1
"""Ratio to the initial energy of a motion above which it is unstable."""
BETAS = tuple(round(0.1 * k, 1) for k in range(3, 100))
"""Values tried for the paper's beta; below 1/4 its step is unstable for every body."""
PAPER = {"solver": "conjac_published", "stabilization": 1 / 3}
"""The paper's step, with its gamma, which this library otherwise searches."""
CHEAP, MIXED = {"solver": "conjac", "max_iterations": 1}, {"solver": "mixed_fem", "integrator": "bdf2"}


class Motion(NamedTuple):
    """Motion with its start: positions (k,n,3) m, kinetic energies and total energies without weight (k,) J; seconds of
    the steps, (k-1,). ``stopped``: the reason for an early end, or "".
    """

    positions: np.ndarray
    kinetic: np.ndarray
    energies: np.ndarray
    seconds: np.ndarray
    stopped: str

    @property
    def liveliness(self) -> float:
        """Mean kinetic energy after the start, J."""
        return float(self.kinetic[1:].mean())

    @property
    def highest(self) -> float:
        """Return the largest energy relative to the initial one."""
        return float(self.energies.max() / self.energies[0])

    def every(self, k: int) -> Motion:
        """Return every k-th state: of a reference, those at the times of longer steps."""
        return self._replace(positions=self.positions[::k], kinetic=self.kinetic[::k], energies=self.energies[::k])

    def farthest(self, other: Motion, size: float) -> float:
        """Return the largest vertex distance from another motion at the same times, in sizes."""
        return float(np.linalg.norm(self.positions - other.positions, axis=2).max() / size)


def bar(E: float | np.ndarray, pinned: bool = True, cells: tuple[int, int, int] = CELLS) -> Model:
    """Return the bar, held at one end."""
    mesh = block(cells, BAR)
    return build_model(mesh, E, POISSON, DENSITY, pinned=held_end(mesh) if pinned else ())


def nearest(model: Model, places: np.ndarray) -> np.ndarray:
    """Return the vertices (k,) closest to positions (k,3), m."""
    X = model.mesh.rest_positions
    return np.array([np.argmin(np.linalg.norm(X - place, axis=1)) for place in places], dtype=np.int64)


def as_published(model: Model, count: int) -> np.ndarray:
    """Return nodes of a bar along x as in [ConJac20] Sec. 4: up to 4 at equal intervals on its axis, more at the
    corners of equally spaced slices.
    """
    low, size = model.mesh.rest_positions.min(axis=0), np.ptp(model.mesh.rest_positions, axis=0)
    across = [(0.5, 0.5)] if count <= 4 else [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]
    slices = count // len(across)
    places = [((i + 1) / slices, *at) for i in range(slices) for at in across]
    return nearest(model, low + size * np.array(places).reshape(-1, 3))


def with_nodes(model: Model, centres: Sequence[int] | np.ndarray, single: bool = False) -> Model:
    """Return a model with nodes: balls around vertices, or the vertices themselves."""
    found = np.asarray(centres, dtype=np.int64)
    nodes = single_vertices(found, model.unknowns) if single else node_regions(model.mesh, found, model.pinned)
    return replace(model, nodes=nodes)


def statics(
    model: Model, accelerations: np.ndarray | None = None, loads: Sequence[Load] = (), **settings: Any
) -> np.ndarray:
    """Return the equilibrium of a model under accelerations (n,3) m/s² of its vertices and loads, (n,3) m."""
    chosen = {"gravity": NOWHERE, "max_iterations": 300, "tolerance": 1e-9, **settings}
    stepper = make_solver(replace(model, nodes=None), SolverSettings(solver="newton", **chosen))
    pull = [] if accelerations is None else [AccelerationField(model.generalized_force(accelerations))]
    x = model.mesh.rest_positions
    for step in TO_REST:
        x = stepper.step(model.state_at(x), x[model.pinned], step, (*pull, *loads))[0].positions
    return x


def kinetic_energy(model: Model, state: State) -> float:
    """Return the kinetic energy, J."""
    return 0.5 * float(np.sum(state.velocities * (model.mass @ state.velocities)))


def elastic_energy(model: Model, state: State) -> float:
    """Return the elastic energy, J."""
    return float(model.elastic.value(model.elastic.deformation(state.positions)))


def move(
    model: Model,
    start: State,
    step: float,
    count: int,
    pins: Callable[[float], np.ndarray] | None = None,
    most: float = np.inf,
    **settings: Any,
) -> Motion:
    """Take ``count`` steps of ``step`` seconds; ``pins`` returns the targets (p,3) at a time. Stop early if a step is
    rejected, or has more than ``most`` times the initial energy.
    """
    chosen = {"gravity": NOWHERE, "max_iterations": 100, "tolerance": 1e-7, **settings}
    stepper, state, seconds, stopped = make_solver(model, SolverSettings(**chosen)), start, [], ""
    targets, seen = start.positions[model.pinned], [_seen(model, start)]
    for k in range(count):
        targets = targets if pins is None else pins((k + 1) * step)
        began = time.perf_counter()
        try:
            state, _report = stepper.step(state, targets, step)
        except SinewError as error:
            stopped = error.code
            break
        seconds.append(time.perf_counter() - began)
        seen.append(_seen(model, state))
        if not seen[-1][2] <= most * seen[0][2]:
            stopped = "energy"
            break
    return Motion(*(np.array(each) for each in zip(*seen, strict=True)), np.array(seconds), stopped)


def _seen(model: Model, state: State) -> tuple[np.ndarray, float, float]:
    kinetic = kinetic_energy(model, state)
    return state.positions, kinetic, kinetic + elastic_energy(model, state)


def reference(
    model: Model, start: State, step: float, count: int, pins: Callable[[float], np.ndarray] | None = None
) -> Motion:
    """Return the reference motion: implicit midpoint rule, every step converged."""
    rule = {"solver": "mixed_fem", "integrator": "theta_midpoint", "theta": 0.5}
    return move(replace(model, nodes=None), start, step, count, pins, **rule)


def calmest(model: Model, start: State, step: float, count: int, **settings: Any) -> tuple[float, Motion]:
    """Return the smallest beta, by tenths, with which a step is stable, and its motion."""
    for beta in BETAS:
        seen = move(model, start, step, count, most=UNSTABLE, damping_factor=beta, **settings)
        if not seen.stopped:
            return beta, seen
    return np.inf, seen
