"""Warnings about a dense surface are cheap if there is nothing to warn about: no winding numbers."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sinew.core.foundation.schema.settings import ResolutionSettings
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.geometry.tetrahedra import tet_count
from sinew.core.geometry.tetrahedra.tetrahedralize import tetrahedralize
from sinew.core.jobs.checks import overlaps, volume_warnings
from sinew.core.jobs.job.environment import Ground
from sinew.core.simulation.preparation.prepare import tetrahedra

from ..jobs import box_surface, free_box


class Asked(Exception):
    """A figure that costs much was asked for."""


def refuse(*_):
    raise Asked


@pytest.fixture
def body(monkeypatch):
    """A box on the ground, its tets, and costly figures refused."""
    job = free_box(2)
    job = job.with_body(colliders=(Ground(height=float(job.body.surface.positions[:, 2].min())),))
    mesh = tetrahedra(job, None, lambda _event: None)[0]
    monkeypatch.setattr(volume_warnings, "enclosed_volume", refuse)
    monkeypatch.setattr(overlaps, "WindingNumber", refuse)
    return job, mesh


def test_a_closed_surface_on_a_ground_asks_for_none(body):
    assert volume_warnings.volume_warnings(*body) == [] and overlaps.overlap_warnings(*body) == []


def two_boxes(shift):
    """Surface of two boxes, one moved by ``shift``."""
    box = box_surface((1.0, 1.0, 1.0), (2, 2, 2))
    positions = np.concatenate([box.positions, box.positions + shift])
    return SurfaceMesh(positions, np.concatenate([box.triangles, box.triangles + len(box.positions)]))


@pytest.mark.parametrize("what", ["open", "crossing", "under the ground"])
def test_what_may_be_wrong_is_asked_closely(body, what):
    job, mesh = body
    surface = job.body.surface
    with pytest.raises(Asked):
        if what == "open":
            volume_warnings.volume_warnings(
                job.with_body(surface=SurfaceMesh(surface.positions, surface.triangles[1:])), mesh
            )
        elif what == "crossing":  # half of each box counts twice in the divergence theorem
            crossing = SimpleNamespace(surface=two_boxes((0.5, 0.5, 0.0)), is_lattice=True)
            filled = tetrahedralize(crossing.surface, ResolutionSettings(cells_across=6))
            volume_warnings.volume_warnings(SimpleNamespace(body=crossing), filled)
        else:
            overlaps.overlap_warnings(
                job.with_body(colliders=(Ground(height=1.0 + surface.positions[:, 2].min()),)), mesh
            )


def test_figures_of_a_surface_are_found_once(monkeypatch):
    surface = box_surface((1.0, 1.0, 1.0), (2, 2, 2))
    first = tet_count.measure_surface(surface)
    monkeypatch.setattr(tet_count, "_measure", refuse)
    assert tet_count.measure_surface(surface) is first
    with pytest.raises(Asked):
        tet_count.measure_surface(box_surface((1.0, 1.0, 1.0), (2, 2, 2)))
