"""Mode shapes of the surface are stored with the vibrations, and read only if complete."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.core.jobs.store.cached_shapes import cached_shapes
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import shaken_bar

SCALED = np.array([[0.0, -2.0, 0.0, 0.3], [0.5, 0.0, 0.0, -4.0], [0.0, 0.0, -3.0, 0.1], [0.0, 0.0, 0.0, 1.0]])
"""An object that is turned, mirrored, and stretched along each axis by another factor."""


AS_IT_IS = np.eye(4)


def job_of(matrix=AS_IT_IS, **solver):
    job = shaken_bar(frames=3, modes=4, cubature_points=60, match_modes=6, **{"solver": "subspace_mixed_fem"} | solver)
    return job.with_body(object_to_world=np.tile(matrix, (3, 1, 1)))


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    made = FrameStore.create(tmp_path_factory.mktemp("store"), job_of(SCALED))
    prepare(made.job(), made)
    return made


FULL = {"solver": "mixed_fem", "match_resolution": True, "match_cells": 20}
"""All vertices, matched to those of a finer lattice."""


@pytest.mark.parametrize("solver", [{}, FULL], ids=["subspace", "full"])
@pytest.mark.parametrize("matrix", [AS_IT_IS, SCALED], ids=["as it is", "scaled"])
def test_they_are_the_modes_at_the_surface(tmp_path, matrix, solver):
    job, told = job_of(matrix, **solver), []
    job = job.with_body(resolution=replace(job.body.resolution, elements="plain"))
    store = FrameStore.create(tmp_path, job)
    prepared = prepare(job, store, told.append)
    shapes, surface = cached_shapes(store), job.body.surface
    vibrations = next(event.vibrations for event in told if event.kind == "mesh")
    assert shapes.frequencies.tolist() == [each[0] for each in vibrations] and len(vibrations) == 6
    assert np.array_equal(shapes.triangles, surface.triangles)
    to_world, tets = matrix[:3, :3], prepared.model.mesh.tets
    assert np.abs(shapes.rest @ to_world.T + matrix[:3, 3] - surface.positions).max() < 1e-5
    ways = set()
    for shape, mode in zip(shapes.shapes, prepared.matching.spectra.modes, strict=False):
        of_vertices = prepared.subspace.model.basis @ mode if prepared.subspace else mode
        moved = prepared.embedding.apply(of_vertices, tets)
        longest = np.linalg.norm(moved, axis=1).max()
        assert np.abs(shape @ to_world.T - moved * surface.size / longest).max() < 1e-5 * surface.size
        ways.add(np.abs(moved).sum(axis=0).argmax())
    assert len(ways) > 1, "they bend both ways"


def test_what_has_no_store_or_no_match_keeps_none(tmp_path):
    job = job_of(match_full_space=False)
    store = FrameStore.create(tmp_path, job)
    prepare(job, store)
    assert cached_shapes(store) is None
    assert prepare(job_of()).matching is not None


def test_they_go_with_the_mesh(tmp_path):
    job = job_of()
    store = FrameStore.create(tmp_path, job)
    prepare(job, store)
    finer = job.with_body(resolution=replace(job.body.resolution, cells_across=9))
    assert cached_shapes(store) is not None and cached_shapes(FrameStore.create(tmp_path, finer)) is None


@pytest.mark.parametrize(
    "spoil",
    [
        lambda a: a | {"shapes": np.full_like(a["shapes"], np.inf)},
        lambda a: a | {"shapes": a["shapes"][:, 1:]},
        lambda a: a | {"shapes": a["shapes"].astype("f8")},
        lambda a: a | {"shapes": a["shapes"][..., :2].copy()},
        lambda a: a | {"rest": a["rest"] * np.float32(np.nan)},
        lambda a: a | {"triangles": a["triangles"] + len(a["rest"])},
        lambda a: a | {"triangles": a["triangles"] - 1},
        lambda a: a | {"frequencies": a["frequencies"][1:]},
        lambda a: {name: each for name, each in a.items() if name != "rest"},
        lambda a: a | {"more": np.zeros(3)},
    ],
)
def test_doubtful_arrays_are_refused(store, spoil):
    good, about = store.read_cached("shapes")
    assert cached_shapes(store) is not None
    store.write_cached("shapes", spoil(good), about)
    assert cached_shapes(store) is None
    store.write_cached("shapes", good, about)
