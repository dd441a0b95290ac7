"""Bar of flesh with bone in its outer half, thrown or shaken by its pins for 2,000 steps: excess energy over the
initial one and the work of the pins, and largest stretch of bone, by time integrator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...core.foundation.schema.settings import SolverSettings
from ...core.geometry.mesh.topology import edges_of
from ...core.methods.model.model import Model, build_model
from ...core.methods.solvers import make_solver
from ..bodies import block, held_end
from ..registry import Case, Row, row

STEPS, STEP = 2000, 1.0 / 24.0
SHAKEN, RHYTHM, THROWN = 0.25, 2.0, 3.0
"""Amplitude, m, and frequency, Hz, of shaken pins; velocity, m/s, of the thrown end."""
ALONG = np.array([0.0, 0.3, 1.0])
RULES = {"BDF2": ("bdf2", 0.5), "theta 0.526": ("theta_midpoint", 0.526), "theta 0.5": ("theta_midpoint", 0.5)}
GAIN, STRETCH = 2.0, 2.0
"""Bars: % of the largest energy, and multiple of the stretch of bone with BDF2."""


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield bone of 1e7, 1e9 and of the flesh's 1e5 Pa."""
    for E in (1e5, 1e7, 1e9):
        name = f"shaken_bone_{E:.0e}"
        yield Case(name, lambda name=name, E=E: _compared(name, E))


def _compared(case: str, E: float) -> Iterable[Row]:
    mesh = block((6, 2, 2), (0.6, 0.2, 0.2))
    is_bone = mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0] > 0.3
    model = build_model(mesh, np.where(is_bone, E, 1e5), 0.45, 1e3, pinned=held_end(mesh))
    for way in ("thrown", "shaken"):
        stretched = {}
        for words, (rule, theta) in RULES.items():
            most, stretched[words] = _over(model, is_bone, way == "shaken", rule, theta)
            yield row(case, f"{way}, {words}: energy over that of start and work", 100.0 * most, "%", at_most=GAIN)
        for words, part in stretched.items():
            bar = STRETCH * stretched["BDF2"] if E > 1e5 and words != "BDF2" else None
            yield row(case, f"{way}, {words}: bone stretches by", part, "", at_most=bar)


def _over(model: Model, is_bone: np.ndarray, is_shaken: bool, rule: str, theta: float) -> tuple[float, float]:
    """Return the largest excess of the energy over its start and the work of the pins, relative to the largest energy,
    and the largest stretch of bone.

    The pins' force in a step is computed from the change of momentum and the midpoint stress.
    """
    X, pins, elastic, mass = model.mesh.rest_positions, model.pinned, model.elastic, model.mass
    settings = SolverSettings(integrator=rule, theta=theta, gravity=(0.0, 0.0, 0.0), max_iterations=100)
    stepper, state = make_solver(model, settings), model.rest_state()
    if not is_shaken:
        v = THROWN * X[:, :1] / X[:, 0].max() * ALONG
        state = replace(state, velocities=v)
    a, b = edges_of(model.mesh.tets[is_bone][:, [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]].reshape(-1, 3)).T
    lengths = np.linalg.norm(X[a] - X[b], axis=1)
    first = largest = _energy(model, state.positions, state.velocities)
    work, over, stretch = 0.0, 0.0, 0.0
    for k in range(1, STEPS + 1):
        t = STEP * k
        way = is_shaken * SHAKEN * np.sin(2.0 * np.pi * RHYTHM * t) * min(1.0, 4.0 * t) * ALONG
        new, _report = stepper.step(state, X[pins] + way, STEP, ())
        x0, x = state.positions, new.positions
        force = mass @ (new.velocities - state.velocities) / STEP
        force += elastic.nodal_forces(elastic.stress(elastic.deformation(0.5 * (x0 + x))))
        work += float(np.sum((force * (x - x0))[pins]))
        state, energy = new, _energy(model, x, new.velocities)
        largest = max(largest, energy)
        over = max(over, energy - first - work)
        stretch = max(stretch, float(np.abs(np.linalg.norm(x[a] - x[b], axis=1) / lengths - 1.0).max()))
    return over / largest, stretch


def _energy(model: Model, x: np.ndarray, v: np.ndarray) -> float:
    elastic = model.elastic
    return 0.5 * float(np.sum(v * (model.mass @ v))) + float(elastic.value(elastic.deformation(x)))
