"""Modes that are one another, and a subspace that has the fine frequencies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.core.mechanics.energies import ENERGIES
from sinew.core.methods.eigenfit.matching import Matching, find_spectra, pair, target_mode_rotation

from .bodies import COUNT, bar, corrected, dense_stiffness, free_pairs, matched, reduced, spectra_of


@pytest.mark.parametrize("hold", ("free", "clamped"))
@pytest.mark.parametrize("energy", ENERGIES)
def test_the_corrected_spectrum_is_the_fine_one(energy, hold):
    """Matched modes have the fine eigenvalues; all others keep theirs."""
    model, space = reduced(energy, hold)
    matching = matched(energy, hold)
    coarse, fine = matching.pairs.coarse, matching.spectra.fine[matching.pairs.fine]
    assert len(coarse) >= COUNT - 1
    rigid = 6 if hold == "free" else 0
    plain = free_pairs(dense_stiffness(space), space)[0][rigid:]
    assert np.abs(plain[coarse] / fine - 1.0).max() > 0.02  # there was something to correct
    expected = np.sort(np.concatenate([fine, np.delete(plain, coarse)]))
    found = free_pairs(corrected(space, matching), space)[0][rigid:]
    np.testing.assert_allclose(found[: 2 * COUNT], expected[: 2 * COUNT], rtol=1e-9)


@pytest.mark.parametrize("factor", (0.01, 10.0, 1e4))
def test_stiffer_throughout_it_swings_as_a_body_that_was_so(factor):
    """Keyed stiffness, and one that is found anew."""
    model, space = reduced(hold="clamped")
    keyed = free_pairs(corrected(space, matched(hold="clamped"), factor), space)[0]
    stiff = bar(hold="clamped", modulus=factor * 1e5)
    elastic = space.elastic.scaled(np.full(len(space.elastic.weights), factor))
    anew = replace(space, elastic=elastic)
    spectra = find_spectra(stiff, anew, COUNT)
    found = Matching(anew, spectra, pair(spectra, COUNT))
    expected = free_pairs(corrected(anew, found), anew)[0]
    np.testing.assert_allclose(keyed[: 2 * COUNT], expected[: 2 * COUNT], rtol=1e-8)


def test_modes_that_cross_are_paired_by_what_they_are():
    """With signs of their own, and what is left over to others."""
    order = np.array([2, 0, 3, 1])
    overlap = 0.05 * np.random.default_rng(0).standard_normal((4, 6))
    overlap[np.arange(4), order] = [0.99, -0.98, -0.97, 0.99]
    pairs = pair(spectra_of([1.0, 1.4, 1.7, 2.0], np.sqrt(np.arange(1, 7)), overlap), 4)
    assert np.array_equal(pairs.coarse, np.arange(4)) and np.array_equal(pairs.fine, order)


def test_what_the_fine_modes_do_not_hold_is_left_alone():
    overlap = np.eye(3, 5)
    overlap[1] = [0.0, 0.9, 0.0, 0.2, 0.1]  # 0.86 of it
    pairs = pair(spectra_of([1.0, 2.0, 3.0], np.arange(1, 6), overlap), 3)
    assert pairs.coarse.tolist() == [0, 2] and pairs.fine.tolist() == [0, 2]
    assert pairs.shares == pytest.approx([1.0, 0.86, 1.0])


@pytest.mark.parametrize(("count", "kept"), [(1, 1), (2, 1), (3, 1), (4, 4), (5, 5), (9, 5)])
def test_clusters_are_not_cut(count, kept):
    pairs = pair(spectra_of([1.0, 1.4, 1.401, 1.402, 1.8], np.sqrt(np.arange(1, 6)), np.eye(5)), count)
    assert len(pairs.coarse) == kept


@pytest.mark.parametrize("angle", [0.2, 0.5, np.pi / 4])
def test_modes_of_two_meshes_that_differ_by_a_rotation_are_rotated_and_small_overlaps_ignored(angle):
    """Two modes with distant eigenvalues that differ by 12 to 45 degrees; two others that differ by 6 degrees."""
    c, s, overlap = np.cos(angle), np.sin(angle), np.eye(4)
    overlap[:2, :2] = [[c, s], [-s, c]]
    overlap[2, 3], overlap[3, 2] = 0.1, -0.1
    spectra = spectra_of([2.0, 2.6, 5.0, 6.0], [1.6, 2.2, 4.5, 5.5], overlap)._replace(is_one_mesh=False)
    Q = target_mode_rotation(spectra, pair(spectra, 4))
    assert np.abs(Q[:2, :2] @ overlap[:2, :2].T).max(axis=0) == pytest.approx([1.0, 1.0])
    np.testing.assert_allclose(Q[2:], np.eye(4)[2:], atol=1e-12)
