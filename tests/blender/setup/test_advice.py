"""The advice row: known after Tetrahedralize, taken by a button, gone when it is followed."""

from __future__ import annotations

import bpy
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.blender_addon.setup import recommendations


def rows(obj):
    found = recommendations.advice_of(obj, bpy.context.scene)
    return {each.setting: recommendations.button_words(each) for each in found}


def test_advice_is_known_after_tetrahedralize_and_taken_by_a_button(body, saved):
    assert not recommendations.is_known(body) and rows(body) == {}
    assert not bpy.ops.sinew.take_advice.poll()
    bpy.ops.sinew.add_material(preset="Bone")
    body.sinew.materials[1].vertex_group = "Bone"
    body.vertex_groups.new(name="Bone").add([8, 9, 10, 11], 1.0, "REPLACE")
    body.sinew.solver = "newton"
    body.location.x = 0.0
    body.keyframe_insert("location", frame=1)
    body.location.x = 0.5
    body.keyframe_insert("location", frame=2)
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert rows(body)["solver"] == "Use Mixed FEM" and rows(body)["substeps"].startswith("Set Substeps to ")
    assert bpy.ops.sinew.take_advice(setting="solver") == {"FINISHED"} and body.sinew.solver == "mixed_fem"
    assert bpy.ops.sinew.take_advice(setting="substeps") == {"FINISHED"} and body.sinew.substeps > 1
    assert set(rows(body)) <= {"cells_across"}
    assert bpy.ops.sinew.take_advice.poll() == bool(rows(body))


def test_thin_parts_are_told_with_the_resolution(body, saved):
    for vertex in body.data.vertices:
        vertex.co.z *= 0.4
    body.sinew.substeps, body.sinew.cells_across = 10, 10
    bpy.ops.sinew.tetrahedralize()
    assert rows(body) == {"match_resolution": "Use Match Resolution"}
    assert bpy.ops.sinew.take_advice(setting="match_resolution") == {"FINISHED"}
    assert body.sinew.match_resolution and rows(body) == {}
    body.sinew.match_resolution, body.sinew.match_cells = False, body.sinew.cells_across + 1
    assert rows(body) == {"cells_across": "Set Cells Across to 18"}
    assert "mm thick are only" in recommendations.advice_of(body, bpy.context.scene)[0].reason
    assert bpy.ops.sinew.take_advice(setting="cells_across") == {"FINISHED"}
    assert body.sinew.cells_across == 18 and rows(body) == {}


def test_materials_that_were_edited_since_are_told_and_the_step_is_known_after_a_bake(body, saved):
    bpy.ops.sinew.tetrahedralize()
    assert not recommendations.is_outdated(body) and not recommendations.is_step_known(body)
    bpy.ops.sinew.add_material(preset="Bone")
    assert recommendations.is_outdated(body)
    bpy.ops.sinew.remove_material()
    assert not recommendations.is_outdated(body)
    body.sinew.materials[0].keyframe_insert("log_stiffness", frame=1)
    bpy.ops.sinew.bake()
    assert recommendations.is_step_known(body) and not recommendations.is_outdated(body)
    body.sinew.materials[0].log_stiffness += 1.0
    assert not recommendations.is_outdated(body), "what is keyed changes by itself"


def test_a_springy_body_gets_a_solver_with_nodes_and_another_where_these_are_many(body, saved):
    body.sinew.materials[0].log_stiffness = 7.0
    body.sinew.substeps, body.sinew.cells_across = 8, 10
    bpy.ops.sinew.tetrahedralize()
    swing = body.sinew.bake.slowest
    assert 1.0 < swing < 100.0
    body.sinew.substeps = round(20 * swing / bpy.context.scene.render.fps)
    assert rows(body) == {"solver": "Use ConJac"}
    body.sinew.node_count = 4
    assert bpy.ops.sinew.take_advice(setting="solver") == {"FINISHED"}
    assert body.sinew.solver == "conjac" and len(make_job(body, bpy.context).body.dynamic_nodes) == 4
    assert rows(body) == {}
    body.sinew.collisions.use_ground = True
    assert rows(body) == {}
    body.sinew.solver = "conjac_published"
    assert rows(body) == {"solver": "Use Mixed FEM"}
    body.sinew.solver, body.sinew.node_count = "conjac", 40
    bpy.ops.sinew.propose_nodes()
    nodes = len(make_job(body, bpy.context).body.dynamic_nodes)
    assert (rows(body) == {"solver": "Use Mixed FEM"}) == (nodes > 32)
