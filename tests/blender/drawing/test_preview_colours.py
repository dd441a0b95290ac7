"""Colours of the preview's overlays."""

import bpy
import numpy as np
from sinew.blender_addon.drawing.preview_colours import (
    cluster_colours,
    object_colour,
    stiffness_colours,
    weight_colours,
)


def test_weights_are_white_at_zero_and_as_strong_on_either_side():
    negative, weak, zero, strong = weight_colours(np.array([-2.0, 0.4, 0.0, 2.0]))
    assert np.ptp(zero) < 1e-12 and zero.min() > 0.8
    assert negative[2] > 4 * negative[0] and strong[0] > 4 * strong[2]
    assert strong[0] > strong[1] and np.ptp(weak) < np.ptp(strong)
    assert np.abs(weight_colours(np.array([-200.0, 40.0, 0.0, 200.0])) - [negative, weak, zero, strong]).max() < 1e-12
    assert np.ptp(weight_colours(np.zeros(3))) < 1e-12


def test_stiffness_goes_from_blue_to_red_whatever_its_range():
    soft, middle, stiff = stiffness_colours(np.log([1e4, 1e7, 1e10]))
    assert soft.argmax() == 2 and stiff.argmax() == 0
    assert np.abs(stiffness_colours(np.log([1e5, 1e7, 1e9])) - [soft, middle, stiff]).max() < 1e-9
    inside = stiffness_colours(np.log([1e7]), np.log(1e4), np.log(1e10))
    assert np.abs(inside - middle).max() < 1e-9


def test_one_material_has_one_colour():
    assert np.ptp(stiffness_colours(np.full(5, 3.0)), axis=0).max() == 0.0


def test_clusters_can_be_told_apart():
    colours = cluster_colours(np.arange(12))
    away = np.linalg.norm(colours[:, None] - colours[None, :], axis=2)[~np.eye(12, dtype=bool)]
    assert away.min() > 0.08
    assert np.linalg.norm(np.diff(colours, axis=0), axis=1).min() > 0.3
    assert colours.min() >= 0.0 and colours.max() <= 1.0
    assert np.abs(cluster_colours(np.array([5, 5, 2])) - colours[[5, 5, 2]]).max() == 0.0


def test_the_objects_colour_is_that_of_the_viewport(body):
    body.color = (0.1, 0.2, 0.3, 1.0)
    shading = bpy.context.scene.display.shading
    shading.single_color = (0.5, 0.25, 0.125)
    found = {}
    for kind in ("MATERIAL", "OBJECT", "SINGLE"):
        shading.color_type = kind
        found[kind] = object_colour(body, shading)
    assert np.allclose(found["MATERIAL"], 0.8)
    assert np.allclose(found["OBJECT"], (0.1, 0.2, 0.3)) and np.allclose(found["SINGLE"], (0.5, 0.25, 0.125))
    material = bpy.data.materials.new("Paint")
    material.diffuse_color = (0.9, 0.1, 0.2, 1.0)
    body.data.materials.append(None)
    body.data.materials.append(material)
    shading.color_type = "MATERIAL"
    assert np.allclose(object_colour(body, shading), (0.9, 0.1, 0.2))
