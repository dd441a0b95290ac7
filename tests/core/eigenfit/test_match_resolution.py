"""A coarse lattice matched to a finer one, against beam theory: a clamped bar, whatever steps it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
from sinew.benchmarks.physics.lattice import BODIES, held_job, stiffness_and_mass
from sinew.core.foundation.events import Event, Mesh
from sinew.core.foundation.schema.settings import ResolutionSettings
from sinew.core.jobs.job.environment import Ground
from sinew.core.jobs.job.job import Job
from sinew.core.jobs.store import cached_spectra
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.mechanics.forces.step_potential import Motion
from sinew.core.methods.eigenfit.match_report import REFUSED
from sinew.core.methods.eigenfit.vibrations import vibrations
from sinew.core.simulation.frame_loop.stepper import Stepper
from sinew.core.simulation.preparation.body_matching import FIRM_PINS
from sinew.core.simulation.preparation.prepare import Prepared, prepare

GRAVITY, MODULUS, RATIO, DENSITY, LENGTH, SIDE = 0.5, 1e6, 0.45, 1e3, 1.0, 0.125
SHEAR_PART = 5.0 / 6.0
"""Shear coefficient of a square section (Timoshenko 1921)."""
BENDING, SHEARING = MODULUS * SIDE**4 / 12.0, SHEAR_PART * MODULUS / (2.0 + 2.0 * RATIO) * SIDE**2
SAG = DENSITY * SIDE**2 * GRAVITY * (LENGTH**4 / (8.0 * BENDING) + LENGTH**2 / (2.0 * SHEARING))
FREQUENCY = 1.8751**2 / (2.0 * np.pi * LENGTH**2) * np.sqrt(BENDING / (DENSITY * SIDE**2))
"""Frequency of Euler and Bernoulli's beam; shear lowers it by a per cent."""


def job(solver: str, **settings: object) -> Job:
    """A bar 8:1 of 8 cells of plain tetrahedra that sags for a thousand seconds in one step."""
    chosen = {"gravity": (0.0, 0.0, -GRAVITY), "match_cells": 32, "max_iterations": 200, "modes": 8, **settings}
    made = held_job(BODIES["bar 8:1, nu 0.45"], 8, 0.0, rate=1e-3, solver=solver, **chosen)
    return made.with_body(resolution=replace(made.body.resolution, elements="plain"))


def sag(job: Job, prepared: Prepared) -> float:
    """Return the sag of the end's middle, m."""
    rest = prepared.surface(prepared.first_state().positions)
    state, _reports = Stepper(job, prepared).advance(prepared.first_state(), 1)
    end = rest[:, 0] > rest[:, 0].max() - 1e-9
    return float((rest - prepared.surface(state.positions))[end, 2].mean())


@pytest.mark.parametrize("solver", ["mixed_fem", "newton", "linearly_implicit", "subspace_mixed_fem"])
def test_a_matched_bar_of_eight_cells_bends_as_a_beam(solver, shared_store):
    matched, said = job(solver, match_resolution=True), []
    prepared = prepare(matched, shared_store, said.append)
    assert prepared.matching
    event = next(each for each in said if isinstance(each, Mesh))
    assert "match the finer lattice" in event.match and "Test error " in event.match
    first = event.vibrations[0]
    assert first[0] > 1.2 * FREQUENCY
    assert first[1] == pytest.approx(FREQUENCY, rel=0.04)
    if solver != "linearly_implicit":  # which takes one solve a step, and its bar turns as it sags
        assert sag(matched, prepared) == pytest.approx(SAG, rel=0.1)  # the finer lattice itself: 4 %
        plain = job(solver, match_full_space=False)
        assert sag(plain, prepare(plain)) < 0.8 * SAG


def test_vibrations_of_the_finer_lattice_are_kept_and_found_again_for_another(tmp_path, monkeypatch):
    once = job("mixed_fem", match_resolution=True, match_cells=16)
    store, found = FrameStore.create(tmp_path / "store", once), []
    find = cached_spectra.find_spectra
    monkeypatch.setattr(cached_spectra, "find_spectra", lambda *each: found.append(each) or find(*each))
    first, again = (prepare(once, store).matching for _ in range(2))
    assert len(found) == 1
    np.testing.assert_array_equal(first.spectra.fine, again.spectra.fine)
    assert not again.spectra.is_one_mesh
    other = once.with_body(solver=replace(once.body.solver, match_cells=20))
    assert prepare(other, store).matching.spectra.fine[0] < first.spectra.fine[0]
    assert len(found) == 2
    assert not store.match().startswith(REFUSED)


def test_the_spectrum_is_the_finer_ones_where_springs_hold_the_body():
    """They have a part in the modes, which the potential has none of."""
    matched = job("newton", match_resolution=True, match_method="stretch_potential", match_cells=16)
    prepared = prepare(matched)
    matching, model = prepared.matching, prepared.model
    K, M = stiffness_and_mass(replace(model, anchors=FIRM_PINS * model.anchors))
    rest = model.mesh.rest_positions
    load = matching.load(np.ones(len(model.mesh.tets)))
    Y, C = load.begin(Motion(rest, rest, 1.0)).low_rank(model.elastic.deformation(rest))
    Y = Y.reshape(-1, len(C))
    plain, found = (scipy.linalg.eigvalsh(each, M.toarray()) for each in (K.toarray(), K + Y @ C @ Y.T))
    right = np.sort(matching.spectra.fine[matching.pairs.fine])
    assert len(right) >= 2 and (plain[: len(right)] > 1.05 * right).all()
    # The first-order corrections of ``SpringSupportedModes.core`` end after ROUNDS with 4e-5 for this bar.
    np.testing.assert_allclose(found[: len(right)], right, rtol=1e-4)


def test_pins_of_the_finer_lattice_are_as_firm_as_while_it_swings():
    """Its slowest vibration lies between that of pins as soft as at rest and that of pins that hardly give way."""
    matched = job("newton", match_resolution=True, match_cells=16)
    found = prepare(matched).matching.spectra.fine[0]
    finer = prepare(
        job("newton", match_full_space=False).with_body(
            resolution=ResolutionSettings(cells_across=16, elements="plain")
        )
    ).model
    soft, firm = (vibrations(replace(finer, anchors=by * finer.anchors), 1).eigenvalues[0] for by in (1.0, 4.0))
    assert 1.005 * soft < found < firm


@pytest.mark.parametrize(
    ("touches", "method", "is_matched"),
    [(True, "automatic", False), (True, "fitted_materials", True), (False, "automatic", True)],
)
def test_the_automatic_choice_leaves_a_falling_body_unmatched_if_it_collides(touches, method, is_matched):
    """Its impacts are not part of the trial, which cannot predict them."""
    falling = job("mixed_fem", match_resolution=True, match_method=method, match_cells=16)
    frames = falling.frame_count
    none = {
        "pinned_vertices": np.zeros(0, dtype=np.int64),
        "pin_positions": np.zeros((frames, 0, 3)),
        "pin_held": np.zeros((frames, 0), dtype=bool),
    }
    said: list[Event] = []
    prepared = prepare(
        falling.with_body(**none, colliders=(Ground(height=-1.0),) if touches else ()), None, said.append
    )
    match = next(each for each in said if isinstance(each, Mesh)).match
    assert (prepared.matching is not None) == is_matched
    assert match.startswith(f"{REFUSED}the body has no pins and collides") != is_matched
    assert is_matched or "Fitted Materials" in match
