"""Estimated errors against closed forms and simulated motion, and the number of modes worth matching."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.methods.eigenfit.error_estimate import LEFT, WORTH, estimate, sufficient_mode_count
from sinew.core.methods.eigenfit.matching import pair
from sinew.core.methods.solvers import make_solver

from .bodies import COUNT, matched, reduced, spectra_of

STEPS = 80
"""Number of steps of two periods of the slowest vibration."""


def test_one_vibration_is_off_by_its_phase_and_its_reach():
    """Both in closed form; matched it is right, but for what large swings leave."""
    spectra = spectra_of([2.4, 50.0], [2.0, 50.0], np.eye(2), pulled=[1.0, 0.0])
    t = np.linspace(0.0, 1.0, 100_001)
    fine, coarse = ((1.0 - np.cos(2.0 * np.pi * f * t)) / f**2 for f in (2.0, 2.4))
    plain, right = estimate(spectra, pair(spectra, 1))
    assert plain == pytest.approx(np.abs(fine - coarse).max() / fine.max(), rel=2e-3)
    assert right == pytest.approx(LEFT * plain)


def test_what_lies_outside_the_span_is_off_whatever_is_matched():
    """A fine vibration that no coarse one has a part of: the root of its part of the movement."""
    spectra = spectra_of([2.0, 50.0], [2.0, 3.0, 50.0], np.eye(3)[[0, 2]], pulled=[1.0, 1.0, 0.0])
    t = np.linspace(0.0, 1.0, 100_001)
    one, other = ((1.0 - np.cos(2.0 * np.pi * f * t)) / f**2 for f in (2.0, 3.0))
    expected = np.abs(other).max() / np.sqrt(one**2 + other**2).max()
    assert estimate(spectra, pair(spectra, 1)) == pytest.approx((expected, np.hypot(1.0, LEFT) * expected), rel=2e-3)


def swing(space, direction, weight, rhythm, loads=()):
    """Displacements of all vertices in two swings of a period of ``rhythm`` s, by the implicit midpoint rule."""
    settings = SolverSettings(
        solver="subspace_mixed_fem" if space.is_reduced else "mixed_fem",
        integrator="theta_midpoint",
        theta=0.5,
        gravity=tuple(weight * np.eye(3)[direction]),
        max_iterations=100,
        tolerance=1e-9,
    )
    stepper, state = make_solver(space, settings), space.rest_state()
    rest = state.positions
    seen = [np.zeros_like(rest)]
    for _ in range(STEPS):
        state, _report = stepper.step(state, rest[space.pinned], 2.0 * rhythm / STEPS, loads)
        seen.append(state.positions - rest)
    return np.array([space.basis @ u if space.is_reduced else u for u in seen])


@pytest.mark.parametrize(("weight", "share", "within"), [(1e-3, 0.0, 1.1), (3.0, 0.15, 2.0)])
def test_a_bar_moves_as_far_off_as_expected(weight, share, within):
    """Under weight along three axes: where it is linear nearly as far, and within a factor of two where it swings by
    more than ``share`` of its size.
    """
    (model, space), matching = reduced(hold="clamped", modes=4), matched(hold="clamped", modes=4)
    spectra = matching.spectra._replace(
        coarse_loads=matching.spectra.coarse_loads[:, :3], fine_loads=matching.spectra.fine_loads[:, :3]
    )
    plain, right = estimate(spectra, matching.pairs)
    expected = plain, right if share else np.sqrt(right**2 - (LEFT * plain) ** 2)
    rhythm = 2.0 * np.pi / np.sqrt(spectra.fine[0])
    loads = (matching.load(np.ones(len(space.elastic.weights))),)
    fine = np.stack([swing(model, k, weight, rhythm) for k in range(3)])
    assert np.linalg.norm(fine, axis=3).max() >= share * model.size

    def long(moved):
        return np.einsum("dtni,dtni->t", moved, np.stack([[model.mass @ u for u in each] for each in moved]))

    for acting, told in zip(((), loads), expected, strict=True):
        moved = np.stack([swing(space, k, weight, rhythm, acting) for k in range(3)])
        measured = np.sqrt(long(moved - fine).max() / long(fine).max())
        assert 1.0 / within <= measured / told <= within


def test_as_many_are_chosen_as_are_worth_it():
    """The third is pulled by nothing; of two the error is WORTH nearer than of one, or not."""
    off = [2.4, 7.5, 11.0, 50.0]
    for pulled, chosen in ((1.0, 2), (0.001, 1)):
        assert (
            sufficient_mode_count(spectra_of(off, [2.0, 7.0, 9.0, 50.0], np.eye(4), [1.0, pulled, 0.0, 0.0])) == chosen
        )


def test_no_chosen_number_cuts_a_cluster():
    """The second is as fast as the third, which alone is nothing worth."""
    spectra = spectra_of([2.4, 7.5, 7.51, 11.0], [2.0, 7.0, 7.01, 11.0], np.eye(4), [1.0, 1.0, 0.0, 0.0])
    assert sufficient_mode_count(spectra) == 3
    whole = spectra_of([2.4, 2.401, 2.402], [2.0, 2.001, 2.002], np.eye(3))
    assert sufficient_mode_count(whole) == 0  # whether the next is of the cluster, too, is not known


def test_a_painted_body_is_matched_up_to_what_the_fine_one_has():
    """The second and all after the third lie in fine vibrations that were not found."""
    held = np.diag([1.0, 0.3, 1.0, 0.2, 0.1, 0.1])
    spectra = spectra_of([2.4, 7.5, 9.0, 12.0, 14.0, 16.0], [2.0, 7.0, 8.0, 11.0, 12.0, 13.0], held)
    assert sufficient_mode_count(spectra) == 3
    assert pair(spectra, 3).coarse.tolist() == [0, 2]
    nothing = spectra_of([2.4, 7.5, 9.0], [2.0, 7.0, 8.0], 0.5 * np.eye(3))
    assert sufficient_mode_count(nothing) == 0


def test_a_bar_is_brought_as_near_by_what_is_chosen_as_by_all():
    spectra = matched(hold="clamped").spectra
    count = sufficient_mode_count(spectra)
    assert 0 < count <= COUNT
    nearest = min(estimate(spectra, pair(spectra, m)).matched for m in range(1, COUNT + 1))
    assert estimate(spectra, pair(spectra, count)).matched <= nearest + WORTH
