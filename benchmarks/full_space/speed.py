"""What an iteration costs at 100,000 tets, and what its parts cost beside each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ...core.energies.kinematics import Stretch
from ...core.simulation.prepare import ignore
from ...core.simulation.warm_up import warm_up
from ..bodies import bent_beam
from ..measures import PARTS, StepProblem, iteration_cost, shortest
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
    problem = StepProblem(model, state)
    mixed, newton = iteration_cost(model, state, ("mixed_fem", "newton"), REPEATS)
    # Where the measured iteration ends: decompositions cost more there than in a body at rest.
    deformed = problem.step("newton", 2)[0].positions
    gradient = shortest(lambda: problem.gradient(deformed), 10)
    merit_gradient = shortest(lambda: _merit_gradient(problem, deformed, state.stretch), 10)
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


def _merit_gradient(problem: StepProblem, x: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the gradient of Mixed FEM's merit takes, by positions and by stretches: both decompositions, both stresses
    (one of F in place of ``J^T lambda``, which costs no less), one nodal sum.
    """
    elastic = problem.model.elastic
    deformation = elastic.deformation(x)
    difference = deformation.stretch() - s
    by_stretch = elastic.weights[:, None] * elastic.stretch_stress(Stretch.of(s, deformation.V))
    force = elastic.nodal(elastic.stress(deformation)) - problem.weight
    by_positions = problem.model.mass @ (x - problem.predicted) + problem.time_step**2 * force
    return by_positions, by_stretch + difference[:, :3]


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
