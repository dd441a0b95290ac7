"""Muscles in Blender: between two vertex groups and along curves, keyed, shown and baked."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from sinew.blender_addon.bake.bake_messages import nowhere_words
from sinew.blender_addon.draw_handlers.overlays import FIBRE_WORDS
from sinew.blender_addon.drawing.overlay_tets import Slice, newest_store, read_tets
from sinew.blender_addon.properties import choices
from sinew.blender_addon.properties.mirror import field_of
from sinew.blender_addon.scene_import.edit_snapshot import snapshot
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.blender_addon.scene_import.muscles_in import muscle_settings
from sinew.blender_addon.scene_import.weights_in import group_weights
from sinew.blender_addon.setup.copying import copy_settings
from sinew.blender_addon.setup.drawn_muscle import passes_of
from sinew.core.foundation.errors import MaterialError, MeshError
from sinew.core.foundation.schema.muscle_settings import MuscleSettings
from sinew.core.mechanics.fibres.presets import PRESETS
from sinew.core.mechanics.fibres.registry import LAWS
from sinew.core.simulation.frame_loop.single_body import simulate_body
from sinew.core.simulation.preparation.prepare import prepare

from ..drawn import drawn_by, panels_of


@pytest.fixture
def muscle(body):
    """The bar's material is a muscle from its pinned end to its free end, fully active at frame 4."""
    own = body.sinew.materials[0].muscle
    own.enabled, own.strength = True, 3e5
    for name, chosen in (("Origin", [0, 1, 2, 3]), ("Insertion", [8, 9, 10, 11])):
        body.vertex_groups.new(name=name).add(chosen, 1.0, "REPLACE")
    own.origin_group, own.insertion_group = "Origin", "Insertion"
    for frame, value in ((1, 0.0), (3, 1.0)):
        own.activation = value
        body.keyframe_insert("sinew.materials[0].muscle.activation", frame=frame)
    return own


def curve_object(points, bevel=0.0, kind="POLY", name="Curve"):
    data = bpy.data.curves.new(name, "CURVE")
    data.dimensions, data.bevel_depth = "3D", bevel
    spline = data.splines.new(kind)
    added = spline.bezier_points if kind == "BEZIER" else spline.points
    added.add(len(points) - 1)
    for point, position in zip(added, points, strict=True):
        point.co = position if kind == "BEZIER" else (*position, 1.0)
        if kind == "BEZIER":
            point.handle_left_type = point.handle_right_type = "VECTOR"
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.update()
    return obj


def panel_words():
    cls = next(cls for cls in panels_of("PHYSICS") if cls.bl_idname == "PHYSICS_PT_sinew_muscle")
    return drawn_by(cls)


def test_properties_mirror_the_settings(body):
    own = body.sinew.materials[0].muscle
    for name in MuscleSettings.__dataclass_fields__:
        field, prop = field_of(MuscleSettings, name), own.bl_rna.properties[name]
        assert prop.description == field.metadata["help"]
        if "range" in field.metadata:
            low, high = field.metadata["range"]
            assert prop.hard_min == pytest.approx(low) and prop.hard_max == pytest.approx(high, rel=1e-6)
            assert prop.default == pytest.approx(field.default, rel=1e-6)
    assert [item[0] for item in choices.fibre_law_items()] == list(LAWS)


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_a_preset_sets_the_muscle(muscle, body, preset):
    """Fibres and activation are kept."""
    muscle.enabled = False
    assert bpy.ops.sinew.apply_muscle_preset(preset=preset.name) == {"FINISHED"}
    (read,) = make_job(body, bpy.context).body.muscles
    for name, value in dataclasses.asdict(preset.settings).items():
        assert getattr(read.settings, name) == (value if isinstance(value, str) else pytest.approx(value, rel=1e-6))
    assert list(read.origin) == [0, 1, 2, 3] and list(read.activation) == pytest.approx([0.0, 0.5, 1.0, 1.0])


def test_the_menu_lists_the_presets(muscle):
    drawn = drawn_by(bpy.types.SINEW_MT_apply_muscle_preset)
    assert drawn.operators == [("sinew.apply_muscle_preset", preset.name) for preset in PRESETS]


def test_a_keyed_muscle_contracts(muscle, body):
    job = make_job(body, bpy.context)
    read = job.body.muscles[0]
    assert read.settings == MuscleSettings(strength=3e5) and list(read.activation) == pytest.approx(
        [0.0, 0.5, 1.0, 1.0]
    )
    assert list(read.origin) == [0, 1, 2, 3] and list(read.insertion) == [8, 9, 10, 11]
    prepared = prepare(job)
    frames = [prepared.surface(frame.state.positions, k) for k, frame in enumerate(simulate_body(job, prepared))]
    assert np.ptp(frames[-1][:, 0]) < 0.9 * np.ptp(frames[0][:, 0])


def test_a_material_that_is_no_muscle_has_none(muscle, body):
    muscle.enabled = False
    assert make_job(body, bpy.context).body.muscles == ()


@pytest.mark.parametrize("kind", ["POLY", "BEZIER"])
def test_a_curve_with_a_bevel_is_the_muscle(muscle, body, kind):
    """In world space: the curve object is moved and scaled; only the second material is inside."""
    bpy.ops.sinew.add_material(preset="Soft Flesh")
    own = body.sinew.materials[1].muscle
    muscle.enabled, own.enabled, own.direction = False, True, "CURVES"
    obj = curve_object([(-1.0, 0.0, 0.0), (1.0, 0.0, 0.0)], 0.2, kind)
    obj.location, obj.scale = (0.5, 0.15, 0.2), (0.5, 0.5, 0.5)
    bpy.context.view_layer.update()
    own.curve = obj
    assert own.fills_bevel
    job = make_job(body, bpy.context)
    curve = job.body.muscles[0].curves[0]
    assert job.body.muscles[0].material == 1 and nowhere_words(job) == ""
    np.testing.assert_allclose(curve.points[[0, -1]], [[0.0, 0.15, 0.2], [1.0, 0.15, 0.2]], atol=1e-6)
    assert curve.radii == pytest.approx(np.full(len(curve.radii), 0.1))
    prepare(job)


def test_errors_name_the_muscle_and_the_remedy(muscle, body):
    muscle.insertion_group = "Origin"
    with pytest.raises(MaterialError, match="origin and its insertion"):
        make_job(body, bpy.context)
    muscle.insertion_group = ""
    with pytest.raises(MaterialError, match="no insertion"):
        make_job(body, bpy.context)
    muscle.insertion_group = "Gone"
    with pytest.raises(MaterialError, match="“Gone”.*does not exist"):
        make_job(body, bpy.context)
    muscle.direction = "CURVES"
    with pytest.raises(MaterialError, match="has no curve"):
        make_job(body, bpy.context)
    muscle.curve = curve_object([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)])
    muscle.curve.data.splines[0].use_cyclic_u = True
    with pytest.raises(MaterialError, match="cyclic"):
        make_job(body, bpy.context)


def test_edits_of_a_muscle_are_noticed(muscle, body):
    body.animation_data_clear()
    scene = bpy.context.scene
    before = snapshot(body, scene)
    for name, value in (("strength", 2e5), ("activation", 0.5), ("origin_group", "Pins"), ("enabled", False)):
        setattr(muscle, name, value)
        after = snapshot(body, scene)
        assert [label for label in after if after[label] != before[label]] == ["materials"]
        before = after


def test_selected_vertices_become_an_end(muscle, body):
    muscle.insertion_group = ""
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    assert bpy.ops.sinew.assign_pins(action="ADD", target="INSERTION") == {"FINISHED"}
    assert muscle.insertion_group == f"{body.sinew.materials[0].name} Insertion"
    bpy.ops.sinew.assign_pins(action="REMOVE", target="INSERTION")
    bpy.ops.object.mode_set(mode="OBJECT")
    with pytest.raises(MaterialError, match="no insertion"):
        make_job(body, bpy.context)


def test_a_muscle_is_mirrored_by_name(muscle, body):
    """The bar is moved so that its sides mirror each other; ends and curve change the side, settings stay."""
    for vertex in body.data.vertices:
        vertex.co.x -= 0.5
    material = body.sinew.materials[0]
    with pytest.raises(RuntimeError, match="has no side"):
        bpy.ops.sinew.mirror_muscle()
    material.name, muscle.strength, muscle.tendon = "Biceps.L", 7e4, 0.1
    for group, name in (("Origin", "Origin.L"), ("Insertion", "Insertion.L")):
        body.vertex_groups[group].name = name
    muscle.origin_group, muscle.insertion_group = "Origin.L", "Insertion.L"
    muscle.curve = curve_object([(0.1, 0.1, 0.1), (0.4, 0.2, 0.1)], name="Path.L")
    muscle.curve.location = (0.05, 0.0, 0.0)
    bpy.context.view_layer.update()
    assert bpy.ops.sinew.mirror_muscle() == {"FINISHED"}
    other = body.sinew.materials["Biceps.R"].muscle
    assert other.enabled and other.strength == pytest.approx(7e4) and other.tendon == pytest.approx(0.1)
    assert (other.origin_group, other.insertion_group) == ("Origin.R", "Insertion.R")
    left, right = (group_weights(body, body.data, [name])[:, 0] for name in ("Origin.L", "Origin.R"))
    assert np.flatnonzero(left).tolist() == [0, 1, 2, 3] and np.flatnonzero(right).tolist() == [8, 9, 10, 11]
    bpy.context.view_layer.update()
    ends = [np.array(other.curve.matrix_world @ point.co.xyz) for point in other.curve.data.splines[0].points]
    np.testing.assert_allclose(ends, [[-0.15, 0.1, 0.1], [-0.45, 0.2, 0.1]], atol=1e-6)
    assert other.curve.name == "Path.R"
    assert bpy.ops.sinew.mirror_muscle() == {"FINISHED"} and len(body.sinew.materials) == 2
    muscle.curve.name = "Path"
    objects = len(bpy.data.objects)
    for _ in range(2):
        body.sinew.active_material = 0
        assert bpy.ops.sinew.mirror_muscle() == {"FINISHED"}
        assert body.sinew.materials["Biceps.R"].muscle.curve.name == "Biceps.R"
    assert len(bpy.data.objects) == objects + 1


def test_a_muscle_without_mirror_image_changes_nothing(muscle, body):
    """No vertex of the bar has a mirror image across local X, except those at x = 0."""
    body.sinew.materials[0].name = "Biceps.L"
    for group, name in (("Origin", "Origin.L"), ("Insertion", "Insertion.L")):
        body.vertex_groups[group].name = name
    muscle.origin_group, muscle.insertion_group = "Origin.L", "Insertion.L"
    before = [group.name for group in body.vertex_groups]
    with pytest.raises(RuntimeError, match="Insertion.R"):
        bpy.ops.sinew.mirror_muscle()
    assert [group.name for group in body.vertex_groups] == before and len(body.sinew.materials) == 1


def test_a_copy_of_the_settings_has_the_muscle(muscle, body):
    """Groups that the other body lacks are skipped."""
    bpy.ops.mesh.primitive_cube_add()
    other = bpy.context.object
    other.vertex_groups.new(name="Origin")
    left = copy_settings(body, other)
    copied = other.sinew.materials[0].muscle
    assert copied.enabled and copied.strength == muscle.strength
    assert copied.origin_group == "Origin" and copied.insertion_group == ""
    assert "vertex group “Insertion”" in left


def test_fibres_are_shown_where_they_are(muscle, body, saved):
    """Along the bar, in object space although the object is turned; nothing without a muscle."""
    body.rotation_euler = (0.0, 0.0, 1.0)
    assert bpy.ops.sinew.tetrahedralize() == {"FINISHED"}
    tets = read_tets(newest_store(body)[0])
    ends = tets.fibres(0, None).ends.reshape(-1, 2, 3)
    along = ends[:, 1] - ends[:, 0]
    assert tets.muscles == (0,) and len(along) == tets.count
    assert (np.abs(along[:, 0]) / np.linalg.norm(along, axis=1)).mean() > 0.9
    assert len(tets.fibres(0, Slice(0, 0.5, False)).ends) < 0.7 * 2 * tets.count
    muscle.enabled = False
    bpy.ops.sinew.tetrahedralize()
    assert read_tets(newest_store(body)[0]).muscles == ()


def test_baked_fibres_shorten_with_the_bar(muscle, body, saved):
    """Their mean stretch is that of the bar; a tendon's tension is that of its own stiffness; Live has a slider."""
    muscle.tendon, muscle.tendon_stiffness = 0.2, 1e6
    body.sinew.field_weights.gravity = 0.0
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    store = newest_store(body)[0]
    tets = read_tets(store)
    at_rest, found = (tets.fibres(0, None, store.vertices(frame)) for frame in (1, 4))
    np.testing.assert_allclose(at_rest.stretch, 1.0, atol=1e-6)
    length = store.read(4)[8:, 0].mean() - store.read(4)[:4, 0].mean()
    # Tets beyond the ends, and those around the pins, have fibres of another direction.
    assert length < 0.9 and found.stretch.mean() == pytest.approx(length, abs=0.05)
    settings = muscle_settings(muscle)
    tension = found.tension(settings, 1.0)
    middle = np.abs(found.parts - 0.5) < 0.25
    rest = 1.0 - settings.shortening
    wanted = settings.strength * np.maximum(found.stretch / rest - 1.0, 0.0)
    np.testing.assert_allclose(tension[middle], wanted[middle], rtol=1e-9)
    ends = ~settings.is_tendon(found.parts)
    np.testing.assert_allclose(tension[~ends], 1e6 * np.maximum(found.stretch - 1.0, 0.0)[~ends], atol=1e-6)
    for colour in ("ACTIVATION", "STRETCH", "TENSION"):
        assert colour in FIBRE_WORDS
    live = next(cls for cls in panels_of("PHYSICS") if cls.bl_label == "Live")
    assert "activation" in drawn_by(live).properties


def test_the_panel_shows_what_the_direction_needs(muscle, body):
    drawn = panel_words()
    assert {"activation", "shortening"} <= set(drawn.properties)
    assert not {"curve", "stiffening", "tendon_stiffness"} & set(drawn.properties)
    muscle.direction, muscle.law, muscle.tendon = "CURVES", "hill", 0.1
    drawn = panel_words()
    assert {"curve", "stiffening", "tendon_stiffness"} <= set(drawn.properties)
    assert not {"shortening"} & set(drawn.properties)


def test_fibres_follow_hair_curves_and_a_bone(muscle, body):
    """Hair curves are strands without thickness; a bone is a line from its head to its tail, as posed."""
    muscle.direction = "CURVES"
    hair = bpy.data.objects.new("Hair", bpy.data.hair_curves.new("Hair"))
    bpy.context.scene.collection.objects.link(hair)
    hair.data.add_curves([2, 3])
    hair.data.points.foreach_set(
        "position", np.array([[0.0, 0, 0], [0.5, 0, 0], [0.5, 0, 0.3], [1, 0.3, 0.3], [1.2, 0.3, 0.3]]).ravel()
    )
    hair.location = (0.0, 0.1, 0.0)
    bpy.context.view_layer.update()
    muscle.curve = hair
    curves = make_job(body, bpy.context).body.muscles[0].curves
    assert [len(curve.points) for curve in curves] == [2, 3] and not any(curve.radii.any() for curve in curves)
    np.testing.assert_allclose(curves[1].points[-1], [1.2, 0.4, 0.3], atol=1e-6)
    bpy.ops.object.armature_add()
    rig = bpy.context.object
    rig.pose.bones[0].rotation_mode = "XYZ"
    rig.pose.bones[0].rotation_euler = (0.0, 0.0, np.pi / 2.0)
    bpy.context.view_layer.objects.active = body
    muscle.curve = rig
    with pytest.raises(MaterialError, match="no bone “”"):
        make_job(body, bpy.context)
    muscle.bone = rig.pose.bones[0].name
    bpy.context.view_layer.update()
    (line,) = make_job(body, bpy.context).body.muscles[0].curves
    np.testing.assert_allclose(line.points, [[0.0, 0.0, 0.0], rig.pose.bones[0].tail], atol=1e-6)
    assert not body.sinew.materials[0].muscle.fills_bevel


def test_a_muscle_along_a_bone_is_mirrored_by_the_bone(muscle, body):
    bpy.ops.object.armature_add(enter_editmode=True)
    rig = bpy.context.object
    rig.data.edit_bones[0].name = "Arm.L"
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = body
    muscle.direction, muscle.curve, muscle.bone = "CURVES", rig, "Arm.L"
    body.sinew.materials[0].name = "Biceps.L"
    muscle.origin_group = muscle.insertion_group = ""
    assert bpy.ops.sinew.mirror_muscle() == {"FINISHED"}
    other = body.sinew.materials["Biceps.R"].muscle
    assert (other.curve, other.bone) == (rig, "Arm.R")


def test_a_drawn_muscle_lies_inside_the_body(body):
    """A stroke in the front view: the curve lies at half the bar's depth, and a second stroke replaces it."""
    stroke = [(0.1 + 0.1 * k, y, 0.15 + 0.05 * (k % 2)) for k in range(9) for y in (0.0, 0.3)]
    elements = [{"name": "", "location": place} for place in stroke]
    for depth in (0.5, 0.25):
        assert bpy.ops.sinew.draw_muscle(stroke=elements, depth=depth, thickness=0.4) == {"FINISHED"}
        own = body.sinew.materials[0].muscle
        assert own.strength == pytest.approx(5e5), "ten times its flesh"
        assert own.enabled and own.direction == "CURVES" and own.curve.data.bevel_depth == pytest.approx(0.06)
        bpy.context.view_layer.update()
        (curve,) = make_job(body, bpy.context).body.muscles[0].curves
        np.testing.assert_allclose(curve.points[:, 1], 0.3 * depth, atol=1e-5)
        assert curve.points[[0, -1], 0] == pytest.approx([0.1, 0.9], abs=1e-5)
        assert np.ptp(curve.points[4:-4, 2]) < 0.03, "smoother than the stroke"
        assert curve.radii.max() == pytest.approx(0.06, rel=1e-3) and curve.radii[0] < 0.03
    assert len(bpy.data.curves) == 1
    with pytest.raises(RuntimeError, match="is not over “Body”"):
        bpy.ops.sinew.draw_muscle(stroke=elements[:4])


def test_rays_of_a_stroke_pass_through_the_body(body):
    """A view along Y without perspective, in which a pixel is a hundredth of a unit."""
    region = SimpleNamespace(width=200, height=100)
    matrix = Matrix(((1.0, 0.0, 0.0, -0.5), (0.0, 0.0, 2.0, -0.3), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)))
    view = SimpleNamespace(
        is_perspective=False,
        view_perspective="ORTHO",
        perspective_matrix=matrix,
        view_matrix=Matrix(((1, 0, 0, -0.5), (0, 0, 1, -0.15), (0, -1, 0, -5.0), (0, 0, 0, 1))),
    )
    body.location = (0.0, 2.0, 0.0)
    bpy.context.view_layer.update()
    found = passes_of(body, [(50, 50), (150, 50), (250, 50)], region, view, bpy.context)
    assert 10 < len(found.enter) < 33, "the part beside the body is left out"
    np.testing.assert_allclose(found.enter[:, 1], 2.0, atol=1e-5)
    np.testing.assert_allclose(found.leave[:, 1], 2.3, atol=1e-5)


def test_a_region_of_bones(body):
    """Tubes along the bones that deform; the flesh between two bones of a joint stays soft."""
    bpy.ops.object.armature_add(enter_editmode=True)
    rig = bpy.context.object
    bones = rig.data.edit_bones
    bones[0].head, bones[0].tail = (0.0, 0.15, 0.15), (0.5, 0.15, 0.15)
    second, control = bones.new("Second"), bones.new("Control")
    second.head, second.tail, second.parent = (0.5, 0.15, 0.15), (1.0, 0.15, 0.15), bones[0]
    control.head, control.tail, control.use_deform = (0.0, 0.15, 0.15), (0.0, 0.15, 1.0), False
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = body
    bpy.ops.sinew.add_material(preset="Bone")
    body.sinew.materials[1].region = rig
    (layer,) = make_job(body, bpy.context).body.layers
    spans = [(s.positions[:, 0].min(), s.positions[:, 0].max()) for s in layer.surfaces]
    np.testing.assert_allclose(spans, [(0.0, 0.46), (0.54, 1.0)], atol=1e-6)
    radii = [np.linalg.norm(s.positions[:, 1:] - 0.15, axis=1).max() for s in layer.surfaces]
    assert radii == pytest.approx([0.025, 0.025], rel=1e-5)
    for bone in rig.data.bones:
        bone.use_deform = False
    with pytest.raises(MeshError, match="no bone that deforms"):
        make_job(body, bpy.context)


def test_an_activation_without_fibres_is_told(muscle, body, saved):
    muscle.enabled = False
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert "animated activation but no fibers: switch on Muscle" in body.sinew.bake.material_warning
    muscle.enabled = True
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert body.sinew.bake.material_warning == ""
