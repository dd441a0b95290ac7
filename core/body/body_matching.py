"""What makes a job's body in a subspace swing as in all its vertices (:mod:`eigenfit`)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..constraints.pins import PinnedSurface, PinSchedule, PinSprings
from ..eigenfit.about_match import Match, about_match
from ..eigenfit.matching import Matching, pair
from ..eigenfit.vibrations import Springs
from ..job.job import Job
from ..model.model import Model
from ..progress import OnProgress
from ..store.cached_spectra import cached_spectra
from ..store.frame_store import FrameStore
from ..subspaces.reduced_model import Subspace

STIFFEST = 1e8
"""Young's moduli, of the softest one's, that vibrations tell from stiffer ones: rigid they are all, and with 1e10 the
lowest frequency of a bar of two materials loses 5 % to round-off.
"""


FIRM_PINS = 40.0
"""Stiffness of the springs of pins while vibrations are found, of theirs under no load. They firm up by up to 4000, and
V corrects the body alone, in series with them: modes of soft ones, with the springs in q, left up to 40 % of the
amplitude where weight firms them; from 20 to 200 it is 4 to 14 % under any load (plain 42 to 76).
"""


def body_matching(
    job: Job,
    model: Model,
    subspace: Subspace,
    pinned: PinnedSurface,
    pins: PinSchedule,
    store: FrameStore | None,
    on_progress: OnProgress,
) -> tuple[Matching | None, Match]:
    """By the modes of the pins that hold in all frames: these serve from the start, and others would be no better than
    none once pins let go. None where no mode is matched; with what is told of it. ``pins`` are of the unknowns.
    """
    E, count = model.elastic.youngs_modulus, job.body.solver.match_modes
    softer = np.minimum(1.0, STIFFEST * E.min() / E)
    firm = FIRM_PINS * softer * E
    always, given = pinned.always(), pins.corners[pins.held[min(1, len(pins.held) - 1) :].all(axis=0)]
    model = replace(
        model,
        elastic=model.elastic.scaled(softer),
        pinned=always.schedule().held_corners(0),
        anchors=always.holding(0, firm),
    )
    elastic = subspace.model.elastic.scaled(softer[subspace.parts.tets])
    space = replace(subspace.model, elastic=elastic, pinned=given)
    holding, springs = PinSprings(always, firm, space.points).holding(0, np.ones(len(E))), None
    if holding is not None:
        springs = Springs(holding.points, holding.stiffness)
    on_progress(0.0)
    spectra = cached_spectra(model, space, count, springs, store, on_progress)
    pairs = pair(spectra, count)
    match = about_match(spectra, pairs, count)
    if not len(pairs.coarse):
        return None, match
    return Matching(space, spectra, pairs), match
