"""Plastic materials in Blender: settings reach the job, and a bent bar becomes the rest shape."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import baking
from sinew.blender_addon.scene_import import settings_in
from sinew.core.foundation.schema.settings import MaterialSettings

from .test_settle import shown


def bake(body):
    bpy.context.view_layer.objects.active = body
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    bpy.context.view_layer.objects.active = body
    return baking.open_store(body)


@pytest.fixture
def sagging(body, saved):
    """A bar of clay that sags at one end, over four frames."""
    material = body.sinew.materials[0]
    material.yield_strain, material.hardening = 0.01, 0.5
    return body


def test_settings_are_read_where_the_material_is_plastic(body):
    material = body.sinew.materials[0]
    material.creep, material.hardening = 2.0, 0.25
    assert settings_in.material_settings(material).creep == MaterialSettings().creep
    material.yield_strain = 0.05
    read = settings_in.material_settings(material)
    assert (read.yield_strain, read.creep, read.hardening) == (0.05, 2.0, 0.25)


def test_a_dent_becomes_the_rest_shape(sagging):
    sagging.shape_key_add(name="Basis")
    key = sagging.shape_key_add(name="Other")
    key.value, key.data[11].co.x = 0.5, 1.1
    store = bake(sagging)
    target = store.read(store.frames()[-1])
    bpy.context.scene.frame_set(store.frames()[-1])
    assert np.abs(target - store.read(1)).max() > 0.02
    assert bpy.ops.sinew.set_as_rest_shape() == {"FINISHED"}
    assert sagging.sinew.rest_key == "Rest Shape" and sagging.sinew.bake.status == "NONE"
    assert [key.name for key in sagging.data.shape_keys.key_blocks] == ["Basis", "Other", "Rest Shape"]
    assert [key.mute for key in sagging.data.shape_keys.key_blocks] == [False, True, False]
    bpy.context.view_layer.update()
    np.testing.assert_allclose(shown(sagging), target, atol=1e-6)
    bpy.context.scene.use_gravity = False
    again = bake(sagging)
    for frame in again.frames():
        np.testing.assert_allclose(again.read(frame), target, atol=1e-5, err_msg="it starts without stress")
