"""Bodies that cannot be baked are refused with a named error and a remedy, and the scene is unchanged."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import baking
from sinew.core.foundation.errors import CorruptFrameError, MeshError, PinError, SettingsError, StoreError

from ..scenes import prepared


def refusal(obj, error) -> str:
    """The message of the refused bake; the button reports the same one, and nothing in the scene has changed."""
    objects, frame = len(bpy.data.objects), bpy.context.scene.frame_current
    with pytest.raises(error) as raised:
        prepared(obj)
    assert raised.value.remedy and len(bpy.data.objects) == objects and bpy.context.scene.frame_current == frame
    if obj.mode != "EDIT":
        with pytest.raises(RuntimeError) as reported:
            bpy.ops.sinew.bake()
        if "poll()" not in str(reported.value):
            assert raised.value.message in str(reported.value) and raised.value.remedy in str(reported.value)
            assert obj.sinew.bake.message == str(raised.value)
    return str(raised.value)


def enabled(obj):
    bpy.ops.sinew.enable()
    obj.sinew.cells_across = 4
    obj.sinew.use_scene_range, obj.sinew.frame_end = False, 3
    return obj


def test_no_faces(add_mesh, saved):
    assert "no faces" in refusal(enabled(add_mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [])), MeshError)


def test_one_vertex(add_mesh, saved):
    assert "no faces" in refusal(enabled(add_mesh([(0, 0, 0)], [])), MeshError)


def test_nan_positions(body, saved):
    body.data.vertices[7].co = (float("nan"), 0.0, 0.0)
    assert "Vertex 7" in refusal(body, MeshError)


def test_no_area(add_mesh, saved):
    assert "no area" in refusal(enabled(add_mesh([(0, 0, 0), (0, 0, 0), (0, 0, 0)], [(0, 1, 2)])), MeshError)


@pytest.mark.parametrize("scale", [(0.0, 1.0, 1.0), (0.0, 0.0, 0.0)])
def test_zero_scale(body, saved, scale):
    body.scale = scale
    assert "scale" in refusal(body, MeshError)


def test_scale_that_becomes_zero(body, saved):
    body.keyframe_insert("scale", frame=1)
    body.scale = (1.0, 0.0, 1.0)
    body.keyframe_insert("scale", frame=4)
    assert "frame 4" in refusal(body, MeshError)


def test_everything_pinned(body, saved):
    body.vertex_groups["Pins"].add(list(range(12)), 1.0, "REPLACE")
    assert "The vertices of all faces are pinned" in refusal(body, PinError)


def test_pin_group_gone(body, saved):
    body.vertex_groups.remove(body.vertex_groups["Pins"])
    assert "“Pins”" in refusal(body, PinError)


def test_map_gone(body, saved):
    body.vertex_groups.new(name="Old")
    body.sinew.materials[0].vertex_group = "Old"
    body.vertex_groups["Old"].name = "New"
    said = refusal(body, SettingsError)
    assert "The map “Old” of “Soft Flesh” does not exist any more." in said and "clear Map" in said


def test_named_modifier_gone(body, saved):
    body.sinew.simulate_at, body.sinew.simulate_after = "MODIFIER", "Nothing"
    assert "no modifier “Nothing”" in refusal(body, MeshError)


def test_no_material(body, saved):
    body.sinew.materials.clear()
    assert "no physical material" in refusal(body, SettingsError)


def test_empty_frame_range(body, saved):
    body.sinew.frame_start = 9
    assert "9-4" in refusal(body, SettingsError)


def test_unsaved_file(body):
    assert "not saved" in refusal(body, StoreError)


def test_edit_mode(body, saved):
    bpy.ops.object.mode_set(mode="EDIT")
    assert "Edit Mode" in refusal(body, MeshError)
    assert not bpy.ops.sinew.bake.poll()


def test_object_outside_the_view_layer(body, saved):
    bpy.context.scene.collection.objects.unlink(body)
    with pytest.raises(MeshError, match="view layer"):
        prepared(body)


def test_folder_that_cannot_be_written(body, saved):
    (saved.parent / "sinew_cache").write_text("a file, not a folder")
    assert "cannot be written" in refusal(body, StoreError)


def test_region_that_is_no_surface(body, add_mesh, saved):
    body.sinew.materials[0].region = add_mesh([(0, 0, 0), (1, 0, 0)], [], "Points")
    bpy.context.view_layer.objects.active = body
    assert "“Points”" in refusal(body, MeshError)


def test_settings_out_of_range_cannot_be_entered(body):
    material = body.sinew.materials[0]
    material.poissons_ratio, material.density, material.stiffness_value = 0.7, -5.0, -1.0
    assert material.poissons_ratio == pytest.approx(0.499) and material.density == pytest.approx(0.1)
    assert material.stiffness_value > 0.0


@pytest.mark.parametrize("harm", ["truncated", "altered", "foreign"])
def test_corrupt_frames_are_refused_before_the_scene_changes(body, saved, harm):
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    store = baking.open_store(body)
    path = next(p for p in sorted(store.folder.iterdir()) if "000003" in p.name and p.name.startswith("frame"))
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(
        {"truncated": data[:middle], "altered": data[:middle] + b"?" + data[middle + 1 :], "foreign": b"hello"}[harm]
    )
    with pytest.raises(CorruptFrameError) as raised:
        baking.put_result(body, bpy.context, "DONE", store)
    assert raised.value.remedy and len(body.data.shape_keys.key_blocks) == 4


def test_a_refusal_leaves_the_bake_before_it(body, saved):
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    body.sinew.cells_across = 400
    with pytest.raises(RuntimeError, match="400 cells across .* Set Cells Across to"):
        bpy.ops.sinew.bake()
    assert body.sinew.bake.status == "DONE" and len(body.data.shape_keys.key_blocks) == 4
    assert baking.open_store(body).frames() == [1, 2, 3, 4]


def test_what_the_library_refuses_takes_the_bake_before_it_along(body, saved, monkeypatch):
    """Its shapes may not stay where no button could remove them, and no empty cache stays."""

    def hollow(*_):
        raise MeshError("The mesh encloses nothing.", "Close its holes.")

    assert bpy.ops.sinew.bake() == {"FINISHED"}
    body.sinew.cells_across = 5
    monkeypatch.setattr("sinew.core.simulation.preparation.body_mesh.tetrahedralize", hollow)
    with pytest.raises(RuntimeError, match="encloses nothing. Close"):
        bpy.ops.sinew.bake()
    record = body.sinew.bake
    assert (record.status, record.frames, record.folder) == ("FAILED", 0, "") and body.data.shape_keys is None
    assert bpy.ops.wm.save_mainfile() == {"FINISHED"}
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]
    assert bpy.ops.sinew.delete_bake() == {"FINISHED"} and body.sinew.bake.message == ""


@pytest.mark.parametrize(
    "name", ["open", "inside out", "non-manifold", "self-intersecting", "islands", "zero-area faces"]
)
def test_what_artists_make_is_baked(body, add_mesh, saved, name):
    vertices = np.array([v.co for v in body.data.vertices])
    faces = [list(p.vertices) for p in body.data.polygons]
    match name:
        case "open":
            faces = faces[1:]
        case "inside out":
            faces = [face[::-1] for face in faces]
        case "non-manifold":
            faces = [*faces, [0, 1, 11]]
        case "self-intersecting":
            faces = faces + [[i + 12 for i in face] for face in faces]
            vertices = np.vstack([vertices, vertices + 0.1])
        case "islands":
            faces = faces + [[i + 12 for i in face] for face in faces]
            vertices = np.vstack([vertices, vertices + 3.0])
        case "zero-area faces":
            faces = [*faces, [0, 1, 1 + 4]]
            vertices[5] = vertices[1]
    obj = enabled(add_mesh(vertices, faces, "Odd"))
    assert bpy.ops.sinew.bake() == {"FINISHED"}, obj.sinew.bake.message
    assert obj.sinew.bake.frames == 3 and obj.sinew.bake.status == "DONE"


def test_a_linked_object_is_refused(body, saved, tmp_path):
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(str(saved), link=True) as (there, here):
        here.objects = ["Body"]
    linked = here.objects[0]
    bpy.context.scene.collection.objects.link(linked)
    bpy.context.view_layer.objects.active = linked
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "other.blend"))
    with pytest.raises(MeshError, match="linked"):
        prepared(linked)
