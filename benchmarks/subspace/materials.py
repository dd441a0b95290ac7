"""All energies in a subspace ([SubMFEM23] Fig. 15), and a twisted sweet (Fig. 8), compared with the full space."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from ...core.foundation.events import ignore
from ...core.foundation.schema.settings import SolverSettings
from ...core.foundation.schema.solver_kinds import SOLVER_KINDS
from ...core.geometry.mesh.embedding import embed
from ...core.mechanics.energies import ENERGIES
from ...core.mechanics.forces.springs import Springs
from ...core.mechanics.forces.step_potential import Load
from ...core.methods.model.model import Model, build_model
from ...core.methods.solvers import make_solver
from ...core.methods.subspaces.cubature import spectral_clusters, weight_features
from ...core.methods.subspaces.material_parts import material_parts
from ...core.methods.subspaces.reduced_model import ReducedModel, in_basis, skinning_subspace
from ...core.methods.subspaces.skinning import Coordinates
from ...core.methods.subspaces.skinning_basis import orthonormal, skinning_columns
from ...core.methods.subspaces.space import Space
from ...core.simulation.frame_loop.compile_kernels import warm_up
from .. import creatures
from ..bodies import block, held_end
from ..measures import EARTH
from ..pictures import Snapshot, draw
from ..processes import ask, python_with
from ..registry import Case, Row, row

LOADED = (0.2, 0.2, 1.0, 10.0, 1e3, 1e3)
"""Lengths of the steps to rest, s: in the last ones inertia is negligible."""

MODES, POINTS = 16, 320
SWEET_POINTS = 192
TURN = 0.45 * np.pi
"""Half of the twist between the ends of the sweet, rad: over half a revolution in all would be ambiguous."""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield the beams, and the sweet."""
    yield Case("energies", _energies)
    yield Case("sweet", _sweet)


def rested(
    model: Model,
    space: Space,
    solver: str,
    gravity: tuple[float, float, float] = EARTH,
    loads: Callable[[int], tuple[Load, ...]] = lambda _: (),
    steps: tuple[float, ...] = LOADED,
) -> np.ndarray:
    """Return positions (n,3), m, at rest after steps of these lengths, s, each begun with zero velocity."""
    settings = SolverSettings(solver=solver, max_iterations=200, tolerance=1e-9, gravity=gravity)
    stepper, state = make_solver(space, settings), space.rest_state()
    for k, length in enumerate(steps):
        state = space.state_at(state.positions)
        state, _report = stepper.step(state, state.positions[space.pinned], length, loads(k))
    if isinstance(space, ReducedModel):
        return model.mesh.rest_positions + space.basis @ state.positions
    return state.positions


def _energies() -> Iterable[Row]:
    """Compare a beam that bends under its weight. Mixed FEM uses the corotated form of the linear energy."""
    warm_up(ignore)
    mesh, shots = block((16, 4, 4), (4.0, 1.0, 1.0)), []
    for name in ENERGIES:
        model = build_model(mesh, 2e6, 0.45, 1e3, name, pinned=held_end(mesh))
        space = skinning_subspace(model, MODES, POINTS).model
        ends = {}
        for solver in ("subspace_mixed_fem", "subspace_fem", "newton" if name == "linear" else "mixed_fem"):
            at = space if SOLVER_KINDS[solver].takes_modes else model
            ends[solver] = rested(model, at, solver)
        mixed, fem, full = ends.values()
        sags = [float(np.abs(x[:, 1] - mesh.rest_positions[:, 1]).max()) for x in (mixed, fem, full)]
        yield row("energies", f"{name}: deflection", sags[1], "m")
        yield row("energies", f"{name}: over the full space's", sags[1] / sags[2])
        if name != "linear":
            apart = np.abs(mixed - fem).max() / mesh.size
            yield row("energies", f"{name}: Mixed FEM and FEM apart / size", apart, "", at_most=1e-6)
        shots.append(Snapshot(f"{name}: {sags[1]:.2f} m", fem, mesh.tets, None, (0.2, -0.3, -1.0), (0.0, 1.0, 0.0)))
    draw("subspace", "energies", shots, columns=4)


def _sweet() -> Iterable[Row]:
    """Compare ends rotated by springs in opposite directions; also with bounded biharmonic weights."""
    warm_up(ignore)
    model = creatures.sweet(0.08)
    X, tets = model.mesh.rest_positions, model.mesh.tets
    spaces: dict[str, Space] = {"full space": model, "skinning modes": skinning_subspace(model, 16, SWEET_POINTS).model}
    python = python_with("igl")
    if python is None:
        yield row("sweet", "libigl is not installed: bounded biharmonic weights skipped", float("nan"))
    else:
        question = {"rest_positions": X, "tets": tets, "handles": _farthest(X, MODES)}
        spaces["bounded biharmonic"] = _in_weights(model, ask(python, "bounded_biharmonic.py", question)["weights"])
    ends = {
        name: rested(model, space, _solver(space), (0.0, 0.0, 0.0), _turned(model, space), (0.05,) * 40)
        for name, space in spaces.items()
    }
    exact, errors = ends["full space"], {}
    yield row("sweet", "tets", len(tets))
    for name, x in ends.items():
        errors[name] = float(np.linalg.norm(x - exact) / np.linalg.norm(exact - X))
        yield row("sweet", f"{name}: off the full space / movement", errors[name])
        yield row("sweet", f"{name}: twist between the ends", np.degrees(_twist(X, x)), "degrees")
        energy = model.elastic.value(model.elastic.deformation(x))
        yield row("sweet", f"{name}: elastic energy of all tets", energy, "J")
    if python is not None:
        ratio = errors["bounded biharmonic"] / errors["skinning modes"]
        yield row("sweet", "bounded biharmonic's error / skinning modes'", ratio, "", at_least=2.0)
    # Halves of the soft ends in two colours, to show the twist.
    upper = X[tets].mean(axis=1)[:, 2] > 0.0
    colours = np.where(model.elastic.parameters[:, 0] > 1e8, 100.0, np.where(upper, 1.0, 10.0))
    draw(
        "subspace",
        "sweet",
        [Snapshot(name, x, tets, colours) for name, x in [("at rest", X), *ends.items()]],
        columns=2,
    )


def _solver(space: Space) -> str:
    return "subspace_mixed_fem" if isinstance(space, ReducedModel) else "mixed_fem"


def _farthest(X: np.ndarray, count: int) -> np.ndarray:
    """Return vertices by farthest-point sampling, the first at the largest x, (count,)."""
    chosen = [int(np.argmax(X[:, 0]))]
    away = np.linalg.norm(X - X[chosen[0]], axis=1)
    while len(chosen) < count:
        chosen.append(int(np.argmax(away)))
        away = np.minimum(away, np.linalg.norm(X - X[chosen[-1]], axis=1))
    return np.array(chosen)


def _in_weights(model: Model, weights: np.ndarray) -> ReducedModel:
    """Return the subspace of any skinning weights (n,h), with cubature by the same clusters."""
    X = model.mesh.rest_positions
    columns = skinning_columns(weights, Coordinates.around(X).of(X))
    cubature = spectral_clusters(
        weight_features(weights, np.ones(weights.shape[1]), model.mesh),
        model.elastic.weights,
        material_parts(model, np.zeros(len(X), dtype=np.int64)),
        SWEET_POINTS,
        moduli=model.elastic.youngs_modulus,
    )
    return in_basis(model, columns @ orthonormal(columns, model.mass), np.empty(0, dtype=np.int64), cubature)


def _turned(model: Model, space: Space) -> Callable[[int], tuple[Load, ...]]:
    """Return springs that rotate the ends about x, the right one by ``TURN``, the left one in reverse, in 30 steps."""
    X = model.mesh.rest_positions
    held = np.flatnonzero(np.abs(X[:, 0]) > 0.9)
    points, stiffness = space.points(embed(X[held], model.mesh)), np.full(len(held), 1e7 / len(held))

    def loads(step: int) -> tuple[Load, ...]:
        angle = TURN * min((step + 1) / 30, 1.0) * np.sign(X[held, 0])
        x, y, z = X[held].T
        c, s = np.cos(angle), np.sin(angle)
        return (Springs(points, stiffness, np.stack([x, c * y - s * z, s * y + c * z], axis=1)),)

    return loads


def _twist(X: np.ndarray, x: np.ndarray) -> float:
    """Return the rotation of the right end relative to the left one about x, rad: means over their vertices."""

    def turn(side: float) -> float:
        end = (side * X[:, 0] > 0.9) & (np.linalg.norm(X[:, 1:], axis=1) > 0.1)
        before, after = X[end, 1] + 1j * X[end, 2], x[end, 1] + 1j * x[end, 2]
        return float(np.angle((after * before.conj()).sum() * np.exp(-1j * side * TURN)) + side * TURN)

    return turn(1.0) - turn(-1.0)
