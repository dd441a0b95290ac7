"""A bake in the child process: bar, Esc, Resume, undo, a stale bake, Delete Bake; Blender stays free meanwhile."""

import os
import time

import bpy
from bl_ui.space_statusbar import STATUSBAR_HT_header

FRAMES = 24


def make_body(gui):
    with gui.context():
        gui.clear()
        bpy.ops.mesh.primitive_monkey_add()
        bpy.ops.sinew.enable()
        bpy.ops.sinew.add_material(preset="Bone")
    obj = bpy.context.view_layer.objects.active
    back = [v.index for v in obj.data.vertices if v.co.y > 0.5]
    ears = [v.index for v in obj.data.vertices if abs(v.co.x) > 0.9]
    obj.vertex_groups.new(name="Pins").add(back, 1.0, "REPLACE")
    obj.vertex_groups.new(name="Bone").add(ears, 1.0, "REPLACE")
    obj.sinew.pin_group, obj.sinew.materials[1].vertex_group = "Pins", "Bone"
    obj.sinew.cells_across = 12
    bpy.context.scene.frame_end = FRAMES
    return obj


def body():
    """The object by name: references do not outlive an undo."""
    return bpy.data.objects["Suzanne"]


def keys():
    mesh_keys = body().data.shape_keys
    return sum(key.name.startswith("Frame") for key in mesh_keys.key_blocks) if mesh_keys else 0


def toil(*_):
    """A handler for each frame that takes its time, as heavy rigs do."""
    end = time.thread_time() + 0.1
    while time.thread_time() < end:
        pass


def stopped_while_animation_is_read(gui, running):
    """Esc ends that too; nothing else is heard meanwhile, and the scene is back at its frame."""
    bpy.context.scene.frame_set(17)
    body().modifiers.new("Subdivision", "SUBSURF")
    bpy.app.handlers.frame_change_post.append(toil)
    with gui.context():
        bpy.ops.sinew.bake("INVOKE_DEFAULT")
    read = running.reading()
    gui.hold_reading()
    yield from gui.photograph("9-reading")
    gui.record("reading", [read is not None, len(gui.window.modal_operators), running.current() is None])
    yield from gui.move(*gui.centre())
    yield from gui.press("X")
    yield from gui.press("ESC")
    yield from gui.wait_until(lambda: running.reading() is None, 20, "the reading stops")
    bpy.app.handlers.frame_change_post.remove(toil)
    modifier = body().modifiers[0].show_viewport
    gui.record(
        "read no more",
        [0.0 < read.state.part < 1.0, bpy.context.scene.frame_current, modifier, running.current() is None],
    )
    yield
    gui.record("modal operators then", len(gui.window.modal_operators))


def browser():
    """Return a context override for the file browser in its own window."""
    window = bpy.context.window_manager.windows[-1]
    area = window.screen.areas[0]
    region = next(region for region in area.regions if region.type == "WINDOW")
    return bpy.context.temp_override(window=window, area=area, region=region)


def browsed(gui):
    """Press Save and Bake, and wait for the file browser."""
    with gui.context():
        bpy.ops.sinew.save_and_bake("INVOKE_DEFAULT")
    windows = bpy.context.window_manager.windows
    yield from gui.wait_until(lambda: len(windows) == 2 and windows[-1].screen.areas[0].spaces.active.params, 60, "it")
    yield from gui.settle()
    return windows[-1].screen.areas[0].spaces.active.params


def saved_and_baked(gui, running):
    """Cancelled first: nothing happens."""
    params = yield from browsed(gui)
    gui.record("asked for", [params.filename, params.title] if hasattr(params, "title") else [params.filename])
    yield from gui.photograph("1-where-to-save")
    with browser():
        bpy.ops.file.cancel()
    yield from gui.settle()
    gui.record("cancelled", [bpy.data.filepath, running.current() is None, len(bpy.context.window_manager.windows)])
    params = yield from browsed(gui)
    params.directory, params.filename = str(gui.session).encode(), "scene"
    with browser():
        bpy.ops.file.execute()
    yield from gui.wait_until(lambda: running.current() is not None, 60, "the bake begins")
    gui.record("saved as", bpy.data.filepath == str(gui.session / "scene.blend"))


def compiled_ahead(gui):
    """Record the panel's progress of compiling ahead, while nobody bakes."""
    compiling, preferences = gui.module("blender_addon.jobs.compiling"), gui.preferences()
    kept, os.environ["SINEW_KERNEL_CACHE"] = os.environ["SINEW_KERNEL_CACHE"], str(gui.session / "kernels")
    preferences.compile_ahead = True
    yield from gui.wait_until(lambda: compiling.state() is not None and compiling.state().phase.done, 300, "a share")
    state, child = compiling.state(), compiling._child.process
    gui.record("compiling", [0.0 < state.factor < 1.0, state.remaining(time.monotonic()) > 0.0])
    yield from gui.photograph("1-compiling")
    asked, preferences.compile_ahead = time.monotonic(), False
    gui.record("switched off", [child.poll() is not None, time.monotonic() - asked < 1.0, compiling.state() is None])
    os.environ["SINEW_KERNEL_CACHE"] = kept


def looked_at(gui, running):
    """The bake that is held is told by the status bar, which nothing else draws anew, and its newest frame is drawn."""
    drawn, status = [], gui.module("ui.bake").status_words
    STATUSBAR_HT_header.append(lambda header, context: drawn.append(status) if running.current() else None)
    yield from gui.wait_until(lambda: len(drawn) > 3, 60, "the status bar is drawn")
    bpy.context.scene.frame_set(2)
    with gui.context():
        bpy.ops.sinew.go_to_newest()
    yield from gui.redraw()
    newest = gui.module("blender_addon.registration")._layers[-1]
    ghosts, state = list(newest._ghosts.values()), running.current().state
    folder = running.current().order.folder
    gui.record(
        "newest",
        [
            bpy.context.scene.frame_current == state.newest,
            len(ghosts) == 1 and ghosts[0].batch(state.newest) is newest.batch(folder, 1000),
            newest.batch(folder, 2) is not newest.batch(folder, 1000),
        ],
    )


def asked_after_a_while(gui, running):
    """Esc in the 3D View, of a bake that has run for long: a question, which another Esc cancels."""
    module = gui.module("operators.bake")
    before, module.ASKS_AFTER = module.ASKS_AFTER, 0.0
    yield from gui.move(*gui.centre())
    yield from gui.press("ESC")
    yield from gui.photograph("3-asks")
    gui.record("asked", running.current().state.stage.name)
    yield from gui.press("ESC")
    yield from gui.settle()
    gui.record("not stopped", running.current().state.stage.name)
    module.ASKS_AFTER = before


def scenario(gui):
    running = gui.module("blender_addon.jobs.job_queue")
    make_body(gui)
    yield from gui.show_sidebar("Sinew")
    bpy.context.preferences.view.ui_scale = 0.65
    gui.record("bake before saving", bpy.ops.sinew.bake.poll())
    yield from gui.photograph("1-unsaved")
    yield from compiled_ahead(gui)
    with gui.context():
        bpy.ops.ed.undo_push(message="Before")
    yield from saved_and_baked(gui, running)
    gui.record("running", running.current() is not None)
    yield from gui.wait_until(lambda: running.current().state.phase.phase != "", 120, "the child says something")
    yield from gui.halt(0)  # a photograph takes longer than a fast machine's whole bake
    yield from gui.photograph("2-first-phase")
    gui.go_on()
    yield from gui.halt(5)
    gui.record("modal operators", len(gui.window.modal_operators))
    yield from looked_at(gui, running)
    yield from gui.photograph("3-baking")
    yield from asked_after_a_while(gui, running)
    yield from gui.stop()
    gui.record("stopped", [body().sinew.bake.status, body().sinew.bake.frames, keys()])
    yield from gui.photograph("4-stopped")

    yield from gui.resume()
    bpy.context.scene.frame_set(20)
    gui.record("done", [body().sinew.bake.status, body().sinew.bake.frames, keys()])
    yield from gui.photograph("5-done")
    with gui.context():
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "windowed.blend"), copy=True)

    yield from gui.move(*gui.centre())
    yield from gui.press("Z", ctrl=True)
    yield from gui.redraw()
    gui.record("after one undo", [body().sinew.bake.status, keys()])
    yield from gui.press("Z", ctrl=True)
    yield from gui.redraw()
    gui.record("after two undos", [body().sinew.bake.status, keys(), body().sinew.enabled, len(body().vertex_groups)])
    yield from gui.photograph("6-undone")
    with gui.context():
        bpy.ops.ed.redo()
        bpy.ops.ed.redo()
    gui.record("after redo", [body().sinew.bake.status, keys()])

    body().sinew.materials[0].density = 900.0
    with gui.context():
        bpy.ops.sinew.check_bake()
    gui.record("stale", body().sinew.bake.stale)
    yield from gui.photograph("7-stale")
    with gui.context():
        bpy.ops.sinew.delete_bake()
    gui.record("deleted", [body().sinew.bake.status, keys(), (gui.session / "sinew_cache" / "scene").is_dir()])
    yield from gui.photograph("8-deleted")
    yield from stopped_while_animation_is_read(gui, running)
