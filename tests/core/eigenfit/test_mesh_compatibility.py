"""Bodies that cannot be matched with a finer lattice: told with a remedy, and they move as without."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse.linalg import ArpackNoConvergence
from sinew.core.foundation.errors import MatchError
from sinew.core.foundation.events import Mesh
from sinew.core.foundation.schema.settings import ResolutionSettings
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.jobs.checks import memory
from sinew.core.jobs.job.job import Job
from sinew.core.jobs.store import cached_reference_trajectory, cached_spectra
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.methods.eigenfit.match_report import REFUSED
from sinew.core.methods.eigenfit.mesh_compatibility import check_mesh_compatibility
from sinew.core.numerics.linear_solvers.registry import choose
from sinew.core.simulation.frame_loop.single_body import simulate_body
from sinew.core.simulation.frame_loop.stepper import Stepper
from sinew.core.simulation.preparation import body_matching as module
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import box_surface, free_box

FRAMES = 4
MATCHED = {"match_resolution": True, "solver": "newton", "gravity": (0.0, 0.0, -1.0)}


def job(surface: SurfaceMesh | None = None, held=lambda X: X[:, 0] < 1e-9, cells=8, **settings) -> Job:
    """A body, by default a bar 5:1, that is to move as 16 cells do."""
    box = free_box(FRAMES, solver=MATCHED | {"match_cells": 16} | settings)
    surface = surface or box_surface((1.0, 0.2, 0.2), (20, 4, 4))
    X = surface.positions
    pins = np.flatnonzero(held(X))
    return box.with_body(
        surface=surface,
        material_weights=np.ones((len(X), 1)),
        stiffness_maps=None,
        pinned_vertices=pins,
        pin_positions=np.tile(X[pins], (FRAMES, 1, 1)),
        pin_held=np.ones((FRAMES, len(pins)), dtype=bool),
        resolution=ResolutionSettings(cells_across=cells, elements="plain"),
    )


def told(job: Job, store: FrameStore | None = None):
    said = []
    prepared = prepare(job, store, said.append)
    return prepared, next(each for each in said if isinstance(each, Mesh)).match


def sheet() -> SurfaceMesh:
    box = box_surface((1.0, 0.2, 0.2), (20, 4, 4))
    faces = box.triangles[(box.positions[box.triangles, 2] < 1e-9).all(axis=1)]
    used, triangles = np.unique(faces, return_inverse=True)
    return SurfaceMesh(box.positions[used], triangles.reshape(-1, 3))


def two_bars(gap: float) -> SurfaceMesh:
    box = box_surface((1.0, 0.2, 0.2), (20, 4, 4))
    both = np.concatenate([box.positions, box.positions + [0.0, 0.0, 0.2 + gap]])
    return SurfaceMesh(both, np.concatenate([box.triangles, box.triangles + len(box.positions)]))


BAD = {
    "hardly nearer": (lambda: job(match_cells=9), "(1 to 3 % unmatched). Raise Cells Across."),
    "no finer": (lambda: job(match_cells=8), "185 vertices, and the body 185. Raise Match Cells."),
    "coarser": (lambda: job(match_cells=6), "135 vertices, and the body 185. Raise Match Cells."),
    "heavier": (lambda: job(sheet()), "has 1.9 times the mass of its finer lattice. Give sheets a thickness"),
    "joined": (
        lambda: job(two_bars(0.15)),
        "has 1 separate part, and the finer lattice 2. Raise Cells Across, so that gaps stay open.",
    ),
    "held by an edge": (
        lambda: job(held=lambda X: (X[:, 0] < 1e-9) & (X[:, 2] < 1e-9)),
        "the pinned region is much smaller than a cell. Pin more of the surface, or raise Cells Across.",
    ),
    "held at a point": (
        lambda: job(held=lambda X: np.arange(len(X)) == 0),
        "the pinned region is much smaller than a cell.",
    ),
    "held by little": (
        lambda: job(held=lambda X: (X[:, 0] < 1e-9) & (np.abs(X[:, 1:] - 0.1).max(axis=1) < 0.06), cells=6),
        "the pinned region is much smaller than a cell. Pin more of the surface, or raise Cells Across.",
    ),
    "held by half of an end": (
        lambda: job(held=lambda X: (X[:, 0] < 1e-9) & (np.abs(X[:, 1:] - 0.1).max(axis=1) < 0.06), cells=10),
        "too few vertices are pinned: the pins yield in the vibration. Pin more of the surface.",
    ),
    "too many tets": (lambda: job(two_bars(0.15), match_cells=400), "Match Cells to "),
}


@pytest.mark.parametrize("bad", BAD)
def test_what_cannot_be_matched_is_told_with_a_remedy_and_moves_as_without(bad, monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 10**15)
    make, words = BAD[bad]
    matched = make()
    prepared, said = told(matched)
    assert prepared.matching is None and said.startswith(REFUSED) and words in said and said.count(".") <= 4
    plain = matched.with_body(solver=replace(matched.body.solver, match_resolution=False))
    frames, expected = (
        [frame.state.positions for frame in simulate_body(each, ready)]
        for each, ready in ((matched, prepared), (plain, prepare(plain)))
    )
    np.testing.assert_array_equal(frames, expected)


@pytest.mark.parametrize(
    "good",
    [{}, {"cells": 6, "match_cells": 12}, {"held": lambda X: X[:, 0] < 0.06, "cells": 6, "match_cells": 12}],
)
def test_bodies_that_are_alike_are_matched(good):
    prepared, said = told(job(**good))
    assert prepared.matching and "match the finer lattice" in said


def test_two_bars_that_stay_apart_are_alike(monkeypatch):
    """Matched without a trial, as large bodies are: a trial would check no more of the meshes, and take a minute."""
    monkeypatch.setattr(cached_reference_trajectory, "TRIED", 0)
    prepared, said = told(job(two_bars(0.4)))
    assert prepared.matching and "match the finer lattice" in said


@pytest.mark.parametrize("factor, is_alike", [(0.79, False), (0.81, True), (1.24, True), (1.26, False)])
def test_masses_may_differ_by_a_quarter(factor, is_alike):
    coarse, finer = (module.finer_model(job(match_cells=cells))[0] for cells in (8, 16))
    coarse = replace(coarse, masses=factor * finer.masses.sum() / coarse.masses.sum() * coarse.masses)
    if is_alike:
        check_mesh_compatibility(coarse, finer, np.eye(3))
    else:
        with pytest.raises(MatchError, match="times the mass"):
            check_mesh_compatibility(coarse, finer, np.eye(3))


def test_pins_hold_the_same_place():
    coarse = module.finer_model(job(match_cells=8))[0]
    finer = module.finer_model(job(held=lambda X: X[:, 0] > 0.99))[0]
    with pytest.raises(MatchError, match="different regions") as refused:
        check_mesh_compatibility(coarse, finer, np.eye(3))
    assert "Cells Across" in refused.value.remedy


def test_a_lattice_for_which_there_is_no_memory_is_not_made_and_the_bake_goes_on_so(tmp_path, monkeypatch):
    """Also when there is memory again; and one that was begun with it goes on with it, however little is free."""
    matched = job()
    short, long = (FrameStore.create(tmp_path / name, matched) for name in ("short", "long"))
    begun = told(matched, long)[1]

    def free(of):
        """Return memory for the body, and too little for its finer lattice."""
        return 10**12 if of.body.resolution.cells_across == 8 else 10**6

    check = module.check_before_tetrahedra
    with monkeypatch.context() as patch:
        patch.setattr(module, "check_before_tetrahedra", lambda of: check(of, free(of)))
        prepared, said = told(matched, short)
        assert prepared.matching is None
        assert "the finer lattice cannot be made. 16 cells across need about 0.3 GB of memory; 0.0 GB are free." in said
        again, same = told(matched, long)
        assert again.matching and same == begun
    prepared, same = told(matched, short)
    assert prepared.matching is None and same == said


def test_a_factor_that_does_not_fit_and_vibrations_that_are_not_found_are_told(monkeypatch):
    def none(*_arguments):
        raise ArpackNoConvergence("", np.zeros(0), np.zeros((0, 0)))

    monkeypatch.setattr(cached_spectra, "find_spectra", none)
    prepared, said = told(job())
    assert prepared.matching is None
    assert said == f"{REFUSED}the materials differ too much in stiffness. Use materials of more similar stiffness."
    monkeypatch.setattr(cached_spectra, "choose", lambda name, body: choose(name, body, 10**6))
    prepared, said = told(job())
    assert prepared.matching is None and said.startswith(f"{REFUSED}a direct solver would need 0.0 GB, and 0.0 GB are")
    assert said.endswith("free. Set fewer Match Cells.")


def test_what_is_controlled_is_told_of_it_too():
    bad = BAD["coarser"][0]().with_body(vibration_stiffness=np.full((FRAMES, 2), 0.5))
    prepared, said = told(bad)
    assert prepared.matching is None and said.endswith("Vibrations can be controlled if Match Resolution is off.")
    prepared, said = told(bad.with_body(solver=replace(bad.body.solver, match_resolution=False)))
    assert prepared.matching and said.startswith("20 vibrations can be controlled")


@pytest.mark.parametrize(
    ("solver", "kept"),
    [*(("newton", kept) for kept in ("all", "half", "none")), ("subspace_mixed_fem", "half")],
)
def test_vibrations_are_those_of_the_pins_that_hold_throughout(solver, kept, monkeypatch):
    """They are those of a body without the other pins; with all pins released, those of a free one. The trial, which
    would take most of the time, is left out as for a large body.
    """
    monkeypatch.setattr(cached_reference_trajectory, "TRIED", 0)
    matched = job(solver=solver, modes=8)
    height = matched.body.surface.positions[matched.body.pinned_vertices, 2]
    least = {"all": -1.0, "half": 0.01, "none": 1.0}[kept]
    held = matched.body.pin_held.copy()
    held[-1] = height > least
    found, said = told(matched.with_body(pin_held=held))
    held_so = job(held=lambda X: (X[:, 0] < 1e-9) & (X[:, 2] > least), solver=solver, modes=8)
    only, of_only = told(held_so)
    np.testing.assert_allclose(found.matching.spectra.fine, only.matching.spectra.fine, rtol=1e-9)
    words = {"half": "", "none": ", so these vibrations are of the free body"}
    added = f" Pins that do not hold in every frame are left out{words[kept]}." if kept in words else ""
    assert said.endswith(added) and "left out" not in of_only and ("left out" in said) == (kept != "all")


def test_pins_that_all_let_go_hold_as_without_until_then():
    """With a free body's vibrations a matched bar sags as the finer one, to less than half of the unmatched error. With
    pins as firm as those of the vibrations it sagged by less than unmatched.
    """
    matched = job(cells=6, match_cells=24, max_iterations=50)
    held = matched.body.pin_held.copy()
    held[-1] = False
    matched = replace(matched, frame_rate=1e-2).with_body(pin_held=held)
    plain, fine = (
        matched.with_body(
            resolution=ResolutionSettings(cells_across=cells, elements="plain"),
            solver=replace(matched.body.solver, match_resolution=False),
        )
        for cells in (6, 24)
    )
    of_plain, of_matched, of_fine = (_sag(each) for each in (plain, matched, fine))
    assert abs(of_matched - of_fine) < 0.5 * abs(of_plain - of_fine)


def _sag(job: Job) -> float:
    """Return the sag of the free end after a static step, m."""
    prepared = prepare(job)
    state, _reports = Stepper(job, prepared).advance(prepared.first_state(), 1)
    end = job.body.surface.positions[:, 0] > 0.99
    return float((job.body.surface.positions - prepared.surface(state.positions))[end, 2].mean())


def test_a_painted_body_is_matched_as_far_as_it_has_likes():
    """The rest of what was asked for is named, with the reason."""
    bar = job(match_modes=30, cells=6)
    soft = bar.body.surface.positions[:, 0] < 0.5
    flesh, bone = (replace(bar.body.materials[0], name=name, youngs_modulus=E) for name, E in (("a", 1e5), ("b", 1e8)))
    painted = bar.with_body(
        materials=(flesh, bone), material_weights=np.column_stack([soft, ~soft]).astype(float), stiffness_maps=None
    )
    prepared, said = told(painted)
    pairs, spectra = prepared.matching.pairs, prepared.matching.spectra
    assert 0 < len(pairs.coarse) < 30 and said.startswith(f"{len(pairs.coarse)} of 30 vibrations match")
    assert (
        "Vibrations 16 to 30 are not matched, since none of the first 40 vibrations of the finer lattice has such a "
        "shape: raise " in said
    )
    slower = r"Vibrations 1[1-5, andto]+ are slower than in the finer lattice, since pins or thin parts hold less"
    assert re.search(slower, said)
    assert (pairs.shares[pairs.coarse] >= 0.9).all() and len(spectra.fine) == 40
