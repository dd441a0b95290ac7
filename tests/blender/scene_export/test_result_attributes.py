"""Results as named attributes: values at each frame, with each kind of result, and attributes that are refused."""

from __future__ import annotations

import subprocess
import sys

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import baking
from sinew.blender_addon.scene_export.result_attributes import PREFIX
from sinew.core.geometry.mesh.surface_stretch import principal_stretches

from ..scenes import keyed
from .test_handles_out import carrier, data_blocks

ALL = ("stress", "stretch", "compression", "pressure", "displacement", "velocity")
HALF = 0.5


@pytest.fixture
def marked(body):
    """The bar with all attributes, turned and scaled; lengths are in half metres."""
    bpy.context.scene.unit_settings.scale_length = HALF
    body.scale = (1.5, 0.5, 2.0)
    keyed(body, "rotation_euler", (1, (0.0, 0.0, 0.0)), (4, (0.2, 0.5, -0.3)))
    for name in ALL:
        setattr(body.sinew.attributes, name, True)
    return body


def values(obj, name, frame, count=None):
    """The values of a result's attribute at a frame, of the first ``count`` vertices."""
    bpy.context.scene.frame_set(int(np.floor(frame)), subframe=frame - np.floor(frame))
    attribute = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.attributes[f"{PREFIX}{name}"]
    assert attribute.domain == "POINT"
    prop, width = {"FLOAT": ("value", 1), "FLOAT_VECTOR": ("vector", 3)}[attribute.data_type]
    found = np.empty(width * len(attribute.data), dtype=np.float32)
    attribute.data.foreach_get(prop, found)
    return found.reshape(-1, width)[:count].squeeze()


def local(obj, store, frame):
    """Positions of a stored frame in object coordinates."""
    matrix = store.job().frame_matrices[frame - store.job().frame_start]
    return (store.read(frame) - matrix[:3, 3]) @ np.linalg.inv(matrix[:3, :3]).T


@pytest.mark.parametrize("kind", ["KEYS", "NODES", "CACHE"])
@pytest.mark.parametrize("on_duplicate", [False, True])
def test_attributes_follow_the_frames(marked, saved, kind, on_duplicate):
    marked.sinew.result, marked.sinew.result_modes = kind, 12
    if on_duplicate:  # a simulated modifier makes the vertices
        marked.modifiers.new("Fine", "SUBSURF").levels = 1
        marked.sinew.simulate_at, marked.sinew.simulate_after = "MODIFIER", "Fine"
    marked.modifiers.new("Subdivision", "SUBSURF").levels = 1
    assert bpy.ops.sinew.bake() == {"FINISHED"}, marked.sinew.bake.message
    assert marked.sinew.bake.message == "" and (carrier(marked) != marked) == on_duplicate
    assert [m.name for m in carrier(marked).modifiers][-2:] == ["Bake Attributes", "Subdivision"]
    store, shown = baking.open_store(marked), carrier(marked)
    job, whole = store.job(), len(values(shown, "stress", 2))
    assert whole > len(job.body.surface.positions), "subdivided after the bake"
    shown.modifiers["Subdivision"].show_viewport = False
    rest = local(marked, store, 1)
    near = dict(rtol=1e-5, atol=1e-5)
    for frame in (1, 3, 4):
        stretches = principal_stretches(job.body.surface.positions, job.body.surface.triangles, store.read(frame))
        np.testing.assert_allclose(values(shown, "stress", frame), store.stress(frame), rtol=1e-5, atol=1e-2)
        np.testing.assert_allclose(values(shown, "stretch", frame), stretches[:, 0], **near)
        np.testing.assert_allclose(values(shown, "compression", frame), stretches[:, 1], **near)
        assert (values(shown, "pressure", frame) == 0.0).all()
        moved = local(marked, store, frame) - rest
        np.testing.assert_allclose(values(shown, "displacement", frame), moved, atol=1e-5 if kind != "NODES" else 1e-3)
        a, b = max(frame - 1, 1), min(frame + 1, 4)
        speed = (local(marked, store, b) - local(marked, store, a)) * job.frame_rate / (b - a)
        np.testing.assert_allclose(values(shown, "velocity", frame), speed, rtol=1e-5, atol=1e-4)
    between = 0.25 * store.stress(4) + 0.75 * store.stress(3)
    np.testing.assert_allclose(values(shown, "stress", 3.25), between, rtol=1e-5, atol=1e-2)
    assert store.stress(4).max() > 10.0


def test_they_play_in_a_blender_without_sinew(marked, saved, tmp_path):
    marked.sinew.attributes.velocity = False
    bpy.ops.sinew.bake()
    expected = values(marked, "stress", 3)
    bpy.ops.wm.save_mainfile()
    script = f"""
import bpy, numpy as np
bpy.ops.wm.open_mainfile(filepath={str(saved)!r})
bpy.context.scene.frame_set(3)
body = bpy.data.objects["Body"].evaluated_get(bpy.context.evaluated_depsgraph_get())
found = np.empty(len(body.data.vertices), dtype=np.float32)
body.data.attributes["sinew_stress"].data.foreach_get("value", found)
np.save({str(tmp_path / "played.npy")!r}, found)
"""
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, timeout=120)
    assert np.array_equal(np.load(tmp_path / "played.npy"), expected)


@pytest.mark.parametrize("kind", ["KEYS", "NODES", "CACHE"])
@pytest.mark.parametrize("own_keys", [False, True])
def test_nothing_is_left_behind(marked, saved, kind, own_keys):
    """By other choices and Convert Result, by a second bake, and by Delete Bake."""
    if own_keys:
        marked.shape_key_add(name="Basis")
    marked.sinew.result, marked.sinew.result_modes = kind, 4
    before = data_blocks()
    bpy.ops.sinew.bake()
    first = data_blocks()
    bpy.ops.sinew.bake()
    assert data_blocks() == first and not bpy.ops.sinew.convert_result.poll()
    for name in ALL[:-1]:
        setattr(marked.sinew.attributes, name, False)
    assert bpy.ops.sinew.convert_result() == {"FINISHED"}
    assert values(carrier(marked), "velocity", 2).any()
    evaluated = carrier(marked).evaluated_get(bpy.context.evaluated_depsgraph_get())
    assert f"{PREFIX}stress" not in evaluated.data.attributes
    bpy.ops.sinew.check_bake()
    assert marked.sinew.bake.stale == ""
    bpy.ops.sinew.delete_bake()
    assert data_blocks() == before and not marked.modifiers


def test_names_of_the_artist_are_kept(marked, saved):
    """A taken name stops the bake before it simulates. Taken afterwards, the result comes without attributes."""
    own = marked.data.attributes.new("sinew_stress", "INT", "FACE")
    own.data.foreach_set("value", np.full(len(own.data), 7))
    with pytest.raises(RuntimeError, match="an attribute “sinew_stress” of its own.*Rename"):
        bpy.ops.sinew.bake()
    assert marked.sinew.bake.status == "NONE" and not baking.has_frames(marked)
    own.name = "mine"
    bpy.ops.sinew.bake()
    group = marked.vertex_groups.new(name="sinew_velocity")
    group.add([3], 0.5, "REPLACE")
    marked.sinew.attributes.stretch = False
    assert bpy.ops.sinew.convert_result() == {"FINISHED"}
    assert "a vertex group “sinew_velocity”" in marked.sinew.bake.message and not marked.modifiers
    assert marked.data.shape_keys is not None and group.weight(3) == 0.5
    assert [each.value for each in marked.data.attributes["mine"].data] == [7] * len(marked.data.polygons)


def test_frames_without_stress_say_so(marked, saved):
    """Frames that were baked without *Stress* are reported, until the body is baked again."""
    marked.sinew.attributes.stress = False
    bpy.ops.sinew.bake()
    marked.sinew.attributes.stress = True
    assert bpy.ops.sinew.convert_result() == {"FINISHED"}
    assert "hold no stress: press Bake Again" in marked.sinew.bake.message
    shown = marked.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.attributes
    assert f"{PREFIX}stretch" in shown and f"{PREFIX}stress" not in shown
    assert not bpy.ops.sinew.convert_result.poll(), "nothing is gained by another conversion"
    bpy.ops.sinew.bake()
    assert marked.sinew.bake.message == "" and values(marked, "stress", 3).any()


def test_contact_pressure_carries_the_weight(body, saved):
    """A block that has come to rest on the ground: the pressure over the area of its skin is its weight."""
    body.sinew.pin_group = ""
    body.location.z = 0.002
    body.sinew.collisions.use_ground = True
    body.sinew.attributes.pressure = body.sinew.attributes.displacement = True
    body.sinew.mass_damping, body.sinew.frame_end = 8.0, 40
    body.modifiers.new("Fine", "SUBSURF").levels = 2
    body.modifiers["Fine"].subdivision_type = "SIMPLE"
    body.sinew.simulate_at, body.sinew.simulate_after = "MODIFIER", "Fine"
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    store, shown = baking.open_store(body), body.sinew.bake.result
    surface = type(store.job().body.surface)(store.read(40), store.job().body.surface.triangles)
    weight = 9.81 * body.sinew.bake.body_mass
    assert values(shown, "pressure", 40) @ surface.vertex_areas == pytest.approx(weight, rel=0.01)
    assert (values(shown, "pressure", 1) == 0.0).all()


@pytest.mark.parametrize("own_keys", [False, True])
def test_the_demo_material_shows_the_bake(body, saved, own_keys):
    """On the object alone: the mesh keeps its material, and the next bake shows the skin, too."""
    skin = bpy.data.materials.new("Own")
    body.data.materials.append(skin)
    if own_keys:
        body.shape_key_add(name="Basis")
    bpy.ops.sinew.bake()
    assert bpy.ops.sinew.add_demo_material() == {"FINISHED"}
    slot = carrier(body).material_slots[0]
    material = slot.material
    assert slot.link == "OBJECT" and material.name.startswith("Stretch Marks")
    assert body.data.materials[0] == skin and values(carrier(body), "stretch", 4).max() > 1.001
    bpy.ops.sinew.bake()
    assert carrier(body).material_slots[0].material == material
    read = {node.attribute_name for node in material.node_tree.nodes if node.type == "ATTRIBUTE"}
    assert read == {f"{PREFIX}{name}" for name in ("stretch", "compression", "pressure")}
    assert read < {a.name for a in carrier(body).evaluated_get(bpy.context.evaluated_depsgraph_get()).data.attributes}
