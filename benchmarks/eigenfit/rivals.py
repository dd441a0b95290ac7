"""Methods by which a coarse mesh swings as a fine one, beside one another: bars pushed, bent and pulled, the arm."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...core.eigenfit.matching import find_spectra, pair
from ...core.eigenfit.methods import METHODS
from ...core.eigenfit.vibrations import vibrations
from ...core.forces.acceleration_field import AccelerationField
from ...core.forces.step_potential import Load
from ...core.mesh.embedding import embed
from ...core.mesh.tet_mesh import TetMesh
from ...core.model.model import Model, build_model
from ...core.settings import SolverSettings
from ...core.solvers import make_solver
from ..bodies import has, load
from ..registry import Case, Row, row

STEP, STEPS, PUSHED, MATCHED = 0.01, 100, 30, 10
FREQUENCY = 2.0
"""Hz, the first one of every fine body: its stiffness is scaled to it."""
PULL = (1500.0, 75.0, 30.0)
"""m/s², by which a bar is pulled longer by two thirds."""
_FIVE = np.array([[0, 3, 5, 6], [0, 1, 3, 5], [0, 3, 2, 6], [0, 5, 4, 6], [3, 7, 5, 6]])

Accelerations = Callable[[np.ndarray], np.ndarray]


def cases(data: Path | None) -> Iterator[Case]:
    """A case a body and a movement; the arm where it is."""
    for name, energy, contrast, size in (
        ("linear", "linear", 1.0, 0.05),
        ("bent", "stable_neo_hookean", 1.0, 0.55),
        ("contrast", "stable_neo_hookean", 1e4, 0.15),
    ):
        yield Case(f"rivals_{name}", lambda name=name, args=(energy, contrast, size): _bars(f"rivals_{name}", *args))
    yield Case("rivals_pulled", lambda: _compared("rivals_pulled", *_pair_of_bars("stable_neo_hookean", 1.0), _pulled))
    if has(data, "arm_coarse") and has(data, "arm_fine"):
        yield Case("rivals_arm", lambda: _arm(data))


def _pulled(X: np.ndarray) -> np.ndarray:
    return np.broadcast_to(PULL, X.shape).copy()


def _bars(case: str, energy: str, contrast: float, size: float) -> Iterable[Row]:
    coarse, fine = _pair_of_bars(energy, contrast)
    return _compared(case, coarse, fine, _pushed(fine, size))


def _pair_of_bars(energy: str, contrast: float) -> tuple[Model, Model]:
    """Clamped bars of 540 and 2,500 tets, in soft and stiff slabs where there is a contrast."""

    def stiffness(mesh: TetMesh) -> np.ndarray:
        slab = np.floor(4.0 * mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0]).astype(int)
        return np.where(slab % 2 == 1, contrast, 1.0)

    return _pair(_five((12, 3, 3)), _five((20, 5, 5)), stiffness, energy, 1e-9)


def _arm(data: Path) -> Iterable[Row]:
    """Held by a tenth of its length, in six slabs, each second one a hundred times as stiff."""
    coarse, fine = (
        TetMesh(*(load(data, f"arm_{name}")[key] for key in ("vertices", "tets"))) for name in ("coarse", "fine")
    )

    def stiffness(mesh: TetMesh) -> np.ndarray:
        return np.where(np.floor(6.0 * _along(mesh)[mesh.tets].mean(axis=1)).astype(int) % 2 == 1, 100.0, 1.0)

    coarse, fine = _pair(coarse, fine, stiffness, "stable_neo_hookean", 0.1)
    return _compared("rivals_arm", coarse, fine, _pushed(fine, 0.15))


def _along(mesh: TetMesh) -> np.ndarray:
    """Where vertices are along the longest side, 0 to 1."""
    X = mesh.rest_positions
    x = X[:, np.argmax(np.ptp(X, axis=0))]
    return (x - x.min()) / np.ptp(x)


def _pair(
    coarse: TetMesh, fine: TetMesh, stiffness: Callable[[TetMesh], np.ndarray], energy: str, held: float
) -> tuple[Model, Model]:
    """Models of one body, whose fine one has the first frequency that all have."""

    def model(mesh: TetMesh, modulus: float) -> Model:
        pinned = np.flatnonzero(_along(mesh) < held)
        return build_model(mesh, modulus * stiffness(mesh), 0.45, 1e3, energy, pinned=pinned)

    modulus = 1e5 * (FREQUENCY / vibrations(model(fine, 1e5), 1).frequencies[0]) ** 2
    return model(coarse, modulus), model(fine, modulus)


def _five(cells: tuple[int, int, int]) -> TetMesh:
    """A bar of 1 m of cubes of five tets, mirrored by turns."""
    counts = np.array(cells) + 1
    grid = np.stack(np.meshgrid(*(np.linspace(0, s, c) for s, c in zip((1.0, 0.25, 0.25), counts)), indexing="ij"), -1)
    x, y, z = np.indices(cells).reshape(3, -1)
    odd = (x + y + z) % 2
    corners = np.array(
        [((x + (k & 1 ^ odd)) * counts[1] + y + (k >> 1 & 1)) * counts[2] + z + (k >> 2 & 1) for k in range(8)]
    )
    mesh = TetMesh(grid.reshape(-1, 3), corners[_FIVE].transpose(2, 0, 1).reshape(-1, 4))
    tets = np.where((mesh.volumes < 0)[:, None], mesh.tets[:, [0, 2, 1, 3]], mesh.tets)
    return TetMesh(mesh.rest_positions, tets)


def _pushed(fine: Model, size: float) -> Accelerations:
    """Accelerations across and twisting about the longest side, that would bend it by that part of its size."""
    X, axes = fine.mesh.rest_positions, np.eye(3)[np.argsort(np.ptp(fine.mesh.rest_positions, axis=0))]
    centre = X.mean(axis=0)

    def unit(x: np.ndarray) -> np.ndarray:
        return axes[1] + 0.5 * axes[0] + np.cross(axes[2], x - centre) * 2.0 / fine.size

    found = vibrations(fine, MATCHED)
    q = np.einsum("kni,ni->k", found.modes, fine.mass @ unit(X)) / found.eigenvalues
    bent = np.linalg.norm(np.tensordot(q, found.modes, axes=1), axis=1).max()
    return lambda x: size * fine.size / bent * unit(x)


def _course(model: Model, push: Accelerations, loads: tuple[Load, ...]) -> tuple[np.ndarray, int, float]:
    """Positions (steps,n,3) by Newton, iterations, and seconds of processor time."""
    settings = SolverSettings(solver="newton", gravity=(0.0, 0.0, 0.0), max_iterations=100)
    solver, state, seen, iterations = make_solver(model, settings), model.rest_state(), [], 0
    pins, force = state.positions[model.pinned], AccelerationField(model.mass @ push(state.positions))
    begin = time.process_time()
    for k in range(STEPS):
        state, report = solver.step(state, pins, STEP, (force, *loads) if k < PUSHED else loads)
        iterations += report.iterations
        seen.append(state.positions)
    return np.array(seen), iterations, time.process_time() - begin


def _compared(case: str, coarse: Model, fine: Model, push: Accelerations) -> Iterable[Row]:
    spectra = find_spectra(coarse, coarse, MATCHED, finer=fine)
    pairs, X = pair(spectra, MATCHED), fine.mesh.rest_positions
    right = _course(fine, push, ())[0]
    lift = embed(X, coarse.mesh).matrix(coarse.mesh.tets, coarse.unknowns)
    amplitude = np.linalg.norm(right - X, axis=2).max()
    yield row(case, "amplitude, of the size", amplitude / fine.size)

    def off(found: np.ndarray) -> float:
        moved = (np.linalg.norm(lift @ x - y, axis=1).max() for x, y in zip(found, right, strict=True))
        return 100.0 * max(moved) / amplitude

    found, iterations, plain = _course(coarse, push, ())
    yield row(case, "error, plain", off(found), "%")
    yield row(case, "iterations, plain", iterations)
    for name, method in METHODS.items():
        begin = time.process_time()
        matching = method(coarse, spectra, pairs)
        prepared = time.process_time() - begin
        body = coarse
        if matching.stiffness is not None:
            body = replace(coarse, elastic=coarse.elastic.scaled(matching.stiffness))
        acting = matching.load(np.ones(len(coarse.elastic.weights)))
        found, iterations, seconds = _course(body, push, () if acting is None else (acting,))
        yield row(case, f"error, {name}", off(found), "%")
        yield row(case, f"iterations, {name}", iterations)
        yield row(case, f"a step over plain, {name}", seconds / plain)
        yield row(case, f"prepared in, {name}", prepared, "s")
