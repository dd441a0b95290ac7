"""A body whose size fits neither gravity nor time step is told, an ordinary one is left alone."""

from __future__ import annotations

import pytest
from sinew.core.foundation.schema.settings import MaterialSettings, SolverSettings
from sinew.core.foundation.unit_words import length_words
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.jobs.checks.plausibility import scale_warnings
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.simulation.frame_loop.bake import build_mesh

from ..jobs import box_surface, free_box, shaken_bar


def sized(size, gravity=9.81, **solver):
    job = free_box(3)
    surface = SurfaceMesh(job.body.surface.positions * (size / 0.2), job.body.surface.triangles)
    return job.with_body(surface=surface, solver=SolverSettings(gravity=(0.0, 0.0, -gravity), **solver))


@pytest.mark.parametrize(("size", "gravity"), [(0.05, 9.81), (2.0, 9.81), (30.0, 9.81), (0.2, 0.0), (1.0, 1.62)])
def test_ordinary_bodies_are_left_alone(size, gravity):
    assert scale_warnings(sized(size, gravity)) == []


def test_a_huge_body_is_told():
    (said,) = scale_warnings(sized(100.0))
    assert said.startswith("The body is 100 m across") and "scale it down" in said


@pytest.mark.parametrize("scale", [0.01, 0.001])
def test_gravity_that_was_scaled_along_is_told(scale):
    """A scene in centimetres or millimetres, whose gravity of 9.81 units is that many of them."""
    (said,) = scale_warnings(sized(0.1, scale * 9.81))
    assert f"gravity is {scale * 9.81:.3g} m/s². Set it to 9.81" in said


def test_a_body_that_hardly_falls_for_its_size_is_told():
    said = scale_warnings(sized(1000.0, 0.5))
    assert len(said) == 2 and "A body of 1,000 m falls by only 250 mm" in said[1]


def test_a_body_that_falls_past_itself_in_a_step_is_told_how_many_substeps_help():
    job = sized(0.002)
    (said,) = scale_warnings(job)
    assert "only 2 mm across and falls 17 mm in its first step" in said and said.endswith("set Substeps to 3.")
    assert scale_warnings(sized(0.002, substeps=3)) == [] != scale_warnings(sized(0.002, substeps=2))


@pytest.mark.parametrize(
    ("length", "said"),
    [
        (0.0, "0 m"), (2.344e-3, "2.34 mm"), (0.99949, "999 mm"), (0.9996, "1 m"), (12.0, "12 m"), (4e-6, "4 µm"),
        (9.72e-4, "0.972 mm"), (2e-5, "0.02 mm"),
        (123456.0, "123,456 m"), (1e-12, "less than 1 nm"),
    ],
)  # fmt: skip
def test_lengths_in_words(length, said):
    assert length_words(length) == said


def test_tetrahedra_tell_what_body_they_make(tmp_path):
    """Mass by the densities of the materials, volume and size as of the box that it is."""
    job = shaken_bar(3)
    job = job.with_body(materials=tuple(MaterialSettings(m.name, density=500.0) for m in job.body.materials))
    events = []
    build_mesh(job, FrameStore.create(tmp_path / "bake", job), events.append)
    (told,) = [event for event in events if event.kind == "mesh"]
    assert told.size == pytest.approx(0.4) and len(box_surface().positions) == len(job.body.surface.positions)
    assert told.volume == pytest.approx(0.4 * 0.1 * 0.1, rel=0.02)
    assert told.mass == pytest.approx(500.0 * told.volume, rel=1e-12)
