"""Forecast of a resolution's cost, before anything is computed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sinew.core.foundation.schema.settings import ContactSettings, ResolutionSettings, SolverSettings
from sinew.core.geometry.tetrahedra.tet_count import measure_surface
from sinew.core.jobs.checks import costs
from sinew.core.jobs.checks.costs import CONTACT, GROWTH, Pace, cost_of, own_pace, size_words
from sinew.core.jobs.job.groups import split_jobs

from ..jobs import box_surface, shaken_bar

BODY = measure_surface(box_surface((1.0, 1.0, 1.0), (4, 4, 4)))


def told(cells=20, pace=None, **solver):
    return cost_of(BODY, ResolutionSettings(cells_across=cells), SolverSettings(**solver), 1000, pace)


def test_a_bake_of_the_same_body_tells_its_own_seconds():
    tets = told().tets
    same = told(pace=Pace(0.2, round(tets), 0))
    assert same.seconds == pytest.approx(0.2, rel=1e-3)
    assert told(pace=Pace(0.2, round(tets), 0), substeps=3).seconds == pytest.approx(0.6, rel=1e-3)
    assert told(40, Pace(0.2, round(tets), 0)).seconds > 4 * same.seconds


def test_a_subspace_costs_by_its_modes_not_its_tets():
    coarse, fine = (told(cells, Pace(0.05, 1000, 8), solver="subspace_mixed_fem", modes=8) for cells in (10, 40))
    assert coarse.seconds == fine.seconds == pytest.approx(0.05)
    assert told(10, Pace(0.05, 1000, 8), solver="subspace_mixed_fem", modes=32).seconds > 0.1


def test_finer_takes_more_memory_and_less_where_gradients_are_conjugate(monkeypatch):
    monkeypatch.setattr(costs, "available_memory", lambda: 10**12)
    assert told(40).memory > 2.0 * told(20).memory > 2.0 * costs.BYTES_A_SURFACE_VERTEX * 1000
    assert told(40, linear_solver="pcg").memory < told(40, linear_solver="cholmod").memory
    monkeypatch.setattr(costs, "available_memory", lambda: 10**8)
    assert told(40).memory == told(40, linear_solver="pcg").memory


def test_sizes_are_said_with_three_digits():
    assert [size_words(s) for s in (0, 999, 28_800_000, 1.5e9)] == ["0 bytes", "999 bytes", "28.8 MB", "1.5 GB"]


def test_each_of_a_group_has_its_part_of_the_seconds_and_contact_is_told_apart():
    """So the forecasts of all, at the sizes that were baked, add up to what the bake took."""
    bar = shaken_bar(frames=2)
    bodies = tuple(replace(bar.body, name=name) for name in "ab")
    tets, seconds = {"a": 1000, "b": 8000}, 9.0
    paces = [
        own_pace(job, seconds, tets[job.body.name], [tets[each.name] for each in job.body.group_members])
        for job in split_jobs(replace(bar, bodies=bodies))
    ]
    parts = [pace.seconds * CONTACT for pace in paces]
    assert sum(parts) == pytest.approx(seconds) and parts[1] == pytest.approx(8.0**GROWTH * parts[0])
    assert own_pace(bar, seconds, 1000, []) == Pace(seconds, 1000, bar.body.solver.modes)
    alone = bar.with_body(contact=ContactSettings(self_contact=True))
    assert own_pace(alone, seconds, 1000, []).seconds == seconds / CONTACT
    whole = cost_of(BODY, ResolutionSettings(), SolverSettings(), 1000, paces[0], has_contact=True)
    assert whole.seconds == pytest.approx(CONTACT * told(pace=paces[0]).seconds) and whole.disk > told().disk
    reduced = split_jobs(
        replace(bar, bodies=tuple(replace(b, solver=SolverSettings("subspace_mixed_fem")) for b in bodies))
    )
    assert own_pace(reduced[0], seconds, 1000, [8000]).seconds == pytest.approx(seconds / 2 / CONTACT)
