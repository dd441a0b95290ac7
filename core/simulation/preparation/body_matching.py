"""Matching of a body's lowest vibrations with a more accurate model (:mod:`eigenfit`).

The more accurate model is the same mesh in the full space, or a finer mesh.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...foundation.errors import MatchError, MeshError, NotEnoughMemoryError
from ...foundation.progress import OnProgress
from ...foundation.schema.settings import SolverSettings
from ...geometry.mesh.embedding import embed
from ...geometry.tetrahedra.tetrahedralize import tetrahedralize
from ...jobs.checks.memory import check_before_tetrahedra
from ...jobs.job.job import Job
from ...jobs.store.cached_reference_trajectory import cached_reference_trajectory
from ...jobs.store.cached_shapes import cache_shapes
from ...jobs.store.cached_spectra import cached_spectra
from ...jobs.store.frame_store import FrameStore
from ...mechanics.constraints.anchors import cell_sides
from ...mechanics.constraints.pins import PinnedSurface, PinSchedule, PinSprings
from ...mechanics.forces.embedded_points import EmbeddedPoints
from ...mechanics.forces.step_potential import Load
from ...methods.eigenfit.error_estimate import estimate, sufficient_mode_count
from ...methods.eigenfit.match_report import (
    REFUSED,
    Match,
    control_summary,
    match_summary,
    rejection_summary,
    unmatched_summary,
)
from ...methods.eigenfit.matching import MOST, Matching, Spectra, find_spectra
from ...methods.eigenfit.mesh_compatibility import check_mesh_compatibility
from ...methods.eigenfit.methods import MatchMethod, match_methods
from ...methods.eigenfit.trial_simulation import ErrorTest, best_match, choices, is_improvement, trial_loads
from ...methods.eigenfit.vibrations import Springs, rigid_count, vibrations
from ...methods.model.model import Model
from ...methods.subspaces.reduced_model import Subspace
from ...methods.subspaces.reduced_points import ReducedPoints
from ...methods.subspaces.space import Space
from .body_model import body_model, fields_of, pinned_surface

STIFFEST = 1e8
"""Largest ratio of two Young's moduli of a body whose vibrations are computed.

Moduli above STIFFEST times the lowest modulus are reduced to this limit. Regions that stiff are rigid in any case. With
a limit of 1e10, round-off changes the lowest frequency of a bar of two materials by 5 %.
"""


FIRM_PINS = 40.0
"""Factor on the stiffness of pin springs for the vibrations of the body to be matched.

A bake that matches the vibrations of a finer mesh keeps the factor. Under load, pin springs stiffen by up to 4000
times. The matching potential corrects the body alone. Springs that are soft without load and stiff under load would
make the correction wrong. With a factor of 1, the error was up to 40 % of the amplitude under weight. With 20 to 200 it
is 4 to 14 % under any load, and without a match 42 to 76 %.
"""

SWING = 0.1
"""Amplitude at which the stiffness of a finer body's pin springs is computed, divided by the body's size.

The body is deflected in the shape of its slowest vibration. The amplitude is the largest displacement.
"""

GIVING = 4.5
"""Largest value of ``e L / c`` at which vibrations are matched. Above it, pins hold too little of the body.

L is the body's size, c the side of a cell, and e the fraction of the slowest vibration's energy in the pin springs.
e grows with c. Errors of bars, as fractions of the amplitude:

- whole end pinned, value 1.3: 2 %
- three quarters of an end pinned, value 3.3: 6 %; without a match 5 to 19 %
- half of an end pinned, values 6 and 10: 28 to 62 %; without a match 27 to 40 %
"""


SWINGS = 2
"""Duration of the trial simulation, in periods of the finer mesh's slowest vibration.

The trial simulation compares a body with a finer mesh. After one period, small errors of the frequency would hardly be
visible.
"""

FITTED = "Cubature is fitted to the muscles and to the lowest vibrations instead."
"""Report on a body with muscles in a subspace. Factors on the stiffness of cubature points, which match vibrations, put
the contracted arm of the benchmark off by up to 72 % of its displacement, and fitted weights by 6 % at most.
"""

SPLIT = "The vibrations of a split body are not matched, since its pieces may part"
"""Report of a body with seams."""

TRYING = 0.4
"""Progress (0 to 1) of the matching once the vibrations are computed. The trial simulation takes the rest."""


def body_matching(
    job: Job,
    model: Model,
    subspace: Subspace | None,
    pinned: PinnedSurface,
    pins: PinSchedule,
    points: EmbeddedPoints | ReducedPoints,
    store: FrameStore | None,
    on_progress: OnProgress,
    collides: bool = False,
) -> tuple[MatchMethod | None, Match]:
    """Return the method that corrects the body's vibrations, and a report.

    The method gives the body the vibrations of a more accurate model, scales single vibrations by the user's factors,
    or both. It is None for rigid bodies, and if neither is possible. Only pins in all frames after the first count.

    ``pinned``, ``pins``: pins of the surface and of the solver's unknowns. ``points``: surface vertices as functions of
    the unknowns. ``collides``: True if the body is solved together with other bodies.
    """
    (solver, reason), factors = _requested(job, subspace), job.body.vibration_stiffness
    finer: _Finer | None = None
    if job.body.is_rigid or job.body.seams is not None or (not solver.is_matched and factors is None):
        return None, Match(reason)
    before = store.match() if store is not None else ""
    if before.startswith(REFUSED):
        return None, Match(before)  # a resumed bake stays unmatched, even with enough memory now
    on_progress(0.0)
    softest = float(model.elastic.youngs_modulus.min())
    model, lasting, spring_moduli = _at_rest(model, pinned, softest, FIRM_PINS)
    space, springs = _subspace_at_rest(subspace, pins, lasting, spring_moduli, softest) if subspace else (model, None)
    count = solver.match_modes or MOST

    def finding(part: float) -> None:
        on_progress(TRYING * part)

    try:
        is_free, is_controlled, hits = not lasting.held.any(), factors is not None, collides or bool(job.body.colliders)
        conditions = is_controlled, is_free and bool(pinned.held.any()), collides or job.body.is_plastic
        methods = match_methods(solver, *conditions, is_free and hits) if solver.is_matched else (Matching,)
        if solver.match_resolution:
            finer = _Finer(*_at_rest(*finer_model(job, not before), softest, 1.0))
            check_mesh_compatibility(model, finer.model, lasting.rest[lasting.held[0]])
        if space.is_reduced and not solver.is_matched:
            spectra = find_spectra(model, space, count, springs, finer=space)
        else:
            swung = partial(_swung, pinned=finer.pinned, moduli=finer.moduli) if finer else None
            spectra = cached_spectra(model, space, count, springs, store, finding, finer and finer.model, swung)
    except MatchError as error:
        hint = " Vibrations can be controlled if Match Resolution is off." * (is_controlled and solver.match_resolution)
        return None, Match(f"{REFUSED}{error}{hint}")
    is_tried = solver.is_matched and (finer or space.is_reduced)
    trial = _trial(job, model, space, lasting, spring_moduli, finer, store, on_progress) if is_tried else None
    matching, match = _matched(solver, methods, space, springs, spectra, factors, trial)
    match = match.with_words(_of_pins(pinned) * bool(match.vibrations))
    if store is not None and match.vibrations:
        rest = space.rest_state().positions
        still, modes = points.positions(rest), spectra.modes[: len(match.vibrations)]
        moved = (points.positions(rest + u) - still for u in modes)
        cache_shapes(store, job, moved, [each.frequency for each in match.vibrations])
    return matching, match


def _requested(job: Job, subspace: Subspace | None) -> tuple[SolverSettings, str]:
    """Return the settings of the solver, without a match of a subspace whose cubature is fitted, and why."""
    solver = job.body.solver
    if job.body.seams is not None:
        return solver, SPLIT if solver.is_matched or job.body.vibration_stiffness is not None else ""
    if subspace is None or not job.body.muscles or not solver.match_full_space:
        return solver, ""
    return replace(solver, match_full_space=False), FITTED


def _subspace_at_rest(
    subspace: Subspace, pins: PinSchedule, lasting: PinnedSurface, spring_moduli: np.ndarray, softest: float
) -> tuple[Space, Springs | None]:
    """Return the subspace for vibrations, and its pin springs or None."""
    given = pins.corners[pins.held[min(1, len(pins.held) - 1) :].all(axis=0)]
    elastic = subspace.model.elastic.without_flow()
    elastic = elastic.scaled(_softer(elastic.youngs_modulus, softest))
    space = replace(subspace.model, elastic=elastic, pinned=given)
    holding = PinSprings(lasting, spring_moduli, space.points).holding(0, np.ones(len(spring_moduli)))
    return space, holding and Springs(holding.points, holding.stiffness)


def _matched(
    solver: SolverSettings,
    methods: Sequence[type[MatchMethod]],
    space: Space,
    springs: Springs | None,
    spectra: Spectra,
    factors: np.ndarray | None,
    trial: ErrorTest | None,
) -> tuple[MatchMethod | None, Match]:
    """Return the method that corrects a body's vibrations, or None, and the report.

    A correction matches the vibrations to those of a more accurate model, or scales their stiffness by ``factors``.
    """
    chosen = sufficient_mode_count(spectra) if solver.is_matched and not solver.match_modes else 0
    count = chosen or solver.match_modes or MOST
    others = choices(spectra, count, not chosen)
    if factors is None:
        others = [each._replace(alone=each.alone[:0]) for each in others]
    pairs = others[0]
    of_any = len(pairs.coarse) + len(pairs.alone) > 0
    if not solver.is_matched:
        matching, match = Matching(space, spectra, pairs) if of_any else None, control_summary(spectra, pairs, count)
    elif not of_any:
        matching, match = None, match_summary(spectra, pairs, count)
    else:
        for method in methods:
            matching = best_match((method,), space, spectra, others, springs, trial and trial.error_of)
            matched, off = matching.pairs, []
            if len(matched.coarse):
                off = trial.estimates(matching) if trial else [estimate(spectra, matched)]
            is_useless = trial and off and factors is None and not is_improvement(off, spectra.is_one_mesh)
            if not is_useless:
                break
        if is_useless:
            return None, Match(f"{REFUSED}{rejection_summary(off, spectra.is_one_mesh)}")
        wanted = count if matched is pairs else len(matched.shares)
        match = match_summary(spectra, matched, wanted, bool(chosen), off, bool(trial))
    if factors is not None and match.vibrations:
        match = match.with_words(unmatched_summary(match.vibrations, factors))
    return matching, match


class _Finer(NamedTuple):
    """Finer body to match: model, permanent pins, and moduli of the pin springs (m,), Pa."""

    model: Model
    pinned: PinnedSurface
    moduli: np.ndarray


def _trial(
    job: Job,
    model: Model,
    space: Space,
    lasting: PinnedSurface,
    spring_moduli: np.ndarray,
    finer: _Finer | None,
    store: FrameStore | None,
    on_progress: OnProgress,
) -> ErrorTest | None:
    """Return the comparison of the body with the more accurate model in trial simulations, or None."""
    rest = lasting.rest

    def held(by: Space, pins: PinnedSurface, moduli: np.ndarray) -> list[Load]:
        holding = PinSprings(pins, moduli, by.points).holding(0, np.ones(len(moduli)))
        return [holding.load(rest, rest)] if holding else []

    def swinging(part: float) -> None:
        on_progress(TRYING + (1.0 - TRYING) * part)

    matched = held(space, lasting, spring_moduli)
    if finer is None:
        swing = cached_reference_trajectory(model, held(model, lasting, spring_moduli), store, swinging)
        return swing and ErrorTest([swing], space, (matched, matched), space.basis)
    sides = np.ptp(finer.model.mesh.rest_positions, axis=0)
    swings, names = [], trial_loads(not lasting.held.any(), sides)
    for k, name in enumerate(names):

        def so_far(part: float, before: int = k) -> None:
            swinging((before + part) / len(names))

        swings.append(cached_reference_trajectory(finer.model, held(*finer), store, so_far, SWINGS, name))
    if None in swings:
        return None
    X, plain = job.body.surface.positions, held(space, lasting, spring_moduli / FIRM_PINS)
    lift = _carried(space, model, finer.model.mesh.rest_positions)
    surface = _carried(finer.model, finer.model, X), _carried(space, model, X)
    return ErrorTest(swings, space, (plain, matched), lift, surface)


def _carried(space: Space, model: Model, positions: np.ndarray) -> np.ndarray | sp.csr_matrix:
    """Return the matrix (k,r) that interpolates the unknowns of a space to k points of the body."""
    by_vertices = embed(positions, model.mesh).matrix(model.mesh.tets, model.unknowns)
    return by_vertices @ space.basis if space.is_reduced else by_vertices


def _of_pins(pinned: PinnedSurface) -> str:
    """Return the report's sentence about pins that are released in some frames, or ""."""
    held = pinned.held[min(1, len(pinned.held) - 1) :]
    if np.array_equal(held.any(axis=0), held.all(axis=0)):
        return ""
    of_free = "" if held.all(axis=0).any() else ", so these vibrations are of the free body"
    return f"Pins that do not hold in every frame are left out{of_free}."


def finer_model(job: Job, is_checked: bool = True) -> tuple[Model, PinnedSurface]:
    """Return a model of the job's body on a finer lattice, and its pins.

    The model only serves for vibrations. Raises MatchError if the lattice cannot be made. Raises MatchError if
    ``is_checked`` and the lattice does not fit into the free memory.
    """
    body = job.body
    finer = replace(body.resolution, method="lattice", cells_across=body.solver.match_cells)
    try:
        if is_checked:
            check_before_tetrahedra(job.with_body(resolution=finer, solver=SolverSettings()))
        mesh = tetrahedralize(body.surface, finer, body.refinement)
    except (MeshError, NotEnoughMemoryError) as error:  # these errors do not name this lattice's own setting
        remedy = error.remedy.replace("Cells Across", "Match Cells")
        raise MatchError(f"the finer lattice cannot be made. {error.message}", remedy) from error
    embedding = embed(body.surface.positions, mesh)
    pinned = pinned_surface(job, mesh, embedding)
    return body_model(job, mesh, fields_of(job, mesh, embedding), pinned), pinned


def _at_rest(
    model: Model, pinned: PinnedSurface, softest: float, firmness: float
) -> tuple[Model, PinnedSurface, np.ndarray]:
    """Return the model for vibrations, its permanent pins, and the moduli (m,), Pa, of the pin springs."""
    softer, lasting = _softer(model.elastic.youngs_modulus, softest), pinned.always()
    spring_moduli = firmness * softer[model.elements.of_tet] * model.youngs_modulus
    held, anchors = lasting.schedule().held_corners(0), lasting.holding(0, spring_moduli)
    return (
        replace(model, elastic=model.elastic.scaled(softer).without_flow(), pinned=held, anchors=anchors),
        lasting,
        spring_moduli,
    )


def _swung(finer: Model, pinned: PinnedSurface, moduli: np.ndarray) -> Model:
    """Return a finer body with pin springs as stiff as in a deflected body.

    A force that would extend a spring of constant stiffness by the fraction g of its reach extends the stiffening
    spring by about ``g / (1 + g)`` of the reach (:mod:`stiffening_springs`).
    """
    if finer.anchors is None or not finer.anchors.nnz:
        return finer
    rigid = rigid_count(finer)
    found = vibrations(finer, rigid + 1)
    slowest = found.modes[rigid]
    given = np.sum(slowest * (finer.anchors @ slowest)) / found.eigenvalues[rigid]
    if given * finer.size > GIVING * np.median(cell_sides(finer.mesh)):
        raise MatchError("too few vertices are pinned: the pins yield in the vibration.", "Pin more of the surface.")
    slowest *= SWING * finer.size / np.linalg.norm(slowest, axis=1).max()
    return replace(finer, anchors=(1.0 + pinned.give(0, slowest, moduli)) * finer.anchors)


def _softer(E: np.ndarray, softest: float) -> np.ndarray:
    """Return the factors (m,) that limit the Young's moduli E to STIFFEST times ``softest``, Pa."""
    return np.minimum(1.0, STIFFEST * softest / E)
