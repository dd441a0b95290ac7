"""Blender in another language, which gives what it makes other names: a bake, Esc, Resume, its kinds of result."""

import bpy

FRAMES = 20


def speak(language):
    """Have the interface, tooltips, reports and new data in a language."""
    bpy.context.preferences.use_preferences_save = False  # the next scenario finds it as it was
    view = bpy.context.preferences.view
    view.language = language
    for what in ("interface", "tooltips", "reports", "new_dataname"):
        if hasattr(view, f"use_translate_{what}"):
            setattr(view, f"use_translate_{what}", True)


def make_body(gui):
    """A cube that is held at one end; its name."""
    with gui.context():
        gui.clear()
        bpy.ops.mesh.primitive_cube_add(size=0.4)
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.subdivide(number_cuts=3)
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.ops.sinew.enable()
        bpy.ops.sinew.add_material(preset="Bone")
        bpy.ops.sinew.paint_material()
        bpy.ops.object.mode_set(mode="OBJECT")
    obj = bpy.context.object
    held = [v.index for v in obj.data.vertices if v.co.x < -0.15]
    group = obj.vertex_groups.new()
    group.add(held, 1.0, "REPLACE")
    settings = obj.sinew
    settings.pin_group, settings.cells_across, settings.result_modes = group.name, 12, 4
    bpy.context.scene.frame_end = FRAMES
    return obj.name


def there(name):
    """Return the status of the bake and the place of its result."""
    obj = bpy.data.objects[name]
    keys = obj.data.shape_keys
    return [obj.sinew.bake.status, obj.sinew.bake.kind, len(keys.key_blocks) if keys else 0, len(obj.modifiers)]


def stopped_and_resumed(gui, name):
    """By Esc, and to its end."""
    with gui.context():
        bpy.ops.sinew.bake("INVOKE_DEFAULT")
    yield from gui.halt(2)
    yield from gui.photograph("1-baking")
    yield from gui.stop()
    gui.record("stopped", there(name))
    yield from gui.resume()
    gui.record("resumed", there(name))
    yield from gui.photograph("2-done")


def scenario(gui):
    running = gui.module("blender_addon.jobs.job_queue")
    speak(gui.parameters["language"])
    yield from gui.show_sidebar("Sinew")
    bpy.context.preferences.view.ui_scale = 0.65
    name = make_body(gui)
    gui.record("name", name)
    with gui.context():
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "language.blend"))
    yield from stopped_and_resumed(gui, name)
    settings = bpy.data.objects[name].sinew
    for kind in ("NODES", "KEYS"):
        settings.result = kind
        with gui.context():
            bpy.ops.sinew.convert_result()
        yield from gui.wait_until(lambda: running.current() is None, 120, "the result is converted")
        gui.record(kind, there(name))
    with gui.context():
        gui.record("check", [*bpy.ops.sinew.check_bake(), settings.bake.stale])
        bpy.ops.sinew.delete_bake()
    gui.record("deleted", there(name))
    yield from gui.photograph("3-deleted")
