"""The skin of a draft lattice is made once, with what is told of it, and kept to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.benchmarks.thin_bodies import ball, joined
from sinew.core.foundation.schema.settings import ContactSettings, ResolutionSettings
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.jobs.checks.costs import body_bytes
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.jobs.store.shared_cache import copy_cached_from
from sinew.core.simulation.contact_setup import cached_collision_proxy
from sinew.core.simulation.contact_setup.collision_surfaces import collision_surface, surface_warnings
from sinew.core.simulation.frame_loop.group import GroupStepper
from sinew.core.simulation.preparation.prepare import prepare

from ..simulation.test_group import box


@pytest.fixture
def job():
    """Two balls that a coarse lattice holds together."""
    one = ball(10, 0.1)
    surface = joined([one, SurfaceMesh(one.positions + (0.0, 0.23, 0.0), one.triangles)])
    weights = np.ones((len(surface.positions), 1))
    resolution = ResolutionSettings(cells_across=6)
    return box("Two", (0.0, 0.0, 0.0), 2).with_body(
        surface=surface,
        resolution=resolution,
        material_weights=weights,
        stiffness_maps=None,
        contact=ContactSettings(self_contact=True),
    )


@pytest.fixture
def made(monkeypatch):
    """Names of the functions that computed something."""
    names = []

    def counted(name):
        make = getattr(cached_collision_proxy, name)
        monkeypatch.setattr(cached_collision_proxy, name, lambda *given: names.append(name) or make(*given))

    for name in ("collision_proxy", "skin_warnings"):
        counted(name)
    return names


def stepped(job, store):
    stepper = GroupStepper([job], [prepare(job, store)])
    return stepper.surfaces[0], stepper.warnings


def same(one, other) -> bool:
    arrays = (
        (
            each.rest_positions,
            each.faces,
            each.embedding.tet_indices,
            each.embedding.barycentric,
            each.embedding.outside,
        )
        for each in (one, other)
    )
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in zip(*arrays))


def test_it_is_made_once(job, made, tmp_path):
    mesh = prepare(job).model.mesh
    fresh = collision_surface(job, mesh)
    told = surface_warnings(job, mesh, fresh)
    assert "parts of the body together" in told[0]
    store = FrameStore.create(tmp_path / "one", job)
    made.clear()
    for _ in range(2):
        kept, said = stepped(job, store)
        assert same(kept, fresh) and said == told
    assert made == ["collision_proxy", "skin_warnings"]
    estimated = body_bytes(len(mesh.tets), job.body.solver, True) - body_bytes(len(mesh.tets), job.body.solver)
    assert 0.2 * estimated < (store.folder / "skin.sinew").stat().st_size < estimated
    lent = FrameStore.create(tmp_path / "two", job)
    copy_cached_from(lent, [store], 0)
    assert same(stepped(job, lent)[0], fresh) and len(made) == 2
    renamed = job.with_body(name="Pair")
    assert stepped(renamed, store)[1] == [told[0].replace("“Two”", "“Pair”")] and len(made) == 2


def test_it_is_made_anew_of_another_lattice_and_where_it_is_damaged(job, made, tmp_path):
    store = FrameStore.create(tmp_path / "one", job)
    first = stepped(job, store)[0]
    finer = job.with_body(resolution=ResolutionSettings(cells_across=7))
    assert len(stepped(finer, store)[0].rest_positions) != len(first.rest_positions) and len(made) == 4
    again = stepped(job, store)[0]
    assert same(again, first) and len(made) == 6
    arrays, about = store.read_cached("skin")
    store.write_cached("skin", arrays | {"faces": arrays["faces"] + len(first.rest_positions)}, about)
    assert same(stepped(job, store)[0], first) and made[6:] == ["collision_proxy", "skin_warnings"]
    (store.folder / "skin.sinew").write_bytes(b"torn")
    assert same(stepped(job, store)[0], first) and len(made) == 10
