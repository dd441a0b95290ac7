"""Asset library: files, registration, and physical values of Blender materials that are dropped onto meshes."""

from __future__ import annotations

import dataclasses
import os
import shutil
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import baking
from sinew.blender_addon.scene_import.settings_in import material_settings, shader_settings
from sinew.blender_addon.setup import asset_library, dropped_materials, slot_materials
from sinew.core.foundation.errors import MaterialError, StoreError
from sinew.core.mechanics.materials.presets import MEASURED, PRESETS

KINDS = {"materials": "materials", "bodies": "objects", "node_groups": "node_groups"}


def load(file, names=None, folder=asset_library.FOLDER):
    """Append assets of a file of the library, by default all. Returns them by name."""
    with bpy.data.libraries.load(str(folder / f"{file}.blend"), assets_only=True) as (there, here):
        setattr(here, KINDS[file], list(names or getattr(there, KINDS[file])))
    return {block.name: block for block in getattr(here, KINDS[file])}


@pytest.fixture
def cube(empty_file):
    bpy.ops.mesh.primitive_cube_add()
    return bpy.context.object


@pytest.fixture
def no_library():
    yield
    asset_library.remove()


def test_assets_are_catalogued_described_and_have_previews():
    lines = (asset_library.FOLDER / asset_library.CATALOGS).read_text().splitlines()[2:]
    catalogs = {line.partition(":")[0] for line in lines}
    for file in KINDS:
        for block in load(file).values():
            data = block.asset_data
            assert data.catalog_id in catalogs and data.author and data.license and data.tags["sinew"]
            assert len(data.description) > 20
            pixels = np.empty(4 * np.prod(block.preview.image_size), dtype=np.float32)
            block.preview.image_pixels_float.foreach_get(pixels)
            alpha = pixels.reshape(-1, 4)[:, 3]
            assert 0.05 < alpha.mean() < 0.95 and pixels.reshape(-1, 4)[alpha > 0.5, :3].std() > 0.01


def test_materials_carry_the_values_of_the_presets():
    found = load("materials")
    assert set(found) == {preset.name for preset in PRESETS} == set(MEASURED)
    for preset in PRESETS:
        assert shader_settings(found[preset.name]) == preset
        measured = MEASURED[preset.name]
        assert measured.is_effective != (measured.lowest <= preset.youngs_modulus <= measured.highest)
        assert measured.source in found[preset.name].asset_data.description


def test_a_material_on_all_faces_sets_the_first_physical_material(cube):
    cube.data.materials.append(load("materials", ["Rubber"])["Rubber"])
    assert bpy.ops.sinew.apply_shader() == {"FINISHED"}
    (material,) = cube.sinew.materials
    assert cube.sinew.enabled and material_settings(material) == next(p for p in PRESETS if p.name == "Rubber")
    material.name = "Sole"  # a name that the user chose is kept
    cube.data.materials[0] = load("materials", ["Wood"])["Wood"]
    assert bpy.ops.sinew.apply_shader() == {"FINISHED"}
    assert [(m.name, m.stiffness_value) for m in cube.sinew.materials] == [("Sole", 10.0)]


def test_a_material_on_some_faces_sets_their_part(cube):
    shaders = load("materials", ["Rubber", "Bone", "Steel"])
    for name in ("Rubber", "Bone"):
        cube.data.materials.append(shaders[name])
    bpy.ops.sinew.enable()
    fitted = cube.sinew.materials[0].log_stiffness
    cube.vertex_groups.new(name="Bone").add([0], 0.5, "REPLACE")  # of an armature, say
    top = max(cube.data.polygons, key=lambda face: face.center.z)
    top.material_index, corners = 1, list(top.vertices)
    for name in ("Bone", "Steel"):
        cube.data.materials[1] = shaders[name]
        assert bpy.ops.sinew.apply_shader(object_name=cube.name, shader_name=name) == {"FINISHED"}
        assert [m.name for m in cube.sinew.materials] == ["Soft Flesh", name]
        part = cube.sinew.materials[1]
        assert part.vertex_group == "Bone 2" and cube.sinew.active_material == 1
    assert cube.sinew.materials[0].log_stiffness == fitted, "the rest of the body is as it was"
    group = cube.vertex_groups["Bone 2"]
    assert {v.index for v in cube.data.vertices if group.index in [g.group for g in v.groups]} == set(corners)
    assert group.weight(corners[0]) == pytest.approx(1.0 / 3.0), "one of the three faces of a corner"
    assert cube.vertex_groups["Bone"].weight(0) == 0.5


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda cube, shader: setattr(shader.sinew, "is_physical", False), "carries no physical values"),
        (lambda cube, shader: cube.data.materials.clear(), "No face"),
        (lambda cube, shader: cube.data.materials.append(None) or cube.data.polygons.foreach_set(
            "material_index", [1] * 6), "No face"),
    ],
)  # fmt: skip
def test_values_that_cannot_be_taken_change_nothing(cube, spoil, words):
    shader = load("materials", ["Rubber"])["Rubber"]
    cube.data.materials.append(shader)
    spoil(cube, shader)
    with pytest.raises(MaterialError, match=words):
        slot_materials.apply_shader(cube, shader, bpy.context)
    assert not cube.sinew.enabled and not cube.sinew.materials


def test_only_a_drop_is_noticed(cube, monkeypatch):
    """The handler that Blender calls, with the operators that Blender lists after a drop."""
    timers = []
    monkeypatch.setattr(bpy.app.timers, "register", lambda call, **_: timers.append(call))
    shader = load("materials", ["Rubber"])["Rubber"]
    cube.data.materials.append(shader)
    twin = bpy.data.objects.new("Twin", cube.data)
    bpy.context.scene.collection.objects.link(twin)
    graph = SimpleNamespace(
        updates=[
            SimpleNamespace(id=obj.evaluated_get(bpy.context.evaluated_depsgraph_get()), is_updated_transform=moved)
            for obj, moved in ((twin, False), (cube, True))
        ]
    )

    def listed(*names):
        made = [
            SimpleNamespace(bl_idname=name, as_pointer=lambda: 8, properties=SimpleNamespace(session_uid=uid))
            for name, uid in names
        ]
        context = SimpleNamespace(window_manager=SimpleNamespace(operators=made), object=cube)
        monkeypatch.setattr(dropped_materials, "bpy", SimpleNamespace(context=context, types=bpy.types, app=bpy.app))
        dropped_materials.notice(bpy.context.scene, graph)
        monkeypatch.setattr(dropped_materials, "bpy", bpy)

    listed(("MATERIAL_OT_new", 0))
    assert not timers
    drop = "OBJECT_OT_drop_named_material", shader.session_uid
    listed(drop)
    listed(drop)
    assert len(timers) == 1, "each drop once"
    bpy.ops.ed.undo_push(message="Drop")
    timers[0]()
    assert cube.sinew.enabled and not twin.sinew.enabled
    bpy.ops.ed.undo()
    assert len(timers) == 2, "after the values are undone, a second undo is scheduled, of the drop"


@pytest.mark.parametrize("slots", [1, 2])
def test_a_drop_in_the_outliner_adds_a_slot(cube, monkeypatch, slots):
    """Its operator does not name the material. A slot that no face shows changes no body, and a popup says so."""
    shaders, timers, shown = load("materials", ["Bone", "Rubber"]), [], []
    monkeypatch.setattr(bpy.app.timers, "register", lambda call, **_: timers.append(call))
    monkeypatch.setattr(dropped_materials, "_show", shown.append)
    if slots == 2:
        cube.data.materials.append(shaders["Bone"])
        assert bpy.ops.sinew.apply_shader() == {"FINISHED"}
    cube.data.materials.append(shaders["Rubber"])
    evaluated = cube.evaluated_get(bpy.context.evaluated_depsgraph_get())
    graph = SimpleNamespace(updates=[SimpleNamespace(id=evaluated, is_updated_transform=False)])
    drop = SimpleNamespace(bl_idname="OUTLINER_OT_material_drop", as_pointer=lambda: 8, properties=SimpleNamespace())
    context = SimpleNamespace(window_manager=SimpleNamespace(operators=[drop]), object=None)
    monkeypatch.setattr(dropped_materials, "bpy", SimpleNamespace(context=context, types=bpy.types, app=bpy.app))
    dropped_materials.notice(bpy.context.scene, graph)
    monkeypatch.setattr(dropped_materials, "bpy", bpy)
    (apply,) = timers
    apply()
    assert [m.name for m in cube.sinew.materials] == [["Rubber"], ["Bone"]][slots - 1]
    assert [("No face of “Cube” shows" in words, "Assign it to faces" in words) for words in shown] == [(True, True)][
        : slots - 1
    ]


def test_values_are_stored_in_a_material_for_other_meshes(cube):
    bpy.ops.sinew.enable()
    cube.active_material = bpy.data.materials.new("Mine")
    cube.sinew.materials[0].density = 777.0
    assert bpy.ops.sinew.store_in_shader() == {"FINISHED"}
    wanted = material_settings(cube.sinew.materials[0])
    assert dataclasses.replace(shader_settings(bpy.data.materials["Mine"]), name=wanted.name) == wanted


def test_the_library_is_added_once_and_removed(no_library, monkeypatch, tmp_path):
    libraries = bpy.context.preferences.filepaths.asset_libraries
    before = len(libraries)
    assert bpy.ops.sinew.add_asset_library() == {"FINISHED"}
    assert bpy.ops.sinew.add_asset_library() == {"CANCELLED"}
    assert len(libraries) == before + 1
    # Another Blender version had the extension elsewhere.
    asset_library.registered().path = str(tmp_path / "gone")
    assert bpy.ops.sinew.add_asset_library() == {"FINISHED"} and len(libraries) == before + 1
    assert bpy.ops.sinew.remove_asset_library() == {"FINISHED"} and len(libraries) == before
    monkeypatch.setattr(asset_library, "FOLDER", tmp_path / "none")
    with pytest.raises(StoreError, match="Install the extension again"):
        asset_library.add()


def test_a_library_that_is_read_only_is_read(no_library, monkeypatch, tmp_path):
    folder = tmp_path / "assets"
    shutil.copytree(asset_library.FOLDER, folder)
    for path in (*folder.iterdir(), folder):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    monkeypatch.setattr(asset_library, "FOLDER", folder)
    try:
        assert bpy.ops.sinew.add_asset_library() == {"FINISHED"}
        assert load("materials", ["Steel"], folder)["Steel"].sinew.is_physical
        assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before
    finally:
        os.chmod(folder, 0o755)


def test_bodies_are_ready_to_bake():
    for body in load("bodies").values():
        bpy.context.scene.collection.objects.link(body)
        settings = body.sinew
        assert settings.enabled and settings.materials and settings.collisions.use_ground
        assert not settings.identity and settings.collisions.collection is None and body.parent is None


def test_assets_bake(cube, saved):
    """Each body, and a cube of a material of the library."""
    cube.data.materials.append(load("materials", ["Rubber"])["Rubber"])
    assert bpy.ops.sinew.apply_shader() == {"FINISHED"}
    scene = bpy.context.scene
    scene.frame_end = scene.frame_start + 2
    bodies = [cube, *load("bodies").values()]
    scene.collection.objects.unlink(cube)
    for body in bodies:
        scene.collection.objects.link(body)
        body.location.z += 5.0
        if not any(material.muscle.origin_group for material in body.sinew.materials):  # muscles need their cells
            body.sinew.cells_across = min(body.sinew.cells_across, 12)
        bpy.context.view_layer.objects.active = body
        assert bpy.ops.sinew.bake() == {"FINISHED"}
        store = baking.open_store(body)
        first, last = (store.read(frame) for frame in (store.frames()[0], store.frames()[-1]))
        assert np.isfinite(last).all() and last[:, 2].mean() < first[:, 2].mean(), body.name
        scene.collection.objects.unlink(body)


def test_node_groups_store_maps(cube):
    bpy.ops.object.modifier_add(type="SUBSURF")
    cube.modifiers[0].subdivision_type, cube.modifiers[0].levels = "SIMPLE", 4
    bpy.ops.object.modifier_apply(modifier=cube.modifiers[0].name)
    bpy.ops.mesh.primitive_cube_add(size=0.5, location=(1.0, 0.0, 0.0))
    bone = bpy.context.object
    for group in load("node_groups").values():
        assert group.is_modifier
        modifier = cube.modifiers.new(group.name, "NODES")
        modifier.node_group = group
        sockets = {item.name: item for item in group.interface.items_tree}
        name = sockets["Attribute"].default_value
        if "Object" in sockets:
            key = sockets["Object"].identifier
            if hasattr(modifier, "properties"):
                getattr(modifier.properties.inputs, key).value = bone
            else:
                modifier[key] = bone
        mesh = cube.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        weights = np.empty(len(mesh.vertices), dtype=np.float32)
        mesh.attributes[name].data.foreach_get("value", weights)
        x, _, z = np.array([vertex.co for vertex in mesh.vertices]).T
        if name == "Pins":
            assert (weights[z > 0.9] == 1.0).all() and (weights[z < 0.6] == 0.0).all()
        elif name == "Near":
            assert weights[x > 0.99].max() == 1.0 and (weights[x < 0.5] == 0.0).all()
        else:
            assert 0.0 <= weights.min() and weights.max() <= 1.0
        cube.modifiers.remove(modifier)
