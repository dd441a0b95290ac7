"""Mass that differs from what the mesh encloses is told, with a remedy, and nothing else is."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.foundation.schema.settings import ResolutionSettings
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.geometry.mesh.tet_mesh import TetMesh
from sinew.core.geometry.tetrahedra.tetrahedralize import tetrahedralize
from sinew.core.jobs.checks.volume_warnings import volume_warnings
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import shaken_bar

JOB = shaken_bar(frames=2)


def said(job, factor=1.0):
    mesh = tetrahedralize(job.body.surface, job.body.resolution)
    return volume_warnings(job, TetMesh(mesh.rest_positions, mesh.tets, factor * mesh.fill))


@pytest.mark.parametrize("cells", [2, 8, 20])
def test_a_bar_is_as_heavy_as_its_mesh(cells):
    assert said(JOB.with_body(resolution=ResolutionSettings("lattice", cells))) == []


@pytest.mark.parametrize("factor", [0.96, 0.975])
def test_more_than_three_per_cent_are_told(factor):
    robust = JOB.with_body(resolution=ResolutionSettings("robust", 8))
    assert bool(said(JOB, factor)) == bool(said(robust, factor)) == (factor < 0.97)
    if factor < 0.97:
        assert "4% below those of the mesh: raise Cells Across." in said(JOB, factor)[0]
        assert "choose Draft" in said(robust, factor)[0]


def test_sheets_are_told_once_by_the_event_of_the_tetrahedra():
    sheet = SurfaceMesh(JOB.body.surface.positions, JOB.body.surface.triangles[:2])
    assert "encloses nothing" in said(JOB.with_body(surface=sheet))[0]
    positions = np.vstack([JOB.body.surface.positions, JOB.body.surface.positions[:3] * 3.0 + 1.0])
    count = len(JOB.body.surface.positions)
    flap = SurfaceMesh(positions, np.vstack([JOB.body.surface.triangles, [(count, count + 1, count + 2)]]))
    weights = np.ones((len(positions), JOB.body.material_weights.shape[1]))
    events = []
    prepare(JOB.with_body(surface=flap, material_weights=weights, stiffness_maps=None), None, events.append)
    (event,) = [event for event in events if event.kind == "mesh"]
    assert len([warning for warning in event.warnings if "above those of the mesh" in warning]) == 1
