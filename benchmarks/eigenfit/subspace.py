"""Subspaces matched to the full space: pushed and twisted bodies, compared with the full-space motion."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.linalg

from ...core.foundation.events import ignore
from ...core.foundation.schema.settings import ResolutionSettings, SolverSettings
from ...core.geometry.mesh.embedding import embed
from ...core.geometry.mesh.tet_mesh import TetMesh
from ...core.geometry.tetrahedra.tetrahedralize import tetrahedralize
from ...core.jobs.store.cached_subspace import cached_subspace
from ...core.mechanics.constraints.pins import PinLoad
from ...core.mechanics.forces.acceleration_field import AccelerationField
from ...core.mechanics.forces.step_potential import Load, Motion
from ...core.methods.eigenfit.error_estimate import sufficient_mode_count
from ...core.methods.eigenfit.matching import MOST, Matching, Spectra, find_spectra
from ...core.methods.eigenfit.methods import METHODS, MatchMethod, match_methods
from ...core.methods.eigenfit.trial_simulation import ErrorTest, best_match, choices, reference_trajectory
from ...core.methods.eigenfit.vibrations import rigid_count, vibrations
from ...core.methods.model.model import Model, build_model
from ...core.methods.solvers import make_solver
from ...core.methods.subspaces.reduced_model import ReducedModel, skinning_subspace
from ...core.methods.subspaces.reduced_stiffness import symmetric
from ...core.methods.subspaces.space import Space
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ...core.simulation.preparation.prepare import prepare
from ..bodies import block, has, held_end, load, suzanne
from ..creatures import capsule, carved
from ..match_acceptance import Matched, told
from ..physics.lattice import BODIES, held_job
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row
from ..resolutions import DEFAULT
from ..thin_bodies import FINGERS, hand

STEP, PUSHED, SECONDS = 0.01, 0.3, 1.0
FREQUENCY = 2.0
"""First frequency of every body, Hz, to which its stiffness is scaled."""
AMPLITUDE = 0.1
"""Static deflection of a linear body under the push over its size; the overshoot is 1.5 times that."""
MODES, PUSHED_MODES = (8, 16), 10
REPEATS = 9
HAND = 8.0
"""Allowed error of a hand with the larger number of modes, % of the swing."""
STIFF = 1e3
"""Stiffness of bone over flesh."""
SHARED = ("gummy_bear", "arm_fine", "armadillo_fine", "boat", "virus")
"""The fit was tuned on the first three, bar, limb and Suzanne, the trial simulation on all of them."""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield one case per body; the shared ones if available."""
    yield Case("subspace_bar", lambda: _compared("subspace_bar", _bar()))
    yield Case("subspace_limb", lambda: _compared("subspace_limb", _limb()))
    yield Case("subspace_plate", lambda: _compared("subspace_plate", _plate()))
    yield Case("subspace_slabs", lambda: _compared("subspace_slabs", _slabs()))
    if find_spec("bpy"):
        yield Case("subspace_suzanne", lambda: _compared("subspace_suzanne", _suzanne()))
    for name in SHARED:
        if has(data, name):
            yield Case(f"subspace_{name}", lambda name=name: _compared(f"subspace_{name}", _shared(data, name)))
    for contrast in (1.0, 1e2, 1e4):
        name = f"subspace_hand_{contrast:g}"
        yield Case(name, lambda name=name, contrast=contrast: _fingers(name, _hand(contrast)))
    yield Case("subspace_truth", _truth)


def _of(mesh: TetMesh, pinned: np.ndarray, relative: np.ndarray | float = 1.0) -> Model:
    """Return a held body with this relative stiffness, scaled to the common first frequency."""
    soft = build_model(mesh, 1e5 * relative, 0.45, 1e3, pinned=pinned)
    return build_model(
        mesh, 1e5 * relative * (FREQUENCY / vibrations(soft, 1).frequencies[0]) ** 2, 0.45, 1e3, pinned=pinned
    )


def _bar() -> Model:
    mesh = block((20, 5, 5), (1.0, 0.25, 0.25))
    return _of(mesh, held_end(mesh))


def _limb() -> Model:
    """Return two bones in flesh with a joint between."""

    def inside(p: np.ndarray) -> np.ndarray:
        return capsule(p, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 0.16)

    mesh = carved((0.0, -0.2, -0.2), (1.2, 0.2, 0.2), 0.05, inside)
    x, *across = mesh.rest_positions[mesh.tets].mean(axis=1).T
    bone = (np.hypot(*across) < 0.07) & (np.abs(x - 0.55) > 0.08) & (x < 1.0)
    return _of(mesh, held_end(mesh), np.where(bone, STIFF, 1.0))


def _plate() -> Model:
    mesh = block((20, 14, 3), (1.0, 0.7, 0.1))
    return _of(mesh, held_end(mesh))


def _slabs() -> Model:
    """Return five slabs, alternately stiff and soft."""
    mesh = block((20, 5, 5), (1.0, 0.25, 0.25))
    x = mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0]
    return _of(mesh, held_end(mesh), np.where((5.0 * x).astype(int) % 2 == 1, 1e4, 1.0))


def _hand(contrast: float) -> Model:
    """Return a hand on a lattice, held at the wrist, with a bone of this contrast in each finger and in the palm."""
    mesh = tetrahedralize(hand(), ResolutionSettings(cells_across=24))
    X, p = mesh.rest_positions, mesh.rest_positions[mesh.tets].mean(axis=1)
    bone = ((p / (0.42, 0.55, 0.16)) ** 2).sum(axis=1) < 0.3
    for start, end, radius in FINGERS:
        bone |= capsule(p, start, end, 0.5 * radius)
    return _of(mesh, np.flatnonzero(X[:, 1] < X[:, 1].min() + 0.1 * np.ptp(X[:, 1])), np.where(bone, contrast, 1.0))


def _suzanne() -> Model:
    """Return Suzanne on a lattice, held at the chin."""
    mesh = tetrahedralize(suzanne(2.0), ResolutionSettings(cells_across=16))
    z = mesh.rest_positions[:, 2]
    return _of(mesh, np.flatnonzero(z < z.min() + 0.15 * np.ptp(z)))


def _shared(data: Path, name: str) -> Model:
    """Return the bear with its recorded pins and materials, or another body held in its first tenth."""
    body = load(data, name)
    mesh = TetMesh(body["vertices"], body["tets"])
    along = mesh.rest_positions[:, np.argmax(np.ptp(mesh.rest_positions, axis=0))]
    pinned = body.get("pinned", np.flatnonzero(along < along.min() + 0.1 * np.ptp(along)))
    return _of(mesh, pinned, np.where(body["material_ids"] == 1, 10.0, 1.0) if "material_ids" in body else 1.0)


def _pushed(model: Model) -> np.ndarray:
    """Return forces (n,3) N, lateral and twisting about the longest side, that bend the body by AMPLITUDE."""
    X = model.mesh.rest_positions
    axes = np.eye(3)[np.argsort(np.ptp(X, axis=0))]
    a = axes[1] + 0.5 * axes[0] + np.cross(axes[2], X - X.mean(axis=0)) * 2.0 / model.size
    force = model.mass @ a
    found = vibrations(model, PUSHED_MODES)
    q = np.einsum("kni,ni->k", found.modes, force) / found.eigenvalues
    bent = np.linalg.norm(np.tensordot(q, found.modes, axes=1), axis=1).max()
    return AMPLITUDE * model.size / bent * force


class Course(NamedTuple):
    """Unknowns (steps+1,r,3), iterations, and seconds spent in each step (steps,)."""

    unknowns: np.ndarray
    iterations: int
    seconds: np.ndarray


def _course(space: Space, force: np.ndarray, loads: tuple[Load, ...], **settings: object) -> Course:
    chosen = {"gravity": (0.0, 0.0, 0.0), "max_iterations": 100, **settings}
    stepper, state = make_solver(space, SolverSettings(**chosen)), space.rest_state()
    seen, iterations, push = [state.positions], 0, AccelerationField(force)
    pins, seconds = state.positions[space.pinned], []
    for k in range(round(SECONDS / STEP)):
        acting = (push, *loads) if k * STEP < PUSHED - 1e-9 else loads
        begin = time.perf_counter()
        state, report = stepper.step(state, pins, STEP, acting)
        seconds.append(time.perf_counter() - begin)
        iterations += report.iterations
        seen.append(state.positions)
    return Course(np.array(seen), iterations, np.array(seconds))


def _compared(case: str, model: Model) -> Iterable[Row]:
    warm_up(ignore)
    X, force = model.mesh.rest_positions, _pushed(model)
    fine = _course(model, force, ()).unknowns - X
    amplitude = np.linalg.norm(fine, axis=2).max()
    yield row(case, "tets", len(model.mesh.tets))
    yield row(case, "amplitude, of the size", amplitude / model.size)
    curves: list[Curve] = []
    begin = time.perf_counter()
    swing = reference_trajectory(model, ())
    yield row(case, "a swing of all vertices, to try the match", time.perf_counter() - begin, "s")
    for count in MODES:
        space = skinning_subspace(model, count, 0).model
        trial = ErrorTest([swing], space, ((), ()), space.basis)
        body = _Body(model, space, find_spectra(model, space, MOST), trial, space.basis.T @ force, fine)
        yield from _in_modes(case, f"{count} modes", body, curves)
    draw("eigenfit", case, [Plot("away from the motion of all vertices", "t (s)", "m", curves)])


class _Body(NamedTuple):
    """A body in a subspace: the spectra and the trial simulation for its match, the force (r,3) N, and the full-space
    motion (steps+1,n,3), m, under another push and for longer than in the trial.
    """

    model: Model
    space: ReducedModel
    spectra: Spectra
    trial: ErrorTest
    pushed: np.ndarray
    fine: np.ndarray

    def match(self, *methods: type[MatchMethod], count: int = 0) -> MatchMethod:
        """Match the ``count`` lowest modes, or an automatically chosen number."""
        tried = choices(self.spectra, count or sufficient_mode_count(self.spectra), is_set=bool(count))
        return best_match(methods, self.space, self.spectra, tried, None, self.trial.error_of)

    def by(self, found: MatchMethod | None) -> tuple[ReducedModel, tuple[Load, ...]]:
        """Return the motion with a match, or without."""
        if found is None:
            return self.space, ()
        load = found.load(np.ones(len(self.space.elastic.weights)))
        space = self.space
        if found.stiffness is not None:
            space = replace(space, elastic=space.elastic.scaled(found.stiffness))
        return space, (() if load is None else (load,))

    def course(self, by: tuple[ReducedModel, tuple[Load, ...]], push: float = 1.0) -> Course:
        """Return the motion under ``push`` times the force."""
        return _course(by[0], push * self.pushed, by[1], solver="subspace_mixed_fem")

    def away(self, unknowns: np.ndarray) -> np.ndarray:
        """Return the distance of the farthest point from the motion of all vertices, at each time, m."""
        return np.array([_away(self.space, u, x) for u, x in zip(unknowns, self.fine)])

    def error(self, unknowns: np.ndarray) -> float:
        """Return the largest distance, % of the amplitude."""
        return 100.0 * float(self.away(unknowns).max() / np.linalg.norm(self.fine, axis=2).max())

    def reach(self, course: Course) -> float:
        """Return the largest displacement, m."""
        return max(float(np.linalg.norm(self.space.basis @ u, axis=1).max()) for u in course.unknowns)


def _fingers(case: str, model: Model) -> Iterable[Row]:
    """Compare the errors of a body with many thin parts, plain and by the automatic choice."""
    warm_up(ignore)
    X, force = model.mesh.rest_positions, _pushed(model)
    fine = _course(model, force, ()).unknowns - X
    yield row(case, "tets", len(model.mesh.tets))
    yield row(case, "amplitude, of the size", np.linalg.norm(fine, axis=2).max() / model.size)
    swing = reference_trajectory(model, ())
    for count in MODES:
        space, words = cached_subspace(model, count, 0, None).subspace.model, f"{count} modes"
        yield row(case, f"{words}: cubature points", len(space.elastic.weights))
        trial = ErrorTest([swing], space, ((), ()), space.basis)
        body = _Body(model, space, find_spectra(model, space, MOST), trial, space.basis.T @ force, fine)
        found = body.match(*match_methods(SolverSettings()))
        plain, matched = (body.course(body.by(each)) for each in (None, found))
        bar = {"at_most": HAND} if count == max(MODES) else {}
        yield row(case, f"{words}: error, plain", body.error(plain.unknowns), "%")
        yield row(case, f"{words}: error, matched by {found.label}", body.error(matched.unknowns), "%", **bar)
        yield row(case, f"{words}: error, best in the span", body.error(_nearest(model, space, fine)), "%")
        yield row(case, f"{words}: told", 100.0 * trial.error_of(found), "%")


def _in_modes(case: str, words: str, body: _Body, curves: list[Curve]) -> Iterable[Row]:
    """Yield errors, iterations and times of a body in a subspace; append the plotted curves to ``curves``."""
    times, begin = STEP * np.arange(len(body.fine)), time.perf_counter()
    fitted = body.match(METHODS[DEFAULT])
    chosen = time.perf_counter() - begin
    matching = body.match(Matching)
    ways = {"plain": body.by(None), DEFAULT: body.by(fitted), Matching.name: body.by(matching)}
    first = {name: body.course(way) for name, way in ways.items()}
    # The plain body is stiffer, and moves less: also compare one that is pushed until it moves as far.
    farther, push = "plain that moves as far", body.reach(first[DEFAULT]) / body.reach(first["plain"])
    pushed = {name: (way, 1.0) for name, way in ways.items()} | {farther: (ways["plain"], push)}
    runs = {name: [] for name in pushed}
    for _ in range(REPEATS):
        for name, (way, by) in pushed.items():
            runs[name].append(body.course(way, by))
    moves = {name: each.unknowns for name, each in first.items()}
    moves["best in the span"] = _nearest(body.model, body.space, body.fine)
    errors = {name: body.error(each) for name, each in moves.items()}
    curves += [Curve(f"{name}, {words}", times, body.away(each)) for name, each in moves.items()]
    bar = max(errors["plain"] / 4.0, 8.0)
    yield row(case, f"{words}: matched", len(fitted.pairs.coarse))
    yield row(case, f"{words}: choosing the match", chosen, "s")
    for name, error in errors.items():
        yield row(case, f"{words}: error, {name}", error, "%", **({"at_most": bar} if name == DEFAULT else {}))
    yield row(case, f"{words}: {DEFAULT} over best in the span", errors[DEFAULT] / errors["best in the span"])
    yield row(case, f"{words}: iterations a step, plain", first["plain"].iterations / (len(times) - 1))
    for name in (DEFAULT, Matching.name):
        yield from _costs(case, f"{words}: %s over plain, {name}", runs[name], runs["plain"], name == DEFAULT)
        yield from _costs(case, f"{words}: %s over {farther}, {name}", runs[name], runs[farther], False)
    ratios, told_apart = _spectrum(body.model, body.space, matching)
    off, bar = np.abs(ratios - 1.0).max(), max(1e-9, told_apart)
    yield row(case, f"{words}: spectrum corrected by {Matching.name} off by", off, "", at_most=bar)
    seen = Matched(body.model, body.space, matching, moves[Matching.name], (errors[DEFAULT], errors["plain"]))

    def error_of(count: int) -> float:
        return body.error(body.course(body.by(body.match(METHODS[DEFAULT], count=count))).unknowns)

    yield from told(case, words, seen, body.trial.estimates(fitted)[0], error_of)


def _costs(case: str, words: str, runs: list[Course], others: list[Course], is_held: bool) -> Iterable[Row]:
    """Yield the cost of a body over that of another one, by the shortest of each step. Under the same push a matched
    body moves farther than the plain one, and so needs more iterations.
    """
    more = runs[0].iterations / others[0].iterations
    longer = _shortest(runs) / _shortest(others)
    bars = ({"at_most": 1.05}, {"at_most": 1.1}) if is_held else ({}, {})
    yield row(case, words % "iterations", more, "", **bars[0])
    yield row(case, words % "time of a step", longer, "", **bars[1])
    yield row(case, words % "time of an iteration", longer / more)


def _shortest(runs: list[Course]) -> float:
    """Return the seconds of all steps, by the shortest of each."""
    return float(np.min([each.seconds for each in runs], axis=0).sum())


def _away(space: ReducedModel, unknowns: np.ndarray, displacement: np.ndarray) -> float:
    return float(np.linalg.norm(space.basis @ unknowns - displacement, axis=1).max())


def _nearest(model: Model, space: ReducedModel, displacements: np.ndarray) -> np.ndarray:
    """Return the unknowns closest to displacements (k,n,3) in the mass norm, with pins at rest."""
    free = np.setdiff1d(np.arange(space.unknowns), space.pinned)
    A, out = space.basis[:, free], np.zeros((len(displacements), space.unknowns, 3))
    inverse = np.linalg.inv(space.mass[np.ix_(free, free)])
    for k, u in enumerate(displacements):
        out[k, free] = inverse @ (A.T @ (model.mass @ u))
    return out


def _spectrum(model: Model, space: ReducedModel, matching: Matching) -> tuple[np.ndarray, float]:
    """Return the eigenvalues of the matched subspace over the target ones (the fine ones, and unmatched ones); and the
    relative error of the lowest in a dense eigenproblem, from the highest.
    """
    K, mass, _rows = _matrices(space, None)
    plain, found = (scipy.linalg.eigvalsh(each, mass) for each in (K, K + _correction(space, matching)))
    rigid = rigid_count(model)
    left = np.delete(plain[rigid:], matching.pairs.coarse)
    expected = np.sort(np.concatenate([matching.spectra.fine[matching.pairs.fine], left]))
    first = len(matching.pairs.shares)
    return found[rigid : rigid + first] / expected[:first], np.finfo(float).eps * found[-1] / found[rigid]


def _matrices(space: ReducedModel, springs: PinLoad | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return stiffness including springs, and mass, (3f,3f), of the free unknowns, and their rows of (3r,)."""
    r = space.unknowns
    stiffness = space.stiffness(space.elastic.tangent(space.elastic.deformation(np.zeros((r, 3)))), 0.0)
    if springs is not None:
        springs.points.add_stiffness(springs.stiffness[:, None, None] * np.eye(3), 1.0, stiffness)
    rows = _rows(space)
    mass = np.kron(np.eye(3), space.mass)
    return symmetric(stiffness)[np.ix_(rows, rows)], mass[np.ix_(rows, rows)], rows


def _rows(space: ReducedModel) -> np.ndarray:
    free = np.setdiff1d(np.arange(space.unknowns), space.pinned)
    return np.concatenate([free + i * space.unknowns for i in range(3)])


def _correction(space: ReducedModel, matching: Matching) -> np.ndarray:
    """Return ``Y C Y^T`` at rest, (3f,3f)."""
    rest = np.zeros((space.unknowns, 3))
    load = matching.load(np.ones(len(space.elastic.weights)))
    Y, C = load.begin(Motion(rest, rest, STEP)).low_rank(space.elastic.deformation(rest))
    Y = Y.transpose(1, 0, 2).reshape(-1, len(C))[_rows(space)]
    return Y @ C @ Y.T


def _truth() -> Iterable[Row]:
    """Compare first frequency and static sag of the bar 8:1 on a lattice, held by springs, with scikit-fem's quadratic
    hexahedra.
    """
    for name in ("bar 8:1", "bar 8:1, nu 0.45"):
        body = BODIES[name]
        for cells in (12, 20, 32):
            for modes in MODES:
                for words in ("plain", DEFAULT, Matching.name):
                    match = {} if words == "plain" else {"match_method": words}
                    prepared = prepare(
                        held_job(
                            body,
                            cells,
                            0.0,
                            solver="subspace_mixed_fem",
                            modes=modes,
                            match_full_space=bool(match),
                            **match,
                        )
                    )
                    held = prepared.pin_springs.holding(1, np.ones(len(prepared.model.mesh.tets)))
                    whole, mass, rows = _matrices(prepared.space, held)
                    if words == Matching.name:
                        whole = whole + _correction(prepared.space, prepared.matching)
                    frequency = np.sqrt(scipy.linalg.eigvalsh(whole, mass, subset_by_index=[0, 0])[0]) / (2.0 * np.pi)
                    u = np.zeros(3 * prepared.space.unknowns)
                    pull = np.outer([0.0, 0.0, -1.0], prepared.space.lumped_masses).ravel()
                    u[rows] = np.linalg.solve(whole, pull[rows])
                    moved = prepared.space.basis @ u.reshape(3, -1).T
                    sag = -embed(body.tip, prepared.model.mesh).apply(moved, prepared.model.mesh.tets)[:, 2].mean()
                    what, bar = (
                        f"{name}, {cells} cells, {modes} modes, {words}",
                        0.05 if words == DEFAULT and cells > 12 else None,
                    )
                    yield row("subspace_truth", f"{what}: sag over truth", sag / body.sag)
                    yield row("subspace_truth", f"{what}: first frequency over truth", frequency / body.frequencies[0])
                    yield row(
                        "subspace_truth",
                        f"{what}: frequency off by",
                        abs(frequency / body.frequencies[0] - 1.0),
                        "",
                        at_most=bar,
                    )
