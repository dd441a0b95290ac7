"""Cost of an iteration at 100,000 tets, and of its parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ...core.foundation.events import ignore
from ...core.foundation.schema.settings import SolverSettings
from ...core.mechanics.energies.kinematics import Deformation, Stretch
from ...core.methods.model.model import Model
from ...core.methods.model.state import State
from ...core.methods.solvers.mixed_fem import MixedFEMSolver
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..bodies import bent_beam
from ..measures import EARTH, PARTS, STEP, iteration_cost, shortest
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row

CELLS = (66, 16, 16)
"""19,363 vertices and 101,376 tets."""
SIZES = ((11, 4, 4), (20, 5, 5), (32, 8, 8), (45, 11, 11), (64, 16, 16), (80, 20, 20))
REPEATS = 5
SEARCHES = 31


def cases(data: Path | None) -> Iterator[Case]:
    """Yield one iteration of both solvers, and the cost over size."""
    yield Case("iteration", _iteration)
    yield Case("size", _size)


def _iteration() -> Iterable[Row]:
    """Time Mixed FEM and Newton alternately on the same beam, the shortest of several repeats of each part."""
    warm_up(ignore)
    model, state = bent_beam(CELLS)
    mixed, newton = iteration_cost(model, state, ("mixed_fem", "newton"), REPEATS)
    costs = _search_costs(model, state)

    def ratio(one: str, other: str) -> float:
        return float(np.median(costs[one] / costs[other]))

    yield row("iteration", "vertices", len(model.mesh.rest_positions))
    yield row("iteration", "tets", len(model.mesh.tets))
    for part in PARTS:
        for name, cost in (("Mixed FEM", mixed), ("Newton", newton)):
            yield row("iteration", f"{part}, {name}", 1e3 * cost.parts[part], "ms")
    yield row("iteration", "gradient of the energy", 1e3 * costs["energy"].min(), "ms")
    yield row("iteration", "gradient of Mixed FEM's merit", 1e3 * costs["merit"].min(), "ms")
    yield row("iteration", "Mixed FEM / Newton", mixed.whole / newton.whole, "", at_most=1.15)
    factorization = mixed.parts["factorization"]
    yield row("iteration", "assembly / factorization", mixed.parts["assembly"] / factorization, "", at_most=0.15)
    yield row("iteration", "local / factorization", mixed.parts["local"] / factorization, "", at_most=0.05)
    # The bar of a trial is the gradient of the function that is searched.
    yield row("iteration", "trial / merit's gradient, Mixed FEM", ratio("search", "merit"), "", at_most=1.0)
    yield row("iteration", "trial / energy's gradient, Mixed FEM", ratio("search", "energy"))
    yield row("iteration", "trial / gradient, Newton", ratio("newton", "energy"), "", at_most=1.0)
    numbers = np.arange(len(PARTS))
    curves = [
        Curve(name, numbers, [1e3 * cost.parts[part] for part in PARTS], style)
        for name, cost, style in (("Mixed FEM", mixed, "C1o-"), ("Newton", newton, "C2o-"))
    ]
    names = ", ".join(f"{k} {part}" for k, part in enumerate(PARTS))
    draw("full-space", "iteration", [Plot("parts of an iteration, 101,376 tets", names, "ms", curves, log_y=True)])


class _Recording(MixedFEMSolver):
    """Mixed FEM that records the input of its last line search."""

    last: tuple[Any, ...] = ()

    def _search(self, *given: Any) -> Any:
        self.last = given
        return super()._search(*given)


def _search_costs(model: Model, start: State) -> dict[str, np.ndarray]:
    """Return seconds, (SEARCHES,) each, measured alternately: of Mixed FEM's line search in the second iteration, with
    one trial; of a trial of Newton at the same point; of the gradients there of the energy and of the merit function.

    All begin their decompositions with the same frames. The merit's gradient by positions and by stretches needs both
    decompositions, a stress of each (that of F replaces ``J^T lambda``, which costs no less) and one nodal sum.
    """
    solver = _Recording(model, SolverSettings(max_iterations=2, tolerance=0.0, gravity=EARTH, linear_solver="cholmod"))
    solver.step(start, start.positions[model.pinned], STEP)
    at, direction, step = solver.last
    elastic, x, s = model.elastic, at.x + direction.dx, at.stretch.s + direction.ds

    def energy() -> Deformation:
        deformation = elastic.deformation(x, at.deformation)
        step.gradient(x, elastic.stress(deformation))
        return deformation

    def merit() -> np.ndarray:
        polar = energy().stretch()
        return elastic.stretch_stress(Stretch.of(s, at.stretch.Q)) + (polar - s)[:, :3]

    actions = {
        "search": lambda: MixedFEMSolver._search(solver, at, direction, step),
        "newton": lambda: solver.evaluate(x, step, at.deformation),
        "energy": energy,
        "merit": merit,
    }
    rounds = [{name: shortest(action, 1) for name, action in actions.items()} for _ in range(SEARCHES)]
    return {name: np.array([each[name] for each in rounds]) for name in actions}


def _size() -> Iterable[Row]:
    """Measure milliseconds per iteration over the number of tets, with the exponent of the larger half."""
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
