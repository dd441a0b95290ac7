"""Seams: a surface that is split beforehand, its pieces held together until they are cut or tear."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sinew as sw
from sinew.core.foundation.errors import SeamError
from sinew.core.geometry.mesh.surface_mesh import signed_volume
from sinew.core.geometry.mesh.topology import open_edges

from .split_surfaces import halves, quarters, split_box


def body(surface, seams, **fields):
    return sw.Body(surface=surface, seams=seams, materials=sw.Material(), **fields)


def job(surface, seams, **fields):
    return sw.Job(bodies=body(surface, seams, **fields), frame_end=4)


@pytest.mark.parametrize(("piece_of", "count"), [(halves(), 2), (quarters(), 4)])
def test_the_surface_before_the_split_is_found(piece_of, count):
    surface, seams = split_box(piece_of)
    before, opposite = seams.before(surface), seams.opposite_faces(surface)
    assert seams.count == count and not len(open_edges(before.triangles))
    assert np.isclose(signed_volume(before.positions, before.triangles), 0.4 * 0.1 * 0.1, rtol=1e-12)
    assert np.allclose(before.positions[seams.welded(surface)], surface.positions, rtol=0.0, atol=1e-12)
    assert np.array_equal(
        np.sort(surface.positions[surface.triangles[seams.seam_faces]].mean(axis=1), axis=0),
        np.sort(surface.positions[surface.triangles[opposite]].mean(axis=1), axis=0),
    )


def test_seams_that_do_not_fit_are_refused():
    surface, seams = split_box(halves())
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
    seam = np.flatnonzero(seams.seam_faces)[0]
    moved = surface.positions + np.where(np.isin(np.arange(n), surface.triangles[seam])[:, None], 0.01, 0.0)
    with pytest.raises(SeamError, match="does not coincide"):
        job(sw.Surface(moved, surface.triangles), seams).check()
    is_open = sw.Surface(surface.positions, surface.triangles[1:])
    with pytest.raises(SeamError, match="open along 3 edges"):
        job(is_open, replace(seams, seam_faces=seams.seam_faces[1:])).check()


def test_jobs_and_scene_files_keep_seams(tmp_path):
    surface, seams = split_box(halves(), cut_frames=2.0, tear_stress=1e4)
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
