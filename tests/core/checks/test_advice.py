"""Advice by facts, and the facts of bodies whose thickness and movement are known."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest
from sinew.core.foundation.events import ignore
from sinew.core.foundation.schema.settings import ResolutionSettings, SolverSettings
from sinew.core.jobs.checks.advice import MOST_SUBSTEPS, BodyFacts, Use, advice, tets_at
from sinew.core.jobs.checks.body_facts import facts_of, movement_of, thin_thickness
from sinew.core.jobs.checks.thin_warnings import thickness_of
from sinew.core.simulation.preparation.mesh_report import mesh_report
from sinew.core.simulation.preparation.prepare import materials, tetrahedra

from ..jobs import free_box, shaken_bar

PLAIN = BodyFacts(tets=5000, cells_across=20, size=1.0, contrast=1.0, thickness=0.0, movement=0.0)


def said(facts, solver="mixed_fem", cells=20, use=Use(), **settings):  # noqa: B008 - it is a tuple
    """By setting: the value."""
    found = advice(facts, SolverSettings(solver=solver, **settings), ResolutionSettings(cells_across=cells), use)
    assert all(each.reason.endswith(".") for each in found)
    return {each.setting: each.value for each in found}


def test_an_ordinary_body_is_left_alone():
    assert said(PLAIN) == said(PLAIN, "newton") == said(PLAIN, "subspace_fem") == {}


@pytest.mark.parametrize(
    "solver, wanted",
    [
        ("newton", "mixed_fem"),
        ("linearly_implicit", "mixed_fem"),
        ("subspace_fem", "subspace_mixed_fem"),
        ("mixed_fem", None),
        ("subspace_mixed_fem", None),
    ],
)
def test_bone_in_flesh_wants_mixed_fem(solver, wanted):
    found = said(replace(PLAIN, contrast=2e4), solver)
    assert found == ({"solver": wanted} if wanted else {})


def test_many_tets_are_tried_out_in_a_subspace():
    many = replace(PLAIN, tets=100_000)
    assert said(many) == {"solver": "subspace_mixed_fem"} and said(many, "subspace_mixed_fem") == {}
    assert said(many, cells=10) == {}, "an eighth of them"
    assert said(replace(PLAIN, tets=20_000), substeps=8) == {"solver": "subspace_mixed_fem"}


def test_tets_grow_by_the_cube_and_those_of_sheets_by_the_square():
    assert tets_at(PLAIN, 40) == 8 * PLAIN.tets
    assert tets_at(replace(PLAIN, thickness=0.01), 40) == 4 * PLAIN.tets
    sheet = replace(PLAIN, thickness=1.0 / 39.5)  # one cell through at 40
    assert tets_at(sheet, 80) == pytest.approx(4 * 8 * PLAIN.tets)


def test_thin_parts_want_two_cells_through():
    thin = replace(PLAIN, thickness=0.06)
    alone = {"match_cells": 24}  # which is hardly finer
    assert said(thin, **alone) == {"cells_across": 34}  # 2 cells of 1 / 33.5 m are 6 cm
    assert said(thin, cells=34) == {}
    assert said(replace(thin, thickness=0.004), "subspace_mixed_fem")["cells_across"] == 126, "200,000 tets"


def test_what_has_a_cell_through_is_matched_to_a_finer_lattice():
    thin = replace(PLAIN, thickness=0.06)
    assert said(thin) == said(thin, "subspace_mixed_fem") == {"match_resolution": True}
    assert said(thin, match_resolution=True) == {}
    assert said(replace(thin, thickness=0.04)) == {"cells_across": 51}, "0.8 cells through"
    assert said(replace(thin, tets=100_000), "subspace_mixed_fem") == {"cells_across": 25}, "a million tets"


def test_fast_pins_want_more_substeps():
    fast = replace(PLAIN, movement=0.09)
    assert said(fast) == {"substeps": 5} and said(fast, substeps=5) == {}
    assert said(replace(PLAIN, movement=3.0))["substeps"] == MOST_SUBSTEPS
    assert said(replace(PLAIN, movement=0.019)) == said(replace(PLAIN, movement=None)) == {}


def test_what_has_less_than_two_cells_through_is_thin():
    job = shaken_bar()  # 0.4 m long, 0.1 m thick, 8 cells across: 1.9 through
    assert thin_thickness(thickness_of(job)) == pytest.approx(0.1)
    for other in (ResolutionSettings(cells_across=9), ResolutionSettings("robust", 8)):
        thicker = job.with_body(resolution=other)
        assert thin_thickness(thickness_of(thicker)) == 0.0


def test_what_travels_evenly_does_not_count():
    job = shaken_bar(frames=4)
    path = np.array([0.0, 0.1, 0.2, 0.3])[:, None, None] * np.ones((1, len(job.body.pinned_vertices), 3))
    rest = job.body.surface.positions[job.body.pinned_vertices]
    assert movement_of(job.with_body(pin_positions=rest + path)) == pytest.approx(0.0, abs=1e-12)
    path[3] = path[2]
    # Of three movements along the diagonal two are 0.1 * sqrt(3), one none: the last is two thirds off their mean.
    assert movement_of(job.with_body(pin_positions=rest + path)) == pytest.approx(0.1 * 3**0.5 * 2 / 3)
    assert movement_of(shaken_bar(frames=1)) is None


def test_facts_come_with_the_tetrahedra():
    job = shaken_bar()
    mesh, embedding = tetrahedra(job, None, ignore)
    fields = materials(job, mesh, embedding, None, ignore)[0]
    event = asdict(mesh_report(job, mesh, embedding, fields))
    facts = facts_of(job, mesh, fields, thickness_of(job))
    assert {name: event[name] for name in asdict(facts)} == asdict(facts) and facts.tets == len(mesh.tets)
    assert facts.contrast == pytest.approx(1e9 / 5e4) and facts.movement > 0.02
    assert facts.thickness == pytest.approx(0.1)


SPRINGY = replace(PLAIN, slowest=9.3)
SMALL = {"substeps": 8}


@pytest.mark.parametrize("solver", ["mixed_fem", "newton"])
def test_a_springy_body_in_small_steps_wants_nodes(solver):
    assert said(SPRINGY, solver, **SMALL) == {"solver": "conjac"}
    assert said(SPRINGY, solver, substeps=1) == said(SPRINGY, solver, substeps=2) == {}, "long steps"
    assert said(SPRINGY, solver, substeps=20) == said(replace(SPRINGY, slowest=3.0), solver, **SMALL) == {}, "resolved"
    assert said(replace(SPRINGY, slowest=25.0), solver, **SMALL) == {}, "too fast"
    assert said(replace(SPRINGY, size=0.01), solver, **SMALL) == {}, "it sags by 29 % of its size"
    assert said(SPRINGY, solver, use=Use(collides=True), **SMALL) == {}
    assert said(SPRINGY, solver, use=Use(frame_rate=192.0)) == {"solver": "conjac"}


@pytest.mark.parametrize("solver", ["linearly_implicit", "subspace_fem", "conjac", "conjac_published"])
def test_other_solvers_are_left_alone_there(solver):
    assert said(SPRINGY, solver, **SMALL) == {}


@pytest.mark.parametrize(
    "facts, use, why",
    [
        (SPRINGY, Use(nodes=33), "33"),
        (replace(SPRINGY, size=0.01), Use(), "29%"),
        (replace(SPRINGY, slowest=40.0), Use(), "17 Substeps"),
        (replace(PLAIN, contrast=2e4), Use(), "stiff parts rotate far"),
    ],
)
def test_where_nodes_do_not_suit_mixed_fem_does(facts, use, why):
    (found,) = advice(facts, SolverSettings(solver="conjac", **SMALL), ResolutionSettings(), use)
    assert (found.setting, found.value) == ("solver", "mixed_fem") and why in found.reason
    assert said(facts, use=use, **SMALL) == {}, "which does not send back"


def test_what_collides_suits_all_but_the_published_step():
    assert said(SPRINGY, "conjac", use=Use(collides=True), **SMALL) == {}
    (found,) = advice(
        SPRINGY, SolverSettings(solver="conjac_published", **SMALL), ResolutionSettings(), Use(collides=True)
    )
    assert found.value == "mixed_fem" and "launches" in found.reason


def test_nodes_want_ten_steps_a_swing():
    assert said(SPRINGY, "conjac") == {"substeps": 4} and said(SPRINGY, "conjac", substeps=4) == {}
    assert said(replace(SPRINGY, movement=0.19), "conjac") == {"substeps": 10}, "of two reasons the larger"
    assert said(replace(SPRINGY, slowest=0.0), "conjac") == {}, "unknown"


def test_how_fast_a_body_swings_is_known_about():
    """A bar of 4 x 1 x 1 by the theory of beams at 0.713 Hz; not told of flesh with bone."""
    job = shaken_bar()
    assert facts_at(job).slowest == 0.0
    alike = job.with_body(material_weights=np.tile([1.0, 0.0], (len(job.body.surface.positions), 1)))
    assert facts_at(alike).slowest == pytest.approx(0.713, rel=0.16)
    cube = free_box(1).with_body(resolution=ResolutionSettings(cells_across=8))
    assert facts_at(cube).slowest == pytest.approx(19.8, rel=0.5), "by its vibrations"


def facts_at(job):
    mesh, embedding = tetrahedra(job, None, ignore)
    return facts_of(job, mesh, materials(job, mesh, embedding, None, ignore)[0], None)
