"""Muscle presets: a free bar contracts as far as the preset's description says, without oscillation in Statics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq
from sinew.core.foundation.errors import MaterialError
from sinew.core.foundation.schema.muscle_settings import MuscleSettings
from sinew.core.foundation.schema.settings import MaterialSettings, ResolutionSettings, SolverSettings
from sinew.core.jobs.job.body import Body
from sinew.core.jobs.job.job import Job
from sinew.core.jobs.job.muscle import Muscle
from sinew.core.mechanics.fibres.presets import FLESH, PRESETS, free_contraction, muscle_preset
from sinew.core.mechanics.fibres.registry import fibre_law
from sinew.core.simulation.frame_loop.single_body import simulate_body
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import box_surface

by_name = pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
RISE, HOLD = 12, 4
"""Frames in which the activation rises from 0 to 1, and in which it stays there."""
LENGTH = 0.6


def tension(settings, stretch, activation):
    return float(fibre_law(settings.law).terms(np.array([stretch]), np.array([activation]), settings).slope[0])


def test_names_are_unique_and_unknown_names_are_rejected():
    names = [preset.name for preset in PRESETS]
    assert len(set(names)) == len(names) and all(muscle_preset(p.name) is p.settings for p in PRESETS)
    with pytest.raises(MaterialError, match=r"“Wing”.*Biceps, Calf"):
        muscle_preset("Wing")


@by_name
def test_descriptions_agree_with_closed_forms(preset):
    """The contraction to 1 % of the length, and the tension at rest length to 1 kPa."""
    softest, stiffest = (free_contraction(preset.settings, modulus) for modulus in FLESH)
    assert preset.contraction == (round(stiffest, 2), round(softest, 2))
    assert f"{100.0 * preset.contraction[0]:.0f} to {100.0 * preset.contraction[1]:.0f} %" in preset.words
    assert f"with {tension(preset.settings, 1.0, 1.0) / 1e3:.0f} kPa at rest length" in preset.description
    assert preset.source


@pytest.mark.parametrize(("name", "strain"), [("Biceps", 0.025), ("Calf", 0.049)])
def test_tendons_strain_as_measured(name, strain):
    """Maganaris and Paul 1999 and 2002: strain at the muscle's full tension, to 2 %."""
    settings = muscle_preset(name)
    tendon = replace(settings, strength=settings.tendon_stiffness, passive=1.0)
    full = tension(settings, 1.0, 1.0)
    assert brentq(lambda e: tension(tendon, 1.0 + e, 0.0) - full, 0.0, 1.0) == pytest.approx(strain, rel=0.02)


def lengths_of_a_bar(settings: MuscleSettings, modulus: float) -> tuple[np.ndarray, np.ndarray]:
    """Lengths, m, of a bar 6:1 and of its middle sixth in each frame, in Statics. One end has three pins."""
    surface = box_surface((LENGTH, 0.1, 0.1), (12, 2, 2))
    X = surface.positions
    first, last = np.flatnonzero(X[:, 0] < 1e-6), np.flatnonzero(X[:, 0] > LENGTH - 1e-6)
    centre = np.abs(X[first, 1:] - 0.05).sum(axis=1)
    activation = np.minimum(np.arange(RISE + HOLD + 1) / RISE, 1.0) ** 2
    body = Body(
        surface=surface,
        materials=(MaterialSettings("Flesh", modulus, 0.49),),
        muscles=(Muscle(0, settings, activation, origin=first, insertion=last),),
        pinned_vertices=np.sort(first[np.argsort(centre)[:3]]),
        resolution=ResolutionSettings(cells_across=18),
        solver=SolverSettings(integrator="statics", gravity=(0.0, 0.0, 0.0), max_iterations=30),
    )
    job = Job(bodies=(body,), frame_end=len(activation))
    prepared = prepare(job)
    frames = list(simulate_body(job, prepared))
    assert all(report.converged for frame in frames for report in frame.reports)
    x = np.array([prepared.surface(frame.state.positions)[:, 0] for frame in frames])
    before, after = (np.abs(X[:, 0] - part * LENGTH) < 1e-6 for part in (5.0 / 12.0, 7.0 / 12.0))
    return np.ptp(x, axis=1), x[:, after].mean(axis=1) - x[:, before].mean(axis=1)


@pytest.mark.parametrize("modulus", FLESH)
@by_name
def test_a_free_bar_contracts_as_described(preset, modulus):
    """The middle as the closed form without tendons, to 1 %, or to 3 % between the calf's tendons, which hinder its
    bulge; the whole bar, one end of which is held, to 5 %. It shortens with every frame in which the activation rises,
    and is still afterwards.
    """
    whole, middle = lengths_of_a_bar(preset.settings, modulus)
    belly = free_contraction(replace(preset.settings, tendon=0.0), modulus)
    assert 1.0 - middle[-1] / middle[0] == pytest.approx(belly, abs=0.03 if preset.settings.tendon > 0.2 else 0.01)
    assert 1.0 - whole[-1] / whole[0] == pytest.approx(free_contraction(preset.settings, modulus), abs=0.05)
    assert (np.diff(whole[: RISE + 1]) < 0.0).all()
    assert np.ptp(whole[RISE + 1 :]) < 1e-3 * LENGTH
