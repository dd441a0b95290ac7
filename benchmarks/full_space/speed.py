"""What an iteration costs at 100,000 tets, and what its parts cost beside each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ...core.energies.kinematics import Deformation, Stretch
from ...core.model.model import Model
from ...core.model.state import State
from ...core.simulation.prepare import ignore
from ...core.simulation.warm_up import warm_up
from ..bodies import bent_beam
from ..measures import EARTH, PARTS, STEP, iteration_cost, shortest, step
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row

CELLS = (66, 16, 16)
"""19,363 vertices and 101,376 tets."""
SIZES = ((11, 4, 4), (20, 5, 5), (32, 8, 8), (45, 11, 11), (64, 16, 16), (80, 20, 20))
REPEATS = 5


def cases(data: Path | None) -> Iterator[Case]:
    """One iteration of both solvers, and the cost against size."""
    yield Case("iteration", _iteration)
    yield Case("size", _size)


def _iteration() -> Iterable[Row]:
    """Mixed FEM and Newton by turns on the same beam, the shortest of several repeats of each part."""
    warm_up(ignore)
    model, state = bent_beam(CELLS)
    mixed, newton = iteration_cost(model, state, ("mixed_fem", "newton"), REPEATS)
    gradient, merit_gradient = _gradient_cost(model, state)
    yield row("iteration", "vertices", len(model.mesh.rest_positions))
    yield row("iteration", "tets", len(model.mesh.tets))
    for part in PARTS:
        for name, cost in (("Mixed FEM", mixed), ("Newton", newton)):
            yield row("iteration", f"{part}, {name}", 1e3 * cost.parts[part], "ms")
    yield row("iteration", "gradient of the energy", 1e3 * gradient, "ms")
    yield row("iteration", "gradient of Mixed FEM's merit", 1e3 * merit_gradient, "ms")
    yield row("iteration", "Mixed FEM / Newton", mixed.whole / newton.whole, "", at_most=1.15)
    factorization = mixed.parts["factorization"]
    yield row("iteration", "assembly / factorization", mixed.parts["assembly"] / factorization, "", at_most=0.15)
    yield row("iteration", "local / factorization", mixed.parts["local"] / factorization, "", at_most=0.05)
    # A trial is held against the gradient of the function that is searched.
    yield row("iteration", "trial / merit's gradient, Mixed FEM", mixed.trial / merit_gradient, "", at_most=1.0)
    yield row("iteration", "trial / energy's gradient, Mixed FEM", mixed.trial / gradient)
    yield row("iteration", "trial / gradient, Newton", newton.trial / gradient, "", at_most=1.0)
    numbers = np.arange(len(PARTS))
    curves = [
        Curve(name, numbers, [1e3 * cost.parts[part] for part in PARTS], style)
        for name, cost, style in (("Mixed FEM", mixed, "C1o-"), ("Newton", newton, "C2o-"))
    ]
    names = ", ".join(f"{k} {part}" for k, part in enumerate(PARTS))
    draw("full-space", "iteration", [Plot("parts of an iteration, 101,376 tets", names, "ms", curves, log_y=True)])


def _gradient_cost(model: Model, start: State) -> tuple[float, float]:
    """Seconds of a gradient of the energy and of Mixed FEM's merit, at the point that the measured search tries, with
    decompositions started from the same frames.

    The merit's gradient by positions and by stretches takes both decompositions, a stress of each (that of F stands for
    ``J^T lambda``, which costs no less) and one nodal sum.
    """
    elastic, mass = model.elastic, model.mass
    weight = np.asarray(mass.sum(axis=1)).reshape(-1, 1) * np.asarray(EARTH)
    predicted = start.positions + STEP * start.velocities
    before, after = (step(model, start, "mixed_fem", iterations)[0] for iterations in (1, 2))
    near, frames = elastic.deformation(before.positions), Stretch.of(before.stretch).Q

    def energy() -> tuple[np.ndarray, Deformation]:
        deformation = elastic.deformation(after.positions, near)
        force = elastic.nodal(elastic.stress(deformation)) - weight
        return mass @ (after.positions - predicted) + STEP**2 * force, deformation

    def merit() -> tuple[np.ndarray, np.ndarray]:
        by_positions, deformation = energy()
        by_stretch = elastic.stretch_stress(Stretch.of(after.stretch, frames))
        return by_positions, by_stretch + (deformation.stretch() - after.stretch)[:, :3]

    return shortest(energy, 10), shortest(merit, 10)


def _size() -> Iterable[Row]:
    """Milliseconds an iteration against the number of tets, with the exponent of the larger half."""
    warm_up(ignore)
    tets, costs = [], []
    for cells in SIZES:
        model, state = bent_beam(cells)
        (cost,) = iteration_cost(model, state, ("mixed_fem",), 3)
        tets.append(len(model.mesh.tets))
        costs.append(cost)
        yield row("size", f"Mixed FEM iteration, {tets[-1]} tets", 1e3 * cost.whole, "ms")
    curves = []
    for part in ("iteration", *PARTS):
        seconds = np.array([cost.whole if part == "iteration" else cost.parts[part] for cost in costs])
        half = len(SIZES) // 2
        exponent = float(np.polyfit(np.log(tets[half:]), np.log(seconds[half:]), 1)[0])
        yield row("size", f"exponent of {part}", exponent)
        curves.append(
            Curve(f"{part} ~ tets^{exponent:.2f}", tets, 1e3 * seconds, "ko-" if part == "iteration" else "o-")
        )
    draw("full-space", "size", [Plot("Mixed FEM, a beam 4 : 1 : 1", "tets", "ms an iteration", curves, True, True)])
