"""Presets of one's own: kept as text, read with care, offered beside the built-in ones, never run."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import pytest
from sinew.blender_addon.properties import choices, own_presets
from sinew.blender_addon.scene_import.settings_in import material_settings
from sinew.core.foundation.errors import MaterialError, StoreError
from sinew.core.foundation.schema.settings import MaterialSettings


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "presets" / "sinew"
    monkeypatch.setattr(own_presets, "folder", lambda: folder)
    return folder


def names():
    return [item[0] for item in choices.preset_items()]


def test_they_lie_where_blender_keeps_presets(monkeypatch, own_folder):
    monkeypatch.undo()
    where = own_presets.folder()
    assert where.parts[-2:] == ("presets", "sinew") and str(where).startswith(bpy.utils.resource_path("USER"))


@pytest.mark.parametrize("name", ["Gummibär", "A/B: 50 %", "con", "..", "x" * 60])
def test_a_material_comes_back_as_it_was_saved(body, name, own_folder):
    material = body.sinew.materials[0]
    material.stiffness_unit, material.stiffness_value, material.density = "KPA", 37.5, 990.0
    material.use_range, material.log_painted_stiffness = True, 7.0
    assert bpy.ops.sinew.save_preset(name=name) == {"FINISHED"}
    assert [path.parent for path in own_folder.parent.rglob("*.json")] == [own_folder]
    assert bpy.ops.sinew.add_material(preset=name) == {"FINISHED"}
    got = material_settings(body.sinew.materials[1])
    assert got == MaterialSettings(name, 3.75e4, 0.45, 990.0, painted_modulus=1e7)


def test_the_menu_has_them_after_ours_and_instead_of_ours(body):
    count = len(names())
    bpy.ops.sinew.save_preset(name="Zzz")
    assert names()[-1] == "Zzz" and len(names()) == count + 1
    body.sinew.materials[0].density = 777.0
    bpy.ops.sinew.save_preset(name="Bone")
    assert names().count("Bone") == 1 and names()[-2:] == ["Bone", "Zzz"]
    bpy.ops.sinew.add_material(preset="Bone")
    assert body.sinew.materials[1].density == 777.0
    body.sinew.active_material = 0
    body.sinew.materials[0].density = 778.0
    bpy.ops.sinew.save_preset(name="Bone")
    bpy.ops.sinew.add_material(preset="Bone")
    assert body.sinew.materials[2].density == 778.0, "saving again replaces"
    assert bpy.ops.sinew.remove_preset(name="Bone") == {"FINISHED"}
    bpy.ops.sinew.add_material(preset="Bone")
    assert body.sinew.materials[3].density == 1920.0, "ours is back"
    bpy.ops.sinew.remove_preset(name="Zzz")
    assert not bpy.ops.sinew.remove_preset.poll() and len(names()) == count


def test_nothing_but_own_presets_is_removed(body, own_folder):
    bpy.ops.sinew.save_preset(name="Mine")
    with pytest.raises(RuntimeError, match="no user preset “Steel”"):
        bpy.ops.sinew.remove_preset(name="Steel")
    assert own_presets.path_of("Mine").exists()


@pytest.mark.parametrize(
    "text",
    [
        "import os; os.abort()",
        "[" * 100_000,
        "[]",
        json.dumps({"format": 2, "name": "Other"}),
        json.dumps({"format": 1, "name": "Stiff", "youngs_modulus": "1e5"}),
        json.dumps({"format": 1, "name": "Stiff", "youngs_modulus": -1}),
        json.dumps({"format": 1, "name": ""}),
        json.dumps({"format": 1, "name": "Stiff", "script": "x"}),
        '{"format": 1, "name": "Stiff", "density": NaN}',
        "\x00" * (own_presets.LARGEST + 1),
    ],
    ids=lambda text: text[:20],
)
def test_files_that_are_no_presets_are_told_and_left_out(body, own_folder, text):
    own_folder.mkdir(parents=True)
    (own_folder / "material-Bad.json").write_text(text)
    bpy.ops.sinew.save_preset(name="Good")
    assert "Good" in names() and "Stiff" not in names()
    (sentence,) = own_presets.own_presets().refused
    assert sentence.startswith("The preset material-Bad.json cannot be read") and "Remove the file" in sentence


def test_a_preset_from_an_editor_that_writes_a_mark_is_read(body, own_folder):
    bpy.ops.sinew.save_preset(name="Good")
    path = own_presets.path_of("Good")
    path.write_bytes(path.read_text(encoding="utf-8").encode("utf-16"))
    own_presets.save(MaterialSettings("Other"))
    assert {"Good", "Other"} <= set(names()) and not own_presets.own_presets().refused


def test_an_energy_of_another_version_is_refused(body):
    own_presets.save(MaterialSettings("New", energy="of tomorrow"))
    with pytest.raises(MaterialError, match="energy “of tomorrow”"):
        from sinew.blender_addon.setup import defaults

        defaults.add_material(body, "New")
    with pytest.raises(RuntimeError, match="this version does not know"):
        bpy.ops.sinew.add_material(preset="New")
    with pytest.raises(RuntimeError, match="this version does not know"):
        bpy.ops.sinew.apply_preset(preset="New")
    assert len(body.sinew.materials) == 1 and body.sinew.materials[0].density == 1050.0


def test_a_preset_is_applied_to_the_active_material_alone(body):
    bpy.ops.sinew.add_material(preset="Bone")
    bone = body.sinew.materials[1]
    bone.name, bone.vertex_group, bone.stiffness_map = "Skull", "Hard", "Range"
    bone.depth_kind, bone.depth = "CORE", 0.3
    bone.use_range, bone.log_painted_stiffness = True, 10.0
    bpy.ops.sinew.save_preset(name="Mine")
    flesh = material_settings(body.sinew.materials[0])
    assert bpy.ops.sinew.apply_preset(preset="Cork") == {"FINISHED"}
    assert material_settings(bone) == MaterialSettings("Skull", 2e7, 0.0, 180.0)
    assert (bone.stiffness_unit, bone.stiffness_value) == ("MPA", pytest.approx(20.0))
    kept = bone.vertex_group, bone.stiffness_map, bone.depth_kind, round(bone.depth, 6)
    assert kept == ("Hard", "Range", "CORE", 0.3)
    assert bpy.ops.sinew.apply_preset(preset="Mine") == {"FINISHED"}
    assert material_settings(bone) == MaterialSettings("Skull", 1e9, 0.3, 1920.0, painted_modulus=1e10)
    assert material_settings(body.sinew.materials[0]) == flesh and len(body.sinew.materials) == 2


def test_keys_go_on_when_a_preset_is_applied_and_that_is_told(body, capfd):
    material = body.sinew.materials[0]
    for frame, value in ((1, 5.0), (3, 6.0)):
        material.log_stiffness = value
        assert body.keyframe_insert("sinew.materials[0].log_stiffness", frame=frame)
    assert bpy.ops.sinew.apply_preset(preset="Steel") == {"FINISHED"}
    assert "Stiffness of “Soft Flesh” is animated: its keys override the preset" in capfd.readouterr().out
    bpy.context.scene.frame_set(3)
    assert (material.log_stiffness, material.density) == (6.0, 7850.0)
    body.animation_data_clear()
    bpy.ops.sinew.apply_preset(preset="Steel")
    assert "animated" not in capfd.readouterr().out
    assert material_settings(material).youngs_modulus == 2e11


def test_a_folder_that_cannot_be_made_is_told(body, own_folder):
    own_folder.parent.parent.mkdir(exist_ok=True)
    own_folder.parent.write_text("a file in the way")
    with pytest.raises(StoreError, match="cannot be created"):
        own_presets.save(MaterialSettings("New"))
    with pytest.raises(RuntimeError, match="Check that you can write there"):
        bpy.ops.sinew.save_preset(name="New")
