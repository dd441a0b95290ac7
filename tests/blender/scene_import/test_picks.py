"""Vertices picked for pins and springs: added, taken out, and found again after the mesh was edited."""

from __future__ import annotations

import bmesh
import bpy
import numpy as np
import pytest
from sinew.blender_addon.scene_import import picks
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.blender_addon.scene_import.mesh_in import vertex_positions
from sinew.blender_addon.scene_import.weights_in import group_weights
from sinew.core.foundation.errors import PinError, SpringError


@pytest.fixture
def picked(body):
    """The bar with two picked corners at its free end, in a group of their own."""
    body.sinew.pin_group = ""
    picks.change(body, picks.group_of(body, "PINS", make=True), [8, 11], add=True)
    return body


def members(obj, name="Pins.001"):
    return np.flatnonzero(group_weights(obj, obj.data, [name])[:, 0] > 0.0).tolist()


def edit(obj, change):
    """Change the mesh through bmesh, which carries weights along as Edit Mode does."""
    shape = bmesh.new()
    shape.from_mesh(obj.data)
    shape.verts.ensure_lookup_table()
    change(shape)
    shape.to_mesh(obj.data)
    shape.free()


def test_what_blenders_own_buttons_take_out_is_not_found_again(picked):
    """An undo in Edit Mode, too, changes the group and not the record of its picks."""
    picked.vertex_groups["Pins.001"].remove([8])
    make_job(picked, bpy.context)
    assert len(picked.sinew.picks[0].rest_positions) == 1
    edit(picked, lambda shape: bmesh.ops.subdivide_edges(shape, edges=shape.edges[:], cuts=1))
    make_job(picked, bpy.context)
    assert members(picked) == [11] and picked.sinew.pick_warning.startswith("“Pins.001” after the edit")


def test_picks_make_a_group_and_are_remembered(picked):
    assert picked.sinew.pin_group == "Pins.001" and members(picked) == [8, 11]
    record = picked.sinew.picks[0]
    positions = vertex_positions(picked.data)
    assert (record.group, record.vertices) == ("Pins.001", 12)
    assert np.allclose([place.rest for place in record.rest_positions], positions[[8, 11]])
    group = picks.group_of(picked, "PINS")
    assert picks.holds(picked, group, 8) and not picks.holds(picked, group, 9) and not picks.holds(picked, None, 8)
    picks.change(picked, group, [8], add=False)
    assert members(picked) == [11] and len(record.rest_positions) == 1
    picks.change(picked, group, [11], add=False)
    assert len(picked.sinew.picks) == 0


def test_a_spring_has_its_own(body):
    with pytest.raises(SpringError, match="no spring"):
        picks.group_of(body, "SPRING")
    bpy.ops.sinew.add_spring()
    assert picks.group_of(body, "SPRING") is None
    group = picks.group_of(body, "SPRING", make=True)
    picks.change(body, group, [5], add=True)
    assert body.sinew.springs[0].vertex_group == group.name == "Spring"
    assert body.sinew.picks[0].group == "Spring"


def test_a_painted_group_is_left_alone(picked):
    group = picked.vertex_groups["Pins.001"]
    group.add([3], 0.5, "REPLACE")
    picks.note(picked, group.name)
    assert len(picked.sinew.picks) == 0


def test_after_a_subdivide_only_full_weights_count(picked):
    edit(picked, lambda shape: bmesh.ops.subdivide_edges(shape, edges=shape.edges[:], cuts=1, use_grid_fill=True))
    assert len(members(picked)) > 2
    places = [list(place.rest) for place in picked.sinew.picks[0].rest_positions]
    said = picks.mend(picked)
    found = members(picked)
    assert len(found) == 2 and "left out" in said and "lost" not in said
    assert np.allclose(np.sort(vertex_positions(picked.data)[found], axis=0), np.sort(places, axis=0))
    assert picked.sinew.picks[0].vertices == len(picked.data.vertices) and picks.mend(picked) == ""


def test_what_is_lost_is_taken_again_from_the_nearest(picked):
    corner = vertex_positions(picked.data)[11]
    edit(picked, lambda shape: bmesh.ops.delete(shape, geom=[shape.verts[11]], context="VERTS"))
    said = make_job(picked, bpy.context).body.pinned_vertices
    positions = vertex_positions(picked.data)
    nearest = int(np.argmin(np.linalg.norm(positions - corner, axis=1)))
    assert sorted(said) == sorted({8, nearest})
    assert "1 of 2 picked vertices were lost" in picked.sinew.pick_warning and "Pins.001" in picked.sinew.pick_warning
    picks.change(picked, picked.vertex_groups["Pins.001"], [8], add=True)
    assert picked.sinew.pick_warning == ""


def test_all_are_found_after_a_remesh(picked):
    corners = vertex_positions(picked.data)[[8, 11]]
    edit(picked, lambda shape: bmesh.ops.subdivide_edges(shape, edges=shape.edges[:], cuts=2, use_grid_fill=True))
    picked.vertex_groups["Pins.001"].remove(range(len(picked.data.vertices)))
    assert "2 of 2" in picks.mend(picked)
    found = vertex_positions(picked.data)[members(picked)]
    assert np.allclose(np.sort(found, axis=0), np.sort(corners, axis=0))


def test_moving_vertices_loses_nothing(picked):
    picked.data.vertices[8].co.x += 3.0
    assert picks.mend(picked) == "" and members(picked) == [8, 11]


def test_a_group_that_is_gone_is_forgotten(picked):
    picked.vertex_groups.remove(picked.vertex_groups["Pins.001"])
    edit(picked, lambda shape: bmesh.ops.delete(shape, geom=[shape.verts[0]], context="VERTS"))
    assert picks.mend(picked) == "" and len(picked.sinew.picks) == 0


def subdivided(obj):
    edit(obj, lambda shape: bmesh.ops.subdivide_edges(shape, edges=shape.edges[:], cuts=1, use_grid_fill=True))
    return vertex_positions(obj.data)


def at(positions, place):
    """The vertex at a place."""
    (found,) = np.flatnonzero(np.abs(positions - place).max(axis=1) < 1e-6)
    return int(found)


def select_in_edit_mode(obj, vertex):
    """Enter it with one vertex selected; Blender itself deselects edges and faces."""
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.data.vertices[vertex].select = True
    bpy.ops.object.mode_set(mode="EDIT")


def test_more_is_picked_after_an_edit_of_the_mesh(picked):
    """A group with parts of weights looks like a painted one: what was picked before has to be put right first."""
    corner = at(subdivided(picked), (1.0, 0.3, 0.0))
    picks.change(picked, picked.vertex_groups["Pins.001"], [corner], add=True)
    assert members(picked) == sorted([8, 11, corner])
    assert "left out" in picked.sinew.pick_warning and len(picked.sinew.picks[0].rest_positions) == 3


def test_so_it_is_in_edit_mode_and_is_said(picked):
    corner = at(subdivided(picked), (1.0, 0.3, 0.0))
    select_in_edit_mode(picked, corner)
    assert bpy.ops.sinew.assign_pins(action="ADD") == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert sorted(make_job(picked, bpy.context).body.pinned_vertices) == sorted([8, 11, corner])
    assert "left out" in picked.sinew.pick_warning


def test_vertices_that_were_moved_are_not_lost(picked):
    """One now lies nearest to where the other was, so no place of its own seems to have a vertex."""
    picked.data.vertices[8].co = (0.7, 0.0, 0.0)
    picked.data.vertices[11].co = (1.0, 0.1, 0.1)
    subdivided(picked)
    said = picks.mend(picked)
    assert members(picked) == [8, 11] and "lost" not in said


def test_all_that_moved_are_there_whatever_is_lost_besides(picked):
    """Ctrl+A of a location moves every vertex in the object's own coordinates; one is deleted then."""
    group = picked.vertex_groups["Pins.001"]
    picks.change(picked, group, [0, 3], add=True)
    for vertex in picked.data.vertices:
        vertex.co.y += 0.01
    edit(picked, lambda shape: bmesh.ops.delete(shape, geom=[shape.verts[11]], context="VERTS"))
    assert "1 of 4" in picks.mend(picked)
    assert len(members(picked)) == 4 and {0, 3, 8} < set(members(picked))


@pytest.mark.parametrize("baked_before", [False, True])
def test_picks_follow_a_group_that_was_renamed(picked, baked_before):
    """Blender tells nobody of that: the artist chooses it by its new name, at once or when a bake is refused."""
    group = picked.vertex_groups["Pins.001"]
    group.name = "Held"
    if baked_before:
        with pytest.raises(PinError, match="does not exist any more"):
            make_job(picked, bpy.context)
    picked.sinew.pin_group = "Held"
    subdivided(picked)
    assert "“Held”" in picks.mend(picked)
    assert members(picked, "Held") == [8, 11] and len(members(picked, "Pins")) > 4


def test_what_a_new_spring_takes_from_the_selection_is_picked(picked):
    select_in_edit_mode(picked, 5)
    bpy.ops.sinew.add_spring()
    bpy.ops.object.mode_set(mode="OBJECT")
    subdivided(picked)
    picks.mend(picked)
    assert members(picked, picked.sinew.springs[0].vertex_group) == [5]
