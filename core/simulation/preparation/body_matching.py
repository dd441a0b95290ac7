"""Matching of a body's vibrations to those of all its vertices, or of a finer mesh (:mod:`eigenfit`)."""

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
from ...methods.eigenfit.trial_simulation import ErrorTest, best_match, choices, is_improvement
from ...methods.eigenfit.vibrations import Springs, rigid_count, vibrations
from ...methods.model.model import Model
from ...methods.subspaces.reduced_model import Subspace
from ...methods.subspaces.reduced_points import ReducedPoints
from ...methods.subspaces.space import Space
from .body_model import body_model, fields_of, pinned_surface

STIFFEST = 1e8
"""Largest Young's modulus, over the softest one, that vibrations distinguish from stiffer ones. Stiffer parts are rigid
anyway, and with 1e10 the lowest frequency of a bar of two materials loses 5 % to round-off.
"""


FIRM_PINS = 40.0
"""Stiffness of the pin springs while vibrations are computed, over their stiffness without load. They stiffen up to
4000 times, and V corrects the body alone, in series with them. With soft springs in its modes and steps, V was off by
up to 40 % of the amplitude under weight; from 20 to 200 it is off by 4 to 14 % under any load (plain 42 to 76).
"""

SWING = 0.1
"""Amplitude of the finer body's slowest vibration, as a part of the size, at whose end the pins' stiffness is taken."""

GIVING = 4.5
"""Limit for soft pins, from which they hold too little: the part of that vibration's energy in their springs, which
grows with the cells, times the size over a cell's side. Errors as parts of the amplitude, for bars held by a part of
one end: the whole end, at 1.3, 2 %; three quarters, at 3.3, 6 % (plain 5 to 19); half, at 6 and 10, 28 to 62 % (plain
27 to 40).
"""


SWINGS = 2
"""Length of a trial against a finer mesh, in periods of its slowest vibration: small frequency errors show late."""

TRYING = 0.4
"""Progress that is reported once vibrations are computed, if a trial simulation follows."""


def body_matching(
    job: Job,
    model: Model,
    subspace: Subspace | None,
    pinned: PinnedSurface,
    pins: PinSchedule,
    points: EmbeddedPoints | ReducedPoints,
    store: FrameStore | None,
    on_progress: OnProgress,
) -> tuple[MatchMethod | None, Match]:
    """Return the method that makes the body vibrate as a finer one or as its controls ask, with the report; None if the
    body is not matched. Modes are those of the pins that hold in all frames: they apply from the start, and others are
    no better once pins let go. ``pins`` are of the unknowns; ``points`` are the surface vertices.
    """
    solver, factors = job.body.solver, job.body.vibration_stiffness
    finer: _Finer | None = None
    if not solver.is_matched and factors is None:
        return None, Match()
    before = store.match() if store is not None else ""
    if before.startswith(REFUSED):
        return None, Match(before)  # a resumed bake stays unmatched, even with enough memory now
    on_progress(0.0)
    softest = float(model.elastic.youngs_modulus.min())
    model, always, firm = _at_rest(model, pinned, softest, FIRM_PINS)
    space, springs = model, None
    if subspace is not None:
        given = pins.corners[pins.held[min(1, len(pins.held) - 1) :].all(axis=0)]
        elastic = subspace.model.elastic.scaled(_softer(subspace.model.elastic.youngs_modulus, softest))
        space = replace(subspace.model, elastic=elastic, pinned=given)
        holding = PinSprings(always, firm, space.points).holding(0, np.ones(len(firm)))
        springs = holding and Springs(holding.points, holding.stiffness)
    count = solver.match_modes or MOST

    def finding(part: float) -> None:
        on_progress(TRYING * part)

    try:
        if solver.match_resolution:
            finer = _Finer(*_at_rest(*finer_model(job, not before), softest, 1.0))
            check_mesh_compatibility(model, finer.model, job.body.surface.positions[always.pinned[always.held[0]]])
        if space.is_reduced and not solver.is_matched:
            spectra = find_spectra(model, space, count, springs, finer=space)
        else:
            swung = partial(_swung, pinned=finer.pinned, moduli=finer.moduli) if finer else None
            spectra = cached_spectra(model, space, count, springs, store, finding, finer and finer.model, swung)
    except MatchError as error:
        only = factors is not None and solver.match_resolution
        return None, Match(f"{REFUSED}{error}{' Without Match Resolution they can be controlled.' * only}")
    frees_pins = bool(pinned.held.any() and not always.held.any())
    methods = match_methods(solver, factors is not None, frees_pins) if solver.is_matched else (Matching,)
    is_tried = solver.is_matched and (finer or space.is_reduced)
    trial = _trial(job, model, space, always, firm, finer, store, on_progress) if is_tried else None
    matching, match = _matched(solver, methods, space, springs, spectra, factors, trial)
    match = match.with_words(_of_pins(pinned) * bool(match.vibrations))
    if store is not None and match.vibrations:
        rest, modes = space.rest_state().positions, spectra.modes[: len(match.vibrations)]
        still = points.positions(rest)
        moved = (points.positions(rest + u) - still for u in modes)
        cache_shapes(store, job, moved, [each.frequency for each in match.vibrations])
    return matching, match


def _matched(
    solver: SolverSettings,
    methods: Sequence[type[MatchMethod]],
    space: Space,
    springs: Springs | None,
    spectra: Spectra,
    factors: np.ndarray | None,
    trial: ErrorTest | None,
) -> tuple[MatchMethod | None, Match]:
    """Match vibrations by one of the methods, control them by factors (frames,k), or both. Return the best match of a
    ``trial``, or None if it does not reduce the error, with the report.
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
        matching = best_match(methods, space, spectra, others, springs, trial and trial.error_of)
        matched, off = matching.pairs, []
        if len(matched.coarse):
            off = trial.estimates(matching) if trial else [estimate(spectra, matched)]
        if trial and off and factors is None and not is_improvement(off, spectra.is_one_mesh):
            return None, Match(f"{REFUSED}{rejection_summary(off, spectra.is_one_mesh)}")
        wanted = count if matched is pairs else len(matched.shares)
        match = match_summary(spectra, matched, wanted, bool(chosen), off, bool(trial))
    if factors is not None and match.vibrations:
        match = match.with_words(unmatched_summary(match.vibrations, factors))
    return matching, match


class _Finer(NamedTuple):
    """A finer body with its pins at rest and their moduli (m,) Pa."""

    model: Model
    pinned: PinnedSurface
    moduli: np.ndarray


def _trial(
    job: Job,
    model: Model,
    space: Space,
    always: PinnedSurface,
    firm: np.ndarray,
    finer: _Finer | None,
    store: FrameStore | None,
    on_progress: OnProgress,
) -> ErrorTest | None:
    """Set up the trial of a matched space with its pins at rest: against all vertices of the same mesh, or against the
    finer body with its pins as in a bake. None if the reference is too large or diverges.
    """
    rest = job.body.surface.positions[always.pinned]

    def held(by: Space, pins: PinnedSurface, moduli: np.ndarray) -> list[Load]:
        holding = PinSprings(pins, moduli, by.points).holding(0, np.ones(len(moduli)))
        return [holding.load(rest, rest)] if holding else []

    def swinging(part: float) -> None:
        on_progress(TRYING + (1.0 - TRYING) * part)

    matched = held(space, always, firm)
    if finer is None:
        swing = cached_reference_trajectory(model, held(model, always, firm), store, swinging)
        return swing and ErrorTest([swing], space, (matched, matched), space.basis)
    swings = []
    for k, across in enumerate((False, True)):

        def so_far(part: float, before: int = k) -> None:
            swinging(0.5 * (before + part))

        swings.append(cached_reference_trajectory(finer.model, held(*finer), store, so_far, SWINGS, across))
    if None in swings:
        return None
    X, plain = job.body.surface.positions, held(space, always, firm / FIRM_PINS)
    lift = _carried(space, model, finer.model.mesh.rest_positions)
    surface = _carried(finer.model, finer.model, X), _carried(space, model, X)
    return ErrorTest(swings, space, (plain, matched), lift, surface)


def _carried(space: Space, model: Model, positions: np.ndarray) -> np.ndarray | sp.csr_matrix:
    """Return the interpolation (k,r) from the unknowns of a model's space to points (k,3) m of its rest shape."""
    by_vertices = embed(positions, model.mesh).matrix(model.mesh.tets, model.unknowns)
    return by_vertices @ space.basis if space.is_reduced else by_vertices


def _of_pins(pinned: PinnedSurface) -> str:
    """Return the sentence about pins that let go, or an empty string."""
    held = pinned.held[min(1, len(pinned.held) - 1) :]
    if np.array_equal(held.any(axis=0), held.all(axis=0)):
        return ""
    of_free = "" if held.all(axis=0).any() else ", so these vibrations are of the free body"
    return f"Pins that do not hold in every frame are left out{of_free}."


def finer_model(job: Job, is_checked: bool = True) -> tuple[Model, PinnedSurface]:
    """Return the job's body on the lattice that is made for its vibrations alone, with its pins. MatchError if it is
    too large; the free memory counts only if ``is_checked``.
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
    return body_model(job, mesh, fields_of(job, mesh, embedding), pinned, min(1, job.frame_count - 1)), pinned


def _at_rest(
    model: Model, pinned: PinnedSurface, softest: float, firmness: float
) -> tuple[Model, PinnedSurface, np.ndarray]:
    """Return a model for its vibrations: with the pins that hold in all frames, ``firmness`` times as stiff, and their
    moduli (m,) Pa. ``softest`` Pa is the least Young's modulus of the body.
    """
    softer, always = _softer(model.elastic.youngs_modulus, softest), pinned.always()
    firm = firmness * softer * model.elastic.youngs_modulus
    held, anchors = always.schedule().held_corners(0), always.holding(0, firm)
    return replace(model, elastic=model.elastic.scaled(softer), pinned=held, anchors=anchors), always, firm


def _swung(finer: Model, pinned: PinnedSurface, moduli: np.ndarray) -> Model:
    """Return a finer body with its pins as stiff as at the end of a swing. A spring that yields by g of its reach under
    a force, if it stayed as soft as at rest, yields by ``g / (1 + g)`` (:mod:`stiffening_springs`). ``moduli`` (m,) Pa.

    MatchError if the pins hold too little of the body.
    """
    if finer.anchors is None or not finer.anchors.nnz:
        return finer
    rigid = rigid_count(finer)
    found = vibrations(finer, rigid + 1)
    slowest = found.modes[rigid]
    given = np.sum(slowest * (finer.anchors @ slowest)) / found.eigenvalues[rigid]
    if given * finer.size > GIVING * np.median(cell_sides(finer.mesh)):
        raise MatchError("too few vertices are pinned: the body vibrates within the pins.", "Pin more of the surface.")
    slowest *= SWING * finer.size / np.linalg.norm(slowest, axis=1).max()
    return replace(finer, anchors=(1.0 + pinned.give(0, slowest, moduli)) * finer.anchors)


def _softer(E: np.ndarray, softest: float) -> np.ndarray:
    """Return the factors (m,) of the moduli E (m,) Pa that limit them to STIFFEST times the ``softest``."""
    return np.minimum(1.0, STIFFEST * softest / E)
