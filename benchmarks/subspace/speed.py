"""Cost of a step in a subspace: the sizes of [SubMFEM23] Table 1, and the same subspace on finer meshes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from scipy.linalg.blas import dgemm

from ...core.foundation.events import ignore
from ...core.foundation.schema.settings import SolverSettings
from ...core.methods.solvers import make_solver
from ...core.methods.subspaces.reduced_model import ReducedModel, skinning_subspace
from ...core.methods.subspaces.reduced_stiffness import ReducedStiffness
from ...core.numerics.linear_solvers.blas import one_blas_thread
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..bodies import bent_beam
from ..measures import EARTH, PARTS, iteration_cost, shortest
from ..pictures import Bars, Curve, Plot, draw
from ..registry import Case, Row, row

SIZES = ((5, 227, 1.19), (10, 192, 2.01), (16, 581, 7.37), (16, 342, 5.87))
"""Modes, points and the paper's milliseconds per Mixed FEM iteration (its bodies have 132,000 to 532,000 tets)."""

CELLS = (42, 10, 10)
"""25,200 tets."""

MESHES = ((30, 8, 8), (50, 13, 13), (82, 20, 20), (106, 28, 28))
STEP = 1 / 60
STEPS, ROUNDS = 100, 5


def cases(data: Path | None) -> Iterator[Case]:
    """Yield the table, and the cost over the mesh size."""
    yield Case("table_1", _table)
    yield Case("meshes", _meshes)


def _per_iteration(runs: list[tuple[ReducedModel, str]]) -> list[dict[str, float]]:
    """Return seconds per iteration of every space with its solver: by parts, ``timed`` in all parts, and ``whole``, the
    wall time of a step. Median of some rounds with new solvers, since the memory addresses of their arrays cause
    differences of some per cent.
    """
    rounds = [_round(runs) for _ in range(ROUNDS)]
    return [
        {part: float(np.median([each[k][part] for each in rounds])) for part in rounds[0][k]} for k in range(len(runs))
    ]


def _round(runs: list[tuple[ReducedModel, str]]) -> list[dict[str, float]]:
    """Return the lower fifth of the times of many interleaved steps of a vibrating body; other load only adds time."""
    settings = {"max_iterations": 2, "tolerance": 0.0, "gravity": EARTH, "quadratic_finish": False}
    steppers = [make_solver(space, SolverSettings(solver=name, **settings)) for space, name in runs]
    states = [space.rest_state() for space, _ in runs]
    seconds: list[list[dict[str, float]]] = [[] for _ in runs]
    for _ in range(STEPS):
        for k, ((space, _name), stepper) in enumerate(zip(runs, steppers, strict=True)):
            start = time.perf_counter()
            states[k], report = stepper.step(states[k], states[k].positions[space.pinned], STEP)
            whole = (time.perf_counter() - start) / report.iterations
            parts = {part: report.seconds.get(part, 0.0) / report.iterations for part in PARTS}
            seconds[k].append({**parts, "timed": sum(parts.values()), "whole": whole})
    return [
        {part: float(np.percentile([each[part] for each in kind[5:]], 20.0)) for part in kind[0]} for kind in seconds
    ]


def _plain_assembly(space: ReducedModel, repeats: int) -> float:
    """Return the seconds of the plain ``B^T Q B`` over the nine entries of F, by SciPy's BLAS."""
    c, r = len(space.elastic.weights), space.unknowns
    B = np.zeros((c, 3, 3, 3, r))
    for i in range(3):
        B[:, i, :, i] = space.elastic.G.reshape(c, 3, r)
    B = B.reshape(9 * c, 3 * r)
    Q = np.random.default_rng(0).standard_normal((c, 9, 9))

    def assemble() -> np.ndarray:
        QB = np.matmul(Q, B.reshape(c, 9, 3 * r)).reshape(9 * c, 3 * r)
        return dgemm(1.0, QB.T, B.T, trans_b=True)

    return shortest(assemble, repeats)


def _table() -> Iterable[Row]:
    warm_up(ignore)
    model, start = bent_beam(CELLS)
    (full,) = iteration_cost(model, start, ("mixed_fem",), 2)
    yield row("table_1", "tets", len(model.mesh.tets))
    yield row("table_1", "full-space iteration", 1e3 * full.whole, "ms")
    bars, labels = [], []
    for modes, points, paper in SIZES:
        space = skinning_subspace(model, modes, points).model
        mixed, fem = _per_iteration([(space, "subspace_mixed_fem"), (space, "subspace_fem")])
        name = f"{modes} modes, {points} points"
        matrix = np.zeros((3, space.unknowns, 3, space.unknowns))
        blocks = np.random.default_rng(0).standard_normal((len(space.elastic.weights), 6, 3, 3))
        stiffness = ReducedStiffness(space.elastic.G, space.mass)
        with one_blas_thread():  # as in a step
            ours = shortest(partial(stiffness.assemble, blocks, matrix), 20)
        plain = _plain_assembly(space, 5)  # with all BLAS threads, as ours with all kernel threads
        yield row("table_1", f"{name}: Mixed FEM (paper {paper})", 1e3 * mixed["whole"], "ms")
        yield row("table_1", f"{name}: over 40 % of the paper's", 1e3 * mixed["whole"] / (0.4 * paper))
        yield row("table_1", f"{name}: FEM", 1e3 * fem["whole"], "ms")
        yield row("table_1", f"{name}: Mixed FEM / FEM", mixed["whole"] / fem["whole"], "", at_most=1.15)
        yield row("table_1", f"{name}: Mixed FEM / FEM, what reports time alone", mixed["timed"] / fem["timed"])
        for part in PARTS:
            yield row("table_1", f"{name}: {part}", 1e3 * mixed[part], "ms")
        yield row("table_1", f"{name}: stiffness", 1e3 * ours, "ms")
        least = 2.0 if modes == 16 else None
        yield row("table_1", f"{name}: plain B^T Q B / stiffness", plain / ours, "", at_least=least)
        yield row("table_1", f"{name}: full space / subspace", full.whole / mixed["whole"])
        bars.append(mixed)
        labels.append(name)
    series = {label: [1e3 * each[part] for part in PARTS] for label, each in zip(labels, bars, strict=True)}
    draw("subspace", "table_1", [Bars("a Mixed FEM iteration (Fig. 10)", "ms", PARTS, series, log_x=True)])


def _meshes() -> Iterable[Row]:
    """Compare meshes with the same modes and points: a step's cost is independent of the mesh."""
    warm_up(ignore)
    bodies = [bent_beam(cells) for cells in MESHES]
    models = [model for model, _start in bodies]
    runs = [(skinning_subspace(model, 10, 192).model, "subspace_mixed_fem") for model in models]
    tets = [len(model.mesh.tets) for model in models]
    costs = [1e3 * cost["whole"] for cost in _per_iteration(runs)]
    for count, cost in zip(tets, costs, strict=True):
        yield row("meshes", f"Mixed FEM iteration, {count} tets", cost, "ms")
    yield row("meshes", "slowest / fastest", max(costs) / min(costs), "", at_most=1.1)
    (full,) = iteration_cost(*bodies[-2], ("mixed_fem",), 1)
    yield row("meshes", f"full-space iteration, {tets[-2]} tets", full.whole, "s")
    yield row("meshes", f"full space / subspace, {tets[-2]} tets", 1e3 * full.whole / costs[-2])
    draw(
        "subspace", "meshes", [Plot("10 modes, 192 points", "tets", "ms an iteration", [Curve("", tets, costs, "ko-")])]
    )
