"""A force field of a scene file is the one that Blender makes of the same type, names and numbers."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.core.jobs.scene_files.scene_force_fields import read_force_fields
from sinew.core.jobs.scene_files.scene_values import Reading
from sinew.core.mechanics.forces.field_coordinates import FieldNumbers
from sinew.core.mechanics.forces.field_formulas import FORMULAS, WITHOUT_FLOW

from ..scenes import CUBE

FRAMES = np.arange(1, 5)
NUMBERS = {
    "noise": 0.5,
    "falloff_power": 1.5,
    "distance_min": 0.25,
    "distance_max": 4.0,
    "radial_falloff": 0.75,
    "radial_min": 0.5,
    "radial_max": 8.0,
}


def read(tables, folder=None):
    return read_force_fields({"force_field": tables}, Reading(folder, None, FRAMES))


def of_blender(body):
    (field,) = make_job(body, bpy.context).body.force_fields
    return field


def same(ours, blenders) -> bool:
    ours, blenders = (each.numbers[0].tolist() for each in (ours, blenders))
    return FieldNumbers(*ours) == pytest.approx(FieldNumbers(*blenders), rel=1e-6)


def add(body, kind):
    bpy.ops.object.effector_add(type=kind)
    field = bpy.context.object
    bpy.context.view_layer.objects.active = body
    return field


@pytest.mark.parametrize("kind", FORMULAS)
def test_it_begins_as_blenders_does(body, kind):
    field = add(body, kind)
    (ours,) = read([{"type": kind, "seed": field.field.seed}])
    assert ours.form == of_blender(body).form
    assert same(ours, of_blender(body))


@pytest.mark.parametrize("kind", FORMULAS)
def test_every_entry_is_called_as_in_blender(body, kind):
    own = {"DRAG": {"linear_drag": 0.5, "quadratic_drag": 0.25}}.get(kind, {"strength": 3.0})
    own |= {"HARMONIC": {"harmonic_damping": 0.5, "rest_length": 0.75}, "FORCE": {"use_gravity_falloff": True}}.get(
        kind, {}
    )
    own |= {} if kind in WITHOUT_FLOW else {"flow": 0.25}
    words = {"shape": "POINT", "falloff_type": "CONE", "z_direction": "NEGATIVE", "seed": 9}
    field = add(body, kind)
    for name, value in {**own, **NUMBERS, **words}.items():
        setattr(field.field, name, value)
    for name in ("use_min_distance", "use_max_distance", "use_radial_min", "use_radial_max"):
        setattr(field.field, name, True)
    field.location = (1.0, 2.0, 3.0)
    entries = {"type": kind, "location": [1, 2, 3], **own, **NUMBERS, **words}
    (ours,) = read([entries])
    blenders = of_blender(body)
    assert ours.form == blenders.form and ours.seed == blenders.seed
    assert same(ours, blenders) and np.array_equal(ours.centres, blenders.centres)
    least = {name: field.field.bl_rna.properties[name].hard_min for name in NUMBERS}
    assert set(least.values()) == {0.0}


def test_the_normals_of_a_mesh_are_blenders(body, add_mesh, tmp_path):
    corners = np.array(CUBE[0], dtype=float) * (1.0, 2.0, 0.5)
    sheet = add_mesh(corners, CUBE[1], "Sheet")
    bpy.ops.object.forcefield_toggle()
    sheet.field.type, sheet.field.shape = "WIND", "POINTS"
    bpy.context.view_layer.objects.active = body
    sheet.data.calc_loop_triangles()
    triangles = np.array([t.vertices for t in sheet.data.loop_triangles])
    np.savez(tmp_path / "sheet.npz", positions=corners, triangles=triangles)
    (ours,) = read([{"type": "WIND", "shape": "POINTS", "mesh": "sheet.npz"}], tmp_path)
    blenders = of_blender(body)
    assert ours.vertices == pytest.approx(blenders.vertices) and ours.normals == pytest.approx(
        blenders.normals, abs=1e-6
    )
