"""Later modifiers and materials read the same original coordinates from a bake on a new object."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.scene_import.mesh_in import columns_of


@pytest.fixture
def bent(body, saved):
    """A body without gravity that a lattice-like hook bends at the first frame."""
    bpy.context.scene.gravity = (0.0, 0.0, 0.0)
    target = bpy.data.objects.new("Handle", None)
    bpy.context.scene.collection.objects.link(target)
    hook = body.modifiers.new("Hook", "HOOK")
    hook.object = target
    hook.vertex_indices_set([8, 9, 10, 11])
    target.location = (0.0, 0.2, 0.4)
    return body


@pytest.mark.parametrize("kind", ["KEYS", "NODES", "CACHE"])
@pytest.mark.parametrize("source", ["ORCO", "BIND"])
@pytest.mark.parametrize("smooth", ["SIMPLE", "LENGTH_WEIGHTED"])
def test_corrective_smooth_looks_as_before_the_bake(bent, evaluated, kind, source, smooth):
    if kind == "CACHE":
        bent.modifiers.new("Before", "SUBSURF").levels = 1
        bent.modifiers.move(1, 0)
        source = "BIND"  # Blender has no original coordinates of new vertices
    modifier = bent.modifiers.new("Smooth", "CORRECTIVE_SMOOTH")
    modifier.iterations, modifier.smooth_type, modifier.rest_source = 5, smooth, source
    if source == "BIND":
        bent.modifiers["Hook"].strength = 0.0
        bpy.context.view_layer.objects.active = bent
        assert bpy.ops.object.correctivesmooth_bind(modifier="Smooth") == {"FINISHED"}
        bent.modifiers["Hook"].strength = 1.0
    before = evaluated(bent, 1)
    bent.sinew.result, bent.sinew.result_modes = kind, 12
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    carrier = bent.sinew.bake.result or bent
    assert np.abs(evaluated(carrier, 1) - before).max() < 1e-4


@pytest.mark.parametrize("kind", ["KEYS", "NODES", "CACHE"])
@pytest.mark.parametrize("makes", [False, True])
@pytest.mark.parametrize("keys", [False, True])
def test_the_vertices_of_a_duplicate_are_the_original_coordinates(bent, evaluated, kind, makes, keys):
    """Generated texture coordinates are read from there."""
    if makes:
        bent.modifiers.new("Before", "SUBSURF").levels = 1
        bent.modifiers.move(1, 0)
    bent.modifiers["Hook"].show_viewport = False
    original = evaluated(bent, 1)
    bent.modifiers["Hook"].show_viewport = True
    if keys:
        bent.shape_key_add(name="Basis")
        smile = bent.shape_key_add(name="Smile", from_mix=False)
        smile.data[5].co, smile.value = (0.5, 0.0, 0.5), 1.0
    before = evaluated(bent, 1)
    assert np.abs(before - original).max() > 0.1
    bent.sinew.result, bent.sinew.result_modes = kind, 12
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    carrier, meshes = bent.sinew.bake.result, len(bpy.data.meshes)
    assert (carrier is None) == (kind == "CACHE" and not makes)
    if carrier is not None:
        assert np.abs(columns_of(carrier.data.vertices, "co", 3, np.float32) - original).max() < 1e-6
    assert np.abs(evaluated(carrier or bent, 1) - before).max() < 1e-4
    assert bpy.ops.sinew.bake() == {"FINISHED"} and len(bpy.data.meshes) == meshes
    assert bpy.ops.sinew.delete_bake() == {"FINISHED"} and len(bpy.data.meshes) == 1
    assert len(bpy.data.objects) == 2


@pytest.mark.parametrize("kind", ["KEYS", "NODES"])
def test_rest_positions_are_those_of_the_original(bent, kind):
    bent.sinew.result, bent.sinew.result_modes = kind, 12
    bent.add_rest_position_attribute = True
    own = columns_of(bent.data.vertices, "co", 3, np.float32)
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    depsgraph = bpy.context.evaluated_depsgraph_get()
    shown = bent.sinew.bake.result.evaluated_get(depsgraph).data
    assert np.abs(columns_of(shown.attributes["rest_position"].data, "vector", 3, np.float32) - own).max() < 1e-6
