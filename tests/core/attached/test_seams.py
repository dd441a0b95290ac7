"""Seams: a surface that is split beforehand, its pieces held together until they are cut or tear."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sinew as sw
from sinew.core.foundation.errors import SeamError
from sinew.core.geometry.mesh.surface_mesh import signed_volume
from sinew.core.geometry.mesh.topology import open_edges

from ..jobs import box_surface
from ..surfaces import sphere
from .split_surfaces import split_by_planes

MIDDLE = (1.0, 0.0, 0.0), 0.2


def body(surface, seams, **fields):
    return sw.Body(surface=surface, seams=seams, materials=sw.Material(), **fields)


def job(surface, seams, **fields):
    return sw.Job(bodies=body(surface, seams, **fields), frame_end=4)


@pytest.mark.parametrize("planes", [[MIDDLE], [((1.0, 0.3, 0.2), 0.2), ((0.0, 1.0, 0.1), 0.05)]])
def test_the_surface_before_the_split_is_found(planes):
    surface, seams = split_by_planes(box_surface(), *planes)
    before, index = seams.welded(surface)
    assert seams.count == 2 * len(planes)
    assert np.isclose(signed_volume(before.positions, before.triangles), 0.4 * 0.1 * 0.1, rtol=1e-12)
    assert np.abs(before.positions[index] - surface.positions).max() < 1e-9


def test_a_ball_is_closed_without_its_seam():
    surface, seams = split_by_planes(sphere(), ((0.2, 0.3, 1.0), 0.1))
    before, _index = seams.welded(surface)
    assert not len(open_edges(before.triangles)) and len(before.positions) < len(surface.positions)


def test_seams_that_do_not_fit_are_refused():
    surface, seams = split_by_planes(box_surface(), MIDDLE)
    n = len(surface.positions)
    with pytest.raises(SeamError, match="shape"):
        job(surface, replace(seams, tear_stress=np.ones(n - 1)))
    with pytest.raises(SeamError, match="two pieces"):
        job(surface, replace(seams, pieces=np.arange(n) % 2))
    with pytest.raises(SeamError, match="no vertex"):
        replace(seams, pieces=2 * seams.pieces)
    with pytest.raises(SeamError, match="vertex 3 is negative"):
        replace(seams, tear_stress=np.where(np.arange(n) == 3, -1.0, 1.0))
    with pytest.raises(SeamError, match="rigid"):
        job(surface, seams, resolution=sw.Resolution(method="rigid"))
    is_open = sw.Surface(surface.positions, surface.triangles[1:])
    with pytest.raises(SeamError, match="open along 3 edges"):
        job(is_open, replace(seams, seam_faces=seams.seam_faces[1:])).check()


def test_jobs_and_scene_files_keep_seams(tmp_path):
    surface, seams = split_by_planes(box_surface(), MIDDLE, cut_frames=2.0, tear_stress=1e4)
    made = job(surface, seams)
    made.save(tmp_path / "job.npz")
    np.savez(tmp_path / "bar.npz", positions=surface.positions, triangles=surface.triangles)
    lists = {name: getattr(seams, name).tolist() for name in ("pieces", "seam_faces", "cut_frames", "tear_stress")}
    lines = [f"{name} = {str(values).lower()}" for name, values in lists.items()]
    scene = tmp_path / "scene.toml"
    scene.write_text("\n".join(['mesh = "bar.npz"', "frames = [1, 4]", "[seams]", *lines]))
    for loaded in (sw.Job.load(tmp_path / "job.npz"), sw.read_scene(scene)):
        for name in lists:
            assert np.array_equal(getattr(loaded.body.seams, name), getattr(seams, name))
    later = made.with_body(seams=replace(seams, cut_frames=seams.cut_frames + 1.0))
    changed = made.fingerprints()
    assert [word for word, value in later.fingerprints().items() if value != changed[word]] == ["ties"]
