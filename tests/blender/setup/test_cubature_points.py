"""Too few cubature points: told in the panels, with a button that sets as many as suffice."""

from __future__ import annotations

import bpy
import pytest
from sinew.blender_addon.bake import bake_messages
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.core.simulation.preparation.prepare import prepare


def mesh_event(body):
    """Return the tetrahedra event of a body's preparation."""
    said = []
    prepare(make_job(body, bpy.context), on_event=said.append)
    return next(event for event in said if event.kind == "mesh")


def test_the_button_sets_the_number_that_suffices(body):
    body.sinew.solver, body.sinew.modes, body.sinew.cubature_points = "subspace_mixed_fem", 5, 12
    with pytest.raises(RuntimeError, match="poll"):
        bpy.ops.sinew.use_points()
    event = mesh_event(body)
    bake_messages.note_mesh(body, event)
    record, number = body.sinew.bake, event.points_that_suffice
    assert number >= 24 and record.points_that_suffice == number
    assert f"Set Cubature Points to {number}" in record.points_warning and "cubature" not in record.mesh_warning
    assert bpy.ops.sinew.use_points() == {"FINISHED"}
    assert body.sinew.cubature_points == number and record.points_warning == "" and not bpy.ops.sinew.use_points.poll()
    bake_messages.note_mesh(body, mesh_event(body))
    assert record.points_warning == "" and record.points_that_suffice == 0
