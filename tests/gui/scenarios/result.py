"""The result of a bake on shape keys, converted to Geometry Nodes by the child process and back, with undo."""

import bpy
import numpy as np


def make_body(gui):
    with gui.context():
        gui.clear()
        bpy.ops.mesh.primitive_monkey_add()
        bpy.ops.sinew.enable()
    obj = bpy.context.view_layer.objects.active
    back = [v.index for v in obj.data.vertices if v.co.y > 0.5]
    obj.vertex_groups.new(name="Pins").add(back, 1.0, "REPLACE")
    obj.sinew.pin_group, obj.sinew.cells_across = "Pins", 10
    obj.sinew.solver, obj.sinew.modes = "subspace_mixed_fem", 6
    obj.sinew.use_scene_range, obj.sinew.frame_end = False, 20


def body():
    """The object by name: references do not outlive an undo."""
    return bpy.data.objects["Suzanne"]


def there():
    """Return the place of the result: its type, shape keys, modifiers, node groups."""
    keys = body().data.shape_keys
    kinds = [modifier.type for modifier in body().modifiers]
    return [body().sinew.bake.kind, len(keys.key_blocks) if keys else 0, kinds, len(bpy.data.node_groups)]


def positions(frame):
    bpy.context.scene.frame_set(frame)
    result = body().evaluated_get(bpy.context.evaluated_depsgraph_get())
    flat = np.empty(3 * len(result.data.vertices), dtype=np.float32)
    result.data.vertices.foreach_get("co", flat)
    return flat


def in_hand():
    """Return the active object, the object whose bake it carries, and which of both is visible."""
    active = bpy.context.view_layer.objects.active
    seen = [name for name in ("Suzanne", "Suzanne Bake") if bpy.data.objects[name].visible_get()]
    return [active.name, active.sinew.bake_of, seen]


def on_a_duplicate(gui, running):
    """An armature puts the result on a duplicate: a click on that, Edit Source, and Bake Again."""
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    body().modifiers.new("Armature", "ARMATURE").object = rig
    body().sinew.result = "NODES"
    with gui.context():
        bpy.ops.sinew.convert_result()
    yield from gui.wait_until(lambda: running.current() is None, 120, "the duplicate is there")
    with gui.context():
        bpy.ops.view3d.view_axis(type="FRONT")
    yield from gui.settle()
    yield from gui.click(*gui.centre())
    yield from gui.settle()
    gui.record("clicked", in_hand())
    yield from gui.photograph("3-the-bake-is-active")
    with gui.context():
        bpy.ops.sinew.edit_source()
    gui.record("source", in_hand())
    yield from gui.photograph("4-the-source-is-edited")
    with gui.context():
        bpy.ops.sinew.show_bake()
        bpy.ops.sinew.bake("INVOKE_DEFAULT")  # asks
    yield from gui.photograph("5-bake-again")
    with gui.context():
        bpy.ops.sinew.bake("EXEC_DEFAULT")
    yield from gui.wait_until(lambda: running.current() is None, 480, "it is baked again")
    gui.record("baked again", [*in_hand(), body().sinew.bake.status])
    yield from gui.photograph("6-baked-again")


def with_the_demo_material(gui):
    """Attributes of the bake on the duplicate, their panel, and the material that reads them in the viewport."""
    with gui.context():
        bpy.ops.sinew.add_demo_material()
    shown = bpy.data.objects["Suzanne Bake"]
    bpy.context.scene.frame_set(15)
    names = shown.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.attributes.keys()
    gui.record("attributes", sorted(name for name in names if name.startswith("sinew_")))
    gui.record("material", shown.material_slots[0].material.name)
    gui.area().spaces.active.shading.type = "MATERIAL"
    yield from gui.scenario("manual").photograph_alone(gui, "attributes")
    gui.area().spaces.active.shading.type = "SOLID"


def to_an_engine(gui):
    """*Send to Engine*: the file browser with its settings, then a skeleton; the window shows the scene as before."""
    with gui.context():
        bpy.ops.sinew.send_to_engine("INVOKE_DEFAULT")
    yield from gui.settle()
    yield from gui.photograph("7-send-to-engine")
    browser = next(window for window in bpy.context.window_manager.windows if len(window.screen.areas) == 1)
    with bpy.context.temp_override(window=browser, area=browser.screen.areas[0]):
        bpy.ops.file.cancel()
    yield from gui.settle()
    camera = bpy.context.scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    bpy.context.scene.collection.objects.link(camera)
    view = gui.area().spaces.active.region_3d
    view.view_perspective = "CAMERA"

    def state():
        return [
            gui.window.scene.name,
            there(),
            len(bpy.data.scenes),
            len(bpy.data.objects),
            in_hand(),
            view.view_perspective,
        ]

    before = state()
    path = gui.session / "suzanne.glb"
    with gui.context():
        bpy.ops.sinew.send_to_engine(filepath=str(path), form="SKELETON", count=4)
    yield from gui.redraw()
    gui.record("sent", [path.stat().st_size > 10_000, state() == before])


def scenario(gui):
    running = gui.module("blender_addon.jobs.job_queue")
    make_body(gui)
    yield from gui.show_sidebar("Sinew")
    bpy.context.preferences.view.ui_scale = 0.65
    with gui.context():
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "result.blend"))
        bpy.ops.sinew.bake("INVOKE_DEFAULT")
    yield from gui.wait_until(lambda: running.current() is None, 480, "the bake is done")
    gui.record("keys", there())
    expected = positions(15)

    body().sinew.result = "NODES"
    yield from gui.photograph("1-asks-to-convert")
    with gui.context():
        bpy.ops.ed.undo_push(message="Before")
        bpy.ops.sinew.convert_result()
    gui.record("running", running.current() is not None)
    yield from gui.wait_until(lambda: running.current() is None, 120, "the result is converted")
    gui.record("nodes", there())
    gui.record("off", float(np.abs(positions(15) - expected).max()))
    gui.record("said", body().sinew.bake.error)
    yield from gui.photograph("2-nodes")

    yield from gui.move(*gui.centre())
    yield from gui.press("Z", ctrl=True)
    yield from gui.redraw()
    gui.record("after one undo", there())
    with gui.context():
        bpy.ops.ed.redo()
    gui.record("after redo", there())
    with gui.context():
        body().sinew.result = "KEYS"
        bpy.ops.sinew.convert_result()
    gui.record("keys again", there())
    yield from on_a_duplicate(gui, running)
    yield from with_the_demo_material(gui)
    yield from to_an_engine(gui)
    with gui.context():
        bpy.ops.sinew.delete_bake()
    gui.record("deleted", there())
