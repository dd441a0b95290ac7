"""Report of a match: all, some with the reason, none; and an unmatched body is stepped as without a match."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sinew.core.foundation.unit_words import frequency_words
from sinew.core.jobs.results.bake_report import read_report
from sinew.core.jobs.store import cached_spectra
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.methods.eigenfit import trial_simulation
from sinew.core.methods.eigenfit.error_estimate import estimate
from sinew.core.methods.eigenfit.match_report import match_summary
from sinew.core.methods.eigenfit.matching import Pairs, pair
from sinew.core.methods.eigenfit.vibrations import vibrations
from sinew.core.numerics.linear_solvers.registry import ITERATIVE
from sinew.core.simulation.frame_loop.bake import bake
from sinew.core.simulation.frame_loop.single_body import simulate_body
from sinew.core.simulation.preparation import body_matching as module
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import shaken_bar
from .bodies import spectra_of


def told(coarse, fine, overlap, count):
    """Return the report of modes at these frequencies, Hz."""
    spectra = spectra_of(coarse, fine, overlap)
    pairs = pair(spectra, count)
    return match_summary(spectra, pairs, count, off=[estimate(spectra, pairs)] if len(pairs.coarse) else ())


def test_all_match_where_modes_cross():
    """The second and third are paired by what they are, not by their number."""
    match = told([2.0, 3.0, 5.0, 8.0], [1.0, 2.5, 4.0], np.eye(4, 3)[[0, 2, 1, 3]], 3)
    assert match.words == (
        "3 vibrations match the full mesh; the first has 1.00 Hz, 2.00 Hz unmatched. "
        "Expected error 7 % (100 % unmatched)."
    )
    np.testing.assert_allclose(match.vibrations, [[2.0, 1.0, 1.0], [3.0, 4.0, 1.0], [5.0, 2.5, 1.0]])


def test_those_without_a_like_are_named():
    """By how much of them lies in the full mesh's: 0.81 is too little, 0.96 is enough."""
    overlap = np.diag([0.9, 0.98, 0.5, 1.0])
    match = told([2.0, 3.0, 5.0, 8.0], [1.0, 2.0, 3.0, 7.0], overlap, 3)
    assert match.words == (
        "1 of 3 vibrations match the full mesh; vibration 2 has 2.00 Hz, 3.00 Hz unmatched. "
        "Expected error 100 % (100 % unmatched). "
        "Vibrations 1 and 3 are not matched, since none of the first 4 vibrations of the full mesh has "
        "such a shape: raise Modes or Matched Vibrations."
    )
    assert [each.right for each in match.vibrations] == pytest.approx([0.0, 2.0, 0.0])
    assert [each.share for each in match.vibrations] == pytest.approx([0.81, 0.9604, 0.25])


def test_a_pair_that_is_cut_is_named():
    match = told([2.0, 3.0, 3.001], [1.0, 2.0, 2.001], np.eye(3), 2)
    assert match.words.endswith(
        "Vibration 2 is not matched, since the next vibration has the same frequency: "
        "set Matched Vibrations higher, or to 1."
    )
    assert match.words.startswith("1 of 2") and len(match.vibrations) == 1
    assert told([2.0, 3.0, 3.001], [1.0, 2.0, 2.001], np.eye(3), 3).words.startswith("3 vibrations match")


def test_coarse_vibrations_that_are_slower_are_matched_and_named():
    """They should be faster: what is told is why, and what to do. Those of a subspace may be, by cubature."""
    spectra = spectra_of([0.9, 3.0, 1.9], [1.0, 2.0, 2.1], np.eye(3)[[0, 2, 1]])
    pairs = pair(spectra, 3)
    words = match_summary(spectra._replace(is_one_mesh=False), pairs, 3).words
    assert words.startswith("3 vibrations match the finer lattice; the first has 1.00 Hz, 0.900 Hz unmatched.")
    assert words.endswith(
        "Vibration 1 is slower than in the finer lattice, since pins or thin parts hold less here: raise Cells Across."
    )
    assert "slower" not in match_summary(spectra, pairs, 3).words


def test_none_matches():
    match = told([2.0, 2.001], [1.0, 1.001], np.eye(2), 1)
    assert match.words.startswith(
        "No vibration matches the full mesh, so the body moves without a match. Vibration 1 is"
    )
    assert match.vibrations == ()


@pytest.mark.parametrize(
    "frequency, words",
    [
        (0.0, "0"),
        (0.0123, "0.0123"),
        (0.64, "0.640"),
        (3.1, "3.10"),
        (45.678, "45.7"),
        (100.0, "100"),
        (12345.6, "12,346"),
    ],
)
def test_frequencies_have_three_digits(frequency, words):
    assert frequency_words(frequency) == words


def prepared_bar(**settings):
    said = []
    prepared = prepare(shaken_bar(frames=3, solver="subspace_mixed_fem", **settings), on_event=said.append)
    return prepared, next(event for event in said if event.kind == "mesh")


def test_a_body_tells_of_its_match():
    """The reported frequencies are those of all vertices, with pins as firm as the weight makes them."""
    prepared, event = prepared_bar(modes=4, match_modes=5)
    firm = replace(prepared.model, anchors=module.FIRM_PINS * prepared.model.anchors)
    frequencies = vibrations(firm, 12).frequencies
    rows = np.array(event.vibrations)
    assert event.match.startswith("5 vibrations match the full mesh") and rows.shape == (5, 3)
    assert np.abs(frequencies[:, None] / rows[:, 1] - 1.0).min(axis=0).max() < 1e-6
    assert (rows[:, 2] > 0.99).all() and not event.warnings


def test_few_modes_have_few_matches():
    """One mode makes twelve vibrations, of which the fast ones are none of the body's."""
    event = prepared_bar(modes=1, match_modes=12)[1]
    rows = np.array(event.vibrations)
    assert " of 12 vibrations match" in event.match and "raise Modes" in event.match
    np.testing.assert_array_equal(rows[:, 1] > 0.0, rows[:, 2] >= 0.9)


def test_a_report_tells_of_it(tmp_path):
    """The report of a bake has it, also if the subspace's number of modes changed since."""
    for modes in (4, 1):
        job = shaken_bar(frames=2, solver="subspace_mixed_fem", modes=modes, match_modes=12)
        store, said = FrameStore.create(tmp_path / "bake", job), []
        bake(job, store, on_event=said.append)
        (words,) = (each.match for each in said if each.kind == "mesh")
        assert words and f"Match: {words}" in read_report(store).summary()
    store = FrameStore.create(tmp_path / "bake", shaken_bar(frames=2))
    bake(store.job(), store)
    assert "Match" not in " ".join(read_report(store).summary())


def test_nothing_is_told_without():
    for settings in ({"match_full_space": False}, {"solver": "mixed_fem"}):
        said = []
        prepare(shaken_bar(frames=3, **{"solver": "subspace_mixed_fem", "modes": 4} | settings), on_event=said.append)
        (event,) = (each for each in said if each.kind == "mesh")
        assert event.match == "" and event.vibrations == []


def test_a_body_without_a_match_is_stepped_as_without(monkeypatch):
    job = shaken_bar(frames=3, solver="subspace_mixed_fem", modes=4)
    plain = shaken_bar(frames=3, solver="subspace_mixed_fem", modes=4, match_full_space=False)
    none = np.zeros(0, dtype=int)
    monkeypatch.setattr(trial_simulation, "pair", lambda spectra, count: Pairs(none, none, np.zeros(count)))
    frames, expected = (
        [frame.state.positions for frame in simulate_body(each, prepare(each))] for each in (job, plain)
    )
    np.testing.assert_array_equal(frames, expected)


def test_a_body_too_large_for_its_vibrations_is_left_as_it_is_and_resumed_so(tmp_path, monkeypatch):
    """Also when there is memory again: a bake goes on with the same bits."""
    job = shaken_bar(frames=3, solver="subspace_mixed_fem", modes=4)
    store, said = FrameStore.create(tmp_path / "store", job), []
    with monkeypatch.context() as patch:
        patch.setattr(cached_spectra, "choose", lambda _name, _body: SimpleNamespace(name=ITERATIVE, reason="8 GB"))
        assert prepare(job, store, said.append).matching is None
    assert prepare(job, store, said.append).matching is None
    words = [each.match for each in said if each.kind == "mesh"]
    assert words == 2 * ["Vibrations are not matched: 8 GB. Set fewer Cells Across."]


@pytest.mark.parametrize("points", [12, 16, 20])
def test_few_cubature_points_throw_no_body_about(points):
    """They hardly feel some modes: coordinates made of these threw a bar of 0.4 m up to 150 m away."""
    shown = []
    for match in (False, True):
        settings = {"modes": 6, "cubature_points": points, "match_full_space": match}
        job = shaken_bar(frames=10, solver="subspace_mixed_fem", **settings)
        job = job.with_body(solver=replace(job.body.solver, max_iterations=50))
        ready = prepare(job)
        shown.append(max(np.abs(ready.surface(frame.state.positions)).max() for frame in simulate_body(job, ready)))
    assert shown[1] == pytest.approx(shown[0], rel=0.05)
