"""Dynamic nodes: picked and proposed, read into the job, and shown where the solver takes them."""

from __future__ import annotations

import bmesh
import bpy
import numpy as np
import pytest
from sinew.blender_addon.picking import proposing
from sinew.blender_addon.scene_import import picks
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.blender_addon.scene_import.mesh_in import vertex_positions
from sinew.blender_addon.scene_import.weights_in import group_weights
from sinew.core.foundation.errors import PinError, SettingsError
from sinew.ui import solver

from ..drawn import drawn_by


def subdivide(obj, cuts):
    shape = bmesh.new()
    shape.from_mesh(obj.data)
    bmesh.ops.subdivide_edges(shape, edges=shape.edges[:], cuts=cuts, use_grid_fill=True)
    shape.to_mesh(obj.data)
    shape.free()
    return vertex_positions(obj.data)


@pytest.fixture
def bar(body):
    """The bar with 8 times as many edges across, its middle at the origin, held at one end, of flesh."""
    body.vertex_groups.clear()
    X = subdivide(body, 3) - [0.5, 0.15, 0.15]
    for vertex, place in zip(body.data.vertices, X.tolist(), strict=True):
        vertex.co = place
    pins = body.vertex_groups.new(name="Pins")
    pins.add(np.flatnonzero(X[:, 0] < -0.49).tolist(), 1.0, "REPLACE")
    body.sinew.pin_group = "Pins"
    return body


def proposed(obj, count):
    """The nodes after a press of the button."""
    obj.sinew.node_count = count
    assert bpy.ops.sinew.propose_nodes() == {"FINISHED"}
    return np.flatnonzero(group_weights(obj, obj.data, [obj.sinew.node_group])[:, 0] > 0.0)


def test_picked_nodes_are_those_of_the_job(body):
    assert len(make_job(body, bpy.context).body.dynamic_nodes) == 0
    assert picks.group_of(body, "NODES") is None
    group = picks.group_of(body, "NODES", make=True)
    assert body.sinew.node_group == group.name == "Nodes" and body.sinew.pin_group == "Pins"
    picks.change(body, group, [8, 11], add=True)
    job = make_job(body, bpy.context).body
    assert job.dynamic_nodes.tolist() == [8, 11] and job.pinned_vertices.tolist() == [0, 1, 2, 3]
    group.add([9], 0.9, "REPLACE")
    assert make_job(body, bpy.context).body.dynamic_nodes.tolist() == [8, 11], "a part of the weight makes none"


def test_what_is_selected_in_edit_mode_becomes_nodes(body):
    for vertex in body.data.vertices:
        vertex.select = vertex.index == 9
    bpy.ops.object.mode_set(mode="EDIT")
    assert bpy.ops.sinew.assign_pins(action="ADD", target="NODES") == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    job = make_job(body, bpy.context).body
    assert 9 in job.dynamic_nodes and body.sinew.node_group == "Nodes" and 9 not in job.pinned_vertices


def test_a_node_stays_one_after_an_edit_of_the_mesh(body):
    corner = vertex_positions(body.data)[11]
    picks.change(body, picks.group_of(body, "NODES", make=True), [11], add=True)
    X = subdivide(body, 1)
    (node,) = make_job(body, bpy.context).body.dynamic_nodes
    assert np.allclose(X[node], corner) and "“Nodes” after the edit" in body.sinew.pick_warning


def test_a_pinned_node_is_refused_where_the_solver_takes_nodes(body, takes_nodes):
    picks.change(body, picks.group_of(body, "NODES", make=True), [3, 8], add=True)
    make_job(body, bpy.context).check()
    body.sinew.solver = "newton"
    with pytest.raises(PinError, match="Vertex 3 is pinned and a dynamic node"):
        make_job(body, bpy.context).check()


def test_a_group_that_is_gone_is_refused_where_the_solver_takes_nodes(body, takes_nodes):
    body.sinew.node_group = "Lost"
    assert len(make_job(body, bpy.context).body.dynamic_nodes) == 0
    body.sinew.solver = "newton"
    with pytest.raises(SettingsError, match="“Lost” of dynamic nodes"):
        make_job(body, bpy.context)


def test_proposed_nodes_fill_the_group_anew(bar):
    nodes = proposed(bar, 6)
    X = vertex_positions(bar.data)
    assert bar.sinew.node_group == "Nodes" and len(nodes) == 6 and (X[nodes, 0] > -0.4).all()
    assert make_job(bar, bpy.context).body.dynamic_nodes.tolist() == nodes.tolist()
    fewer = proposed(bar, 2)
    assert len(fewer) == 2 and [
        len(record.rest_positions) for record in bar.sinew.picks if record.group == "Nodes"
    ] == [2]
    subdivide(bar, 1)
    assert len(proposed(bar, 3)) == 3, "what was picked before the edit does not come back"
    assert len(proposed(bar, 0)) == 0 and "Nodes" in bar.vertex_groups


def test_proposed_nodes_know_where_the_body_is_soft(bar):
    """A third of it is bone: one node there, the others in the flesh. At ten times the stiffness some, but fewer."""
    X = vertex_positions(bar.data)
    bpy.ops.sinew.add_material(preset="Bone")
    bone = bar.sinew.materials[1]
    bone.vertex_group = "Bone"
    stiff = np.flatnonzero(X[:, 0] > 0.2)
    bar.vertex_groups.new(name="Bone").add(stiff.tolist(), 1.0, "REPLACE")
    assert np.isin(proposed(bar, 7), stiff).sum() == 1
    bone.log_stiffness = bar.sinew.materials[0].log_stiffness
    alike = np.isin(proposed(bar, 7), stiff).sum()
    bone.log_stiffness = bar.sinew.materials[0].log_stiffness + 1.0
    assert 1 <= np.isin(proposed(bar, 7), stiff).sum() < alike


@pytest.mark.parametrize("asked", [False, True])
def test_proposed_nodes_are_mirrored(bar, asked):
    """Mirrored if Blender's own option is on; else if shape, stiffness and pins are symmetric."""
    X = vertex_positions(bar.data)
    bar.data.use_mirror_x = asked
    if not asked:
        assert not in_pairs(X[proposed(bar, 4)]), "held at one end it is not symmetric"
        bar.vertex_groups["Pins"].add(np.flatnonzero(X[:, 0] > 0.49).tolist(), 1.0, "REPLACE")
    nodes = proposed(bar, 4)
    assert len(nodes) == 4 and in_pairs(X[nodes])


def in_pairs(places):
    flipped = {tuple(place) for place in np.round(places * [-1.0, 1.0, 1.0], 5) + 0.0}
    return flipped == {tuple(place) for place in np.round(places, 5) + 0.0}


def test_nothing_is_proposed_without_a_material_or_in_edit_mode(bar):
    bar.sinew.materials.clear()
    with pytest.raises(RuntimeError, match="no physical material"):
        bpy.ops.sinew.propose_nodes()
    assert bar.sinew.node_group == ""
    bpy.ops.object.mode_set(mode="EDIT")
    assert not bpy.ops.sinew.propose_nodes.poll()
    bpy.ops.object.mode_set(mode="OBJECT")


def test_the_panel_has_them_where_the_solver_takes_nodes(bar, takes_nodes):
    words = "No dynamic nodes: the body will not jiggle"
    panel = solver.draw_solver[0]
    bar.sinew.solver = "mixed_fem"
    assert drawn_by(panel).text_of("sinew.propose_nodes") is None and words not in drawn_by(panel).labels
    bar.sinew.solver = "newton"
    drawn = drawn_by(panel)
    assert drawn.text_of("sinew.propose_nodes") == "Propose Nodes" and "node_count" in drawn.properties
    assert words in drawn.labels
    proposed(bar, 3)
    assert words not in drawn_by(panel).labels
    proposed(bar, 0)
    assert words in drawn_by(panel).labels


def test_a_group_filled_by_blenders_own_buttons_counts(bar):
    group, bar.sinew.node_group = bar.vertex_groups.new(name="Mine"), "Mine"
    group.add([7], 0.5, "REPLACE")
    assert proposing.node_words(bar)
    group.add([7], 1.0, "REPLACE")
    assert proposing.node_words(bar) == ""
