"""Settings and bakes through save, reload, append, link, duplicates, other scenes, renaming and deleting: they follow,
or it is said why not.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import bpy
import numpy as np
import pytest
from sinew.blender_addon import command
from sinew.blender_addon.bake import bake_queue, baking
from sinew.blender_addon.cache.frame_folders import recorded_folder

from ..addon.test_undo import values
from ..scenes import edits

REFUSED = {False: "Library Override > Make.*Mesh Cache", True: "plays the bake of its library.*Make Local"}
"""Message for a body that plays the bake of another file, by whether it is an override."""


def load(path: Path, link: bool):
    """The body of a .blend, in an empty scene that is saved beside it."""
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(path.with_name("shot.blend")))
    with bpy.data.libraries.load(str(path), link=link) as (_, here):
        here.objects = ["Body"]
    obj = here.objects[0]
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    return obj


def fill(group) -> None:
    """Give every number, switch and text of a property group another value than its default."""
    for prop in group.bl_rna.properties:
        if prop.is_readonly or prop.identifier in (
            "name",
            "active_material",
            "active_spring",
            "is_stand_in",
            "bake_of",
            "live_layer",
        ):
            continue
        value = getattr(group, prop.identifier)
        if isinstance(value, bool):
            setattr(group, prop.identifier, not value)
        elif isinstance(value, int):
            setattr(group, prop.identifier, value + 1)
        elif isinstance(value, float):
            setattr(group, prop.identifier, 0.7 * value + 0.11)
        elif prop.type == "STRING":
            setattr(group, prop.identifier, f"{prop.identifier} ß")
        elif prop.type == "ENUM" and not prop.is_enum_flag and prop.enum_items_static:
            setattr(group, prop.identifier, prop.enum_items_static[-1].identifier)


@pytest.mark.parametrize("way", ["reload", "append", "link"])
def test_every_setting_follows(body, saved, way):
    bpy.ops.sinew.add_material(preset="Bone")
    bpy.ops.sinew.add_spring()
    settings = body.sinew
    parts = [settings, settings.collisions, settings.collider, settings.field_weights]
    for part in (*parts, *settings.materials, *settings.springs):
        fill(part)
    before = values(settings)
    if way == "reload":
        bpy.ops.wm.save_mainfile()
        bpy.ops.wm.open_mainfile(filepath=str(saved))
        obj = bpy.data.objects["Body"]
    else:
        obj = load(saved, link=way == "link")
    assert values(obj.sinew) == before


@pytest.mark.parametrize("kind", ["NODES", "CACHE"])
@pytest.mark.parametrize("override", [False, True], ids=["linked", "override"])
def test_a_linked_bake_plays(body, saved, evaluated, kind, override):
    """Baking is refused here, and possible in the linked file, whose result plays here."""
    body.sinew.result, body.sinew.result_modes = kind, 8
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    expected = evaluated(body, 4)
    obj = load(saved, link=True)
    if override:
        scene = bpy.context.scene
        linked, obj = obj, obj.override_create(remap_local_usages=True)
        assert obj.override_library.reference == linked and obj.name in scene.objects
        bpy.context.view_layer.objects.active = obj
    assert np.abs(evaluated(obj, 4) - expected).max() < 1e-6 and np.abs(expected - evaluated(obj, 1)).max() > 1e-3
    with pytest.raises(RuntimeError, match=REFUSED[override]):
        bpy.ops.sinew.bake()


@pytest.mark.parametrize("override", [False, True], ids=["linked", "override"])
def test_no_button_changes_what_is_another_files(body, saved, add_mesh, capfd, override):
    """Keys and frames of an override that plays its library's bake are the library's."""
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    obj = load(saved, link=True)
    if override:
        obj = obj.override_create(remap_local_usages=True)
        bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    assert recorded_folder(obj).is_dir()
    elsewhere = {"add_example", "add_asset_library", "apply_shader", "send_to_engine"}
    elsewhere |= {"export_bake", "apply_bake", "apply_settled", "apply_take"}
    assert {name for name in dir(bpy.ops.sinew) if getattr(bpy.ops.sinew, name).poll()} <= elsewhere
    with pytest.raises(RuntimeError, match=REFUSED[override]):
        bpy.ops.sinew.delete_bake()
    assert bake_queue.bodies_of(bpy.context.scene) == [] and not bpy.ops.sinew.bake_all.poll()
    bpy.ops.wm.save_mainfile()
    assert command.main([bpy.data.filepath]) == 3 and "linked from other files" in capfd.readouterr().err
    add_mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)], "Own")
    bpy.ops.sinew.enable()
    own = bpy.context.object
    own.sinew.use_scene_range, own.sinew.frame_end, own.sinew.cells_across = False, 2, 2
    assert bpy.ops.sinew.bake_all() == {"FINISHED"} and own.sinew.bake.status == "DONE"


@pytest.mark.parametrize("override", [False, True], ids=["linked", "override"])
def test_what_is_made_local_can_be_baked(body, saved, override):
    obj = load(saved, link=True)
    if override:
        obj = obj.override_create(remap_local_usages=True)
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    bpy.ops.object.make_local(type="SELECT_OBDATA")
    obj = bpy.context.view_layer.objects.active
    assert obj.library is None and obj.override_library is None and obj.data.library is None
    assert bpy.ops.sinew.bake() == {"FINISHED"} and obj.sinew.bake.status == "DONE"


def test_a_renamed_object_keeps_its_frames(body, saved, evaluated):
    bpy.context.scene.frame_set(3)
    assert bpy.ops.sinew.bake_to_current() == {"FINISHED"}
    folder, before = recorded_folder(body), evaluated(body, 3)
    body.name = "Another"
    assert np.array_equal(evaluated(body, 3), before)
    assert bpy.ops.sinew.resume_bake() == {"FINISHED"} and recorded_folder(body) == folder
    assert bpy.ops.sinew.bake() == {"FINISHED"} and recorded_folder(body) == folder, "none is left behind"
    assert edits(body) == []
    assert bpy.ops.sinew.delete_bake() == {"FINISHED"} and bpy.ops.wm.save_mainfile() == {"FINISHED"}
    assert not folder.exists()


def begin_elsewhere(path: Path | None) -> None:
    """An empty scene, which is saved there, or not at all."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    if path is not None:
        path.parent.mkdir(exist_ok=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(path))


def append_body(path: Path):
    """The body of another file, active."""
    before = set(bpy.data.objects)
    bpy.ops.wm.append(directory=f"{path}/Object/", filename="Body")
    (obj,) = (obj for obj in bpy.data.objects if obj not in before and obj.sinew.enabled)
    bpy.context.view_layer.objects.active = obj
    return obj


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("kind", ["KEYS", "CACHE"])
@pytest.mark.parametrize("place", ["elsewhere/scene.blend", None], ids=["saved", "unsaved"])
def test_an_appended_bake_goes_on_naming_its_frames(body, saved, tmp_path, evaluated, kind, place):
    """They are read where they are, and copied before anything is written."""
    body.sinew.result = kind
    bpy.context.scene.frame_set(3)
    assert bpy.ops.sinew.bake_to_current() == {"FINISHED"}
    expected, source = evaluated(body, 3), recorded_folder(body)
    before = content(source)
    bpy.ops.wm.save_mainfile()
    begin_elsewhere(place and tmp_path / place)
    obj = append_body(saved)
    assert recorded_folder(obj) == source and np.array_equal(evaluated(obj, 3), expected)
    bpy.context.scene.frame_set(1)
    assert bpy.ops.sinew.check_bake() == {"FINISHED"} and obj.sinew.bake.stale == ""
    if place is None:
        with pytest.raises(RuntimeError, match="Save the .blend first"):
            bpy.ops.sinew.resume_bake()
    (tmp_path / "other").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "other" / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj = bpy.context.view_layer.objects.active
    assert recorded_folder(obj) == source and np.array_equal(evaluated(obj, 3), expected)
    assert bpy.ops.sinew.resume_bake() == {"FINISHED"} and obj.sinew.bake.status == "DONE"
    own = recorded_folder(obj)
    assert own.parent == tmp_path / "other" / "sinew_cache" / "shot" and content(source) == before
    assert bpy.ops.sinew.delete_bake() == {"FINISHED"} and bpy.ops.wm.save_mainfile() == {"FINISHED"}
    assert not own.exists() and content(source) == before


@pytest.mark.parametrize("kind", ["KEYS", "CACHE"])
def test_frames_can_be_brought(body, saved, tmp_path, evaluated, kind):
    """Then the file that they come from may go."""
    body.sinew.result = kind
    assert bpy.ops.sinew.bake() == {"FINISHED"} and not bpy.ops.sinew.bring_frames.poll()
    expected, source = evaluated(body, 4), recorded_folder(body)
    before = content(source)
    bpy.ops.wm.save_mainfile()
    begin_elsewhere(tmp_path / "elsewhere" / "shot.blend")
    obj = append_body(saved)
    assert bpy.ops.sinew.bring_frames() == {"FINISHED"} and not bpy.ops.sinew.bring_frames.poll()
    own = recorded_folder(obj)
    assert own.parent == tmp_path / "elsewhere" / "sinew_cache" / "shot" and content(source) == before == content(own)
    bpy.ops.wm.save_mainfile()
    shutil.rmtree(tmp_path / "sinew_cache")
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj = bpy.data.objects["Body"]
    bpy.context.view_layer.objects.active = obj
    assert np.array_equal(evaluated(obj, 4), expected)
    assert bpy.ops.sinew.check_bake() == {"FINISHED"} and obj.sinew.bake.stale == ""


def test_what_is_appended_beside_a_body_of_its_name_has_its_own_frames(body, saved, tmp_path, evaluated):
    """Both files are called alike, and so are the bodies: their records are the same words."""
    bpy.context.scene.frame_set(2)
    assert bpy.ops.sinew.bake_to_current() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    source = recorded_folder(body)
    (tmp_path / "elsewhere").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "elsewhere" / "scene.blend"))
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    theirs, before = recorded_folder(body), content(recorded_folder(body))
    obj = append_body(saved)
    assert obj != body and obj.sinew.bake.folder == body.sinew.bake.folder and recorded_folder(obj) == source
    assert baking.open_store(obj).frames() == [1, 2] and baking.open_store(body).frames() == [1, 2, 3, 4]
    bpy.context.scene.frame_set(1)
    assert bpy.ops.sinew.resume_bake() == {"FINISHED"} and recorded_folder(obj) not in (source, theirs)
    assert content(theirs) == before and baking.open_store(body).frames() == [1, 2, 3, 4]


def test_frames_of_a_file_that_was_moved_are_found_when_it_is_appended(body, saved, tmp_path, evaluated):
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    source = tmp_path / "moved"
    source.mkdir()
    for path in (saved, tmp_path / "sinew_cache"):
        path.rename(source / path.name)
    begin_elsewhere(tmp_path / "shot" / "shot.blend")
    obj = append_body(source / saved.name)
    if hasattr(bpy.app.handlers, "blend_import_post"):
        assert bpy.ops.sinew.check_bake() == {"FINISHED"} and recorded_folder(obj).is_relative_to(source)
    else:
        with pytest.raises(RuntimeError, match="not in .*Bake Again.*copy its frames"):
            bpy.ops.sinew.check_bake()
    assert bpy.ops.sinew.bake() == {"FINISHED"} and bpy.ops.sinew.check_bake() == {"FINISHED"}


def test_an_appended_bake_without_its_frames_plays_and_says_so(body, saved, tmp_path, evaluated):
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    expected = evaluated(body, 4)
    bpy.ops.wm.save_mainfile()
    shutil.rmtree(tmp_path / "sinew_cache")
    begin_elsewhere(tmp_path / "elsewhere" / "shot.blend")
    obj = append_body(saved)
    assert np.array_equal(evaluated(obj, 4), expected)
    with pytest.raises(RuntimeError, match="not in .*sinew_cache.*Bake Again"):
        bpy.ops.sinew.check_bake()
    assert bpy.ops.sinew.bake() == {"FINISHED"} and bpy.ops.sinew.check_bake() == {"FINISHED"}


def test_a_linked_bake_that_is_made_local_goes_on_naming_its_frames(body, saved, tmp_path, evaluated):
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    source = recorded_folder(body)
    bpy.ops.wm.save_mainfile()
    begin_elsewhere(tmp_path / "elsewhere" / "shot.blend")
    bpy.ops.wm.link(directory=f"{saved}/Object/", filename="Body")
    bpy.context.view_layer.objects.active = bpy.data.objects["Body"]
    bpy.data.objects["Body"].select_set(True)
    bpy.ops.object.make_local(type="SELECT_OBDATA")
    obj = bpy.context.view_layer.objects.active
    assert obj.library is None and recorded_folder(obj) == source
    assert bpy.ops.sinew.check_bake() == {"FINISHED"} and obj.sinew.bake.stale == ""


@pytest.mark.parametrize("whose", ["pins", "map", "stiffness map", "spring"])
def test_a_renamed_group_is_missed_by_name(body, saved, whose):
    group = body.vertex_groups["Pins"]
    material = body.sinew.materials[0]
    body.sinew.pin_group = "Pins" if whose == "pins" else ""
    if whose == "map":
        material.vertex_group = "Pins"
    elif whose == "stiffness map":
        material.use_range, material.stiffness_map = True, "Pins"
    elif whose == "spring":
        bpy.ops.sinew.add_spring()
        body.sinew.springs[0].vertex_group = "Pins"
    group.name = "Renamed"
    with pytest.raises(RuntimeError, match="“Pins”.* not exist.*[Cc]hoose|“Pins”.* not exist.*clear"):
        bpy.ops.sinew.bake()
    group.name = "Pins"
    assert bpy.ops.sinew.bake() == {"FINISHED"}


def test_a_deleted_object_leaves_the_others_alone(body, saved, evaluated):
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    twin = body.copy()
    twin.data = body.data.copy()
    bpy.context.scene.collection.objects.link(twin)
    before, folder = evaluated(twin, 4), recorded_folder(body)
    bpy.data.objects.remove(body)
    bpy.data.orphans_purge(do_recursive=True)
    assert np.array_equal(evaluated(twin, 4), before) and folder.is_dir()
    bpy.context.view_layer.objects.active = twin
    assert bpy.ops.sinew.delete_bake() == {"FINISHED"} and twin.data.shape_keys is None
    bpy.ops.wm.save_mainfile()
    assert not folder.exists()


def test_a_full_copy_of_the_scene_has_a_bake_of_its_own(body, saved, evaluated):
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    before, first = evaluated(body, 4), bpy.context.scene
    bpy.ops.scene.new(type="FULL_COPY")
    assert bpy.context.scene != first
    twin = next(obj for obj in bpy.context.scene.objects if obj.type == "MESH")
    assert twin != body and np.array_equal(evaluated(twin, 4), before)
    bpy.context.view_layer.objects.active = twin
    assert bpy.ops.sinew.delete_bake() == {"FINISHED"}
    assert np.abs(evaluated(twin, 4) - evaluated(twin, 1)).max() == 0.0
    bpy.context.window.scene = first
    assert np.array_equal(evaluated(body, 4), before) and baking.open_store(body).frames() == [1, 2, 3, 4]


def test_an_object_of_two_scenes_has_one_bake(body, saved, evaluated):
    first = bpy.context.scene
    other = bpy.data.scenes.new("Other")
    other.collection.objects.link(body)
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    before = evaluated(body, 4)
    bpy.context.window.scene = other
    assert np.array_equal(evaluated(body, 4), before)
    bpy.context.view_layer.objects.active = body
    assert bpy.ops.sinew.delete_bake() == {"FINISHED"}
    bpy.context.window.scene = first
    assert body.data.shape_keys is None
