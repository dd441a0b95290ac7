"""Absorption: what collides takes from force fields behind it, as Blender's own particles feel it."""

from __future__ import annotations

import bmesh
import bpy
import numpy as np
import pytest
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.core.foundation.errors import FieldError
from sinew.core.mechanics.forces.field_formulas import FORMULAS
from sinew.core.simulation.preparation.field_interpolation import Absorbing, interpolate_field

from ..scenes import keyed
from .test_force_fields_in import add_field, asked  # noqa: F401 - a fixture

SHEET = [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [(0, 1, 2, 3)]
SOME = np.random.default_rng(8).uniform(-2.5, 2.5, (150, 3)).astype(np.float32).astype(np.float64)
# Particles have no charge, and of a vortex Blender offers no line.
KINDS = [(kind, shape) for kind in FORMULAS for shape in ("POINT", "PLANE", "LINE")]
KINDS = [each for each in KINDS if each[0] != "CHARGE" and each != ("VORTEX", "LINE")]


@pytest.fixture
def collide(add_mesh):
    """Add a mesh with Collision; Blender makes the boxes of its faces larger by its outer thickness."""

    def add(vertices, faces, location=(0.0, 0.0, 0.0), absorption=0.7, name="Sheet"):
        active = bpy.context.view_layer.objects.active
        obj = add_mesh(vertices, faces, name)
        obj.location = location
        obj.modifiers.new("Collision", "COLLISION")
        obj.collision.absorption, obj.collision.thickness_outer = absorption, 0.001
        bpy.context.view_layer.objects.active = active
        bpy.context.view_layer.update()
        return obj

    return add


def made(body, frame=0):
    """The job's fields at a frame."""
    job = make_job(body, bpy.context)
    absorbing = Absorbing(job.body.absorbers).at(frame, 1.0)
    return job, [interpolate_field(field, frame, 1.0, absorbing) for field in job.body.force_fields]


def straight(field) -> None:
    """A field whose z is the world's, at the origin."""
    field.location, field.rotation_euler, field.scale = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
    bpy.context.view_layer.update()


def ball() -> tuple[list, list]:
    """A ball of faces so small that boxes around them are hardly larger."""
    made = bmesh.new()
    bmesh.ops.create_icosphere(made, subdivisions=5, radius=0.6)
    vertices, faces = [tuple(v.co) for v in made.verts], [tuple(v.index for v in f.verts) for f in made.faces]
    made.free()
    return vertices, faces


@pytest.mark.parametrize(("kind", "shape"), KINDS)
def test_two_sheets_take_what_blenders_take(body, add_field, collide, kind, shape):  # noqa: F811
    rest = 0.5 if kind == "HARMONIC" else 0.0
    field = add_field(kind, shape, strength=2.0, use_absorption=True, flow=0.0, rest_length=rest)
    straight(field)
    field.location = (0.2, 0.1, 0.0)
    sheets = [
        collide(*SHEET, (0.0, 0.0, 0.8)),
        collide(*SHEET, (0.3, 0.0, -1.2), 0.4),
        collide(*SHEET, (0.0, 0.0, 1.1), 0.2),
    ]
    sheets[2].rotation_euler = (0.0, np.pi / 2, 0.0)
    bpy.context.view_layer.update()
    velocity = np.array([1.0, 2.0, -0.5])
    expected = asked(field, SOME, velocity, others=sheets)
    job, (moment,) = made(body)
    found = moment.pull(SOME).at(np.tile(velocity, (len(SOME), 1)))
    assert len(job.body.absorbers) == 3
    assert np.abs(found - expected).max() <= 1e-4 * max(np.abs(expected).max(), 1.0)
    field.field.use_absorption = False
    _job, (unshaded,) = made(body)
    changed = np.abs(unshaded.pull(SOME).at(np.tile(velocity, (len(SOME), 1))) - found).max(axis=1) > 1e-6
    assert changed.sum() > 5


def test_blender_takes_boxes_of_faces_where_faces_are_taken_here(body, add_field, collide):  # noqa: F811
    field = add_field("FORCE", strength=2.0, use_absorption=True)
    straight(field)
    round_one = collide(*ball(), (0.3, 0.2, 1.2))
    expected = np.linalg.norm(asked(field, SOME, others=[round_one]), axis=1)
    _job, (moment,) = made(body)
    found = np.linalg.norm(moment.pull(SOME).acceleration, axis=1)
    differ = np.abs(found - expected) > 1e-4
    assert (found < 1.9).sum() >= 5 and differ.sum() <= 3 and (expected <= found + 1e-4).all()


@pytest.mark.parametrize("how", ["unused", "modifier off", "disabled", "field itself", "body itself"])
def test_what_does_not_absorb(body, add_field, collide, how):  # noqa: F811
    field = add_field("FORCE", mesh=how == "field itself", use_absorption=True)
    straight(field)
    sheet = collide(*SHEET, (0.0, 0.0, 0.8))
    assert len(made(body)[0].body.absorbers) == 1
    match how:
        case "unused":
            sheet.collision.use = False
        case "modifier off":
            sheet.modifiers[0].show_viewport = False
        case "disabled":
            sheet.hide_viewport = True
        case "field itself" | "body itself":
            own = field if how == "field itself" else body
            own.modifiers.new("Collision", "COLLISION")
            own.collision.absorption = 1.0
            sheet.collision.absorption = 0.0
    job, _moments = made(body)
    assert len(job.body.absorbers) == (how == "field itself") and job.body.force_fields[0].absorbers == ()


def test_only_fields_with_absorption_lose(body, add_field, collide):  # noqa: F811
    collide(*SHEET, (0.0, 0.0, 0.8))
    add_field("FORCE")
    assert made(body)[0].body.absorbers == ()
    add_field("WIND", use_absorption=True)
    job, _moments = made(body)
    assert len(job.body.absorbers) == 1 and [field.absorbers for field in job.body.force_fields] == [(), (0,)]


def test_a_moving_sheet_and_its_absorption_are_sampled(body, add_field, collide):  # noqa: F811
    straight(add_field("FORCE", strength=2.0, use_absorption=True))
    sheet = collide(*SHEET, (0.0, 0.0, 0.8))
    keyed(sheet, "location", (1, (0.0, 0.0, 0.8)), (4, (5.0, 0.0, 0.8)))
    keyed(sheet.collision, "absorption", (1, 0.5), (3, 1.0))
    keyed(sheet.collision, "use", (1, True), (4, False))
    bpy.context.scene.unit_settings.scale_length = 0.1
    job, _moments = made(body)
    (absorber,) = job.body.absorbers
    assert absorber.name == "Sheet" and absorber.absorption[[0, 2, 3]].tolist() == [0.5, 1.0, 0.0]
    assert absorber.positions[0, 0] == pytest.approx([-0.1, -0.1, 0.08])
    above = np.array([[0.0, 0.0, 0.2]])
    strengths = [np.linalg.norm(made(body, frame)[1][0].pull(above).acceleration) for frame in (0, 3)]
    assert strengths == pytest.approx([0.1, 0.2])


def test_a_sheet_that_changes_its_mesh_is_named(body, add_field, collide):  # noqa: F811
    add_field("FORCE", use_absorption=True)
    sheet = collide(*SHEET, (0.0, 0.0, 0.8))
    array = sheet.modifiers.new("Array", "ARRAY")
    keyed(array, "count", (1, 2), (3, 4))
    with pytest.raises(FieldError, match="“Sheet”, which absorbs force fields, changes its mesh at frame") as raised:
        make_job(body, bpy.context)
    assert "Field Absorption" in raised.value.remedy
    sheet.collision.absorption = 0.0
    assert make_job(body, bpy.context).body.absorbers == ()


def test_a_bake_tells_that_a_sheet_was_moved(body, add_field, collide, saved):  # noqa: F811
    straight(add_field("FORCE", strength=2.0, use_absorption=True))
    sheet = collide(*SHEET, (0.0, 0.0, 0.8))
    assert bpy.ops.sinew.bake() == {"FINISHED"}, body.sinew.bake.message
    bpy.ops.sinew.check_bake()
    assert body.sinew.bake.stale == ""
    sheet.collision.absorption = 0.3
    bpy.ops.sinew.check_bake()
    assert body.sinew.bake.stale.startswith("fields (“Sheet”: absorption")


@pytest.mark.parametrize("nested", [False, True])
def test_what_a_collection_instance_shows_absorbs_where_it_is_seen(body, add_field, collide, nested):  # noqa: F811
    field = add_field("FORCE", "POINT", strength=2.0, use_absorption=True)
    straight(field)
    sheet, asset = collide(*SHEET, (0.0, 0.0, 5.0), 1.0), bpy.data.collections.new("Asset")
    bpy.context.scene.collection.objects.unlink(sheet)
    asset.objects.link(sheet)
    shown = asset
    if nested:
        shown, inner = bpy.data.collections.new("Outer"), bpy.data.objects.new("Inner", None)
        inner.instance_type, inner.instance_collection, inner.location = "COLLECTION", asset, (0.0, 0.0, -1.0)
        shown.objects.link(inner)
    wall = bpy.data.objects.new("Wall", None)
    wall.instance_type, wall.instance_collection, wall.location = "COLLECTION", shown, (0.0, 0.0, -4.0 + nested)
    bpy.context.scene.collection.objects.link(wall)
    keyed(wall, "hide_viewport", (1, False), (3, True))
    job, (moment,) = made(body)
    (absorber,) = job.body.absorbers
    assert absorber.name == "Wall > Sheet" and absorber.positions[0, :, 2] == pytest.approx(1.0)
    assert absorber.absorption.tolist() == [1.0, 1.0, 0.0, 0.0]
    behind, beside = moment.pull(np.array([[0.0, 0.0, 2.0], [0.0, 0.0, -2.0]])).at(np.zeros((2, 3)))
    assert not behind.any() and np.linalg.norm(beside) > 0.1
    wall.instance_collection = None
    assert made(body)[0].body.absorbers == ()
