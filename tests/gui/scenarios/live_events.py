"""Undo, save, Tab, another scene, another file, switching off ... while a body is played with; what is drawn."""

import os
from pathlib import Path

import bpy


def prepared(gui, scene):
    """A body that a real child has prepared; from now on a child answers that needs no time."""
    live = gui.module("blender_addon.live.live")
    scene.make_body(gui)
    with gui.context():
        bpy.context.object.sinew.solver = "subspace_mixed_fem"
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "events.blend"))
        bpy.ops.sinew.live_play("INVOKE_DEFAULT")
    session = live.current()
    yield from gui.wait_until(lambda: session.state.frame >= 3, 500, "three frames")
    for shown in ("STIFFNESS", "WEIGHTS", "CLUSTERS", "POINTS"):
        scene.body().sinew.live.show = shown
        yield
        yield from gui.photograph(f"show-{shown.lower()}")
        if shown == "WEIGHTS":
            gui.record("weights", gui.module("blender_addon.live.live_view").words(session)[-1])
    scene.body().sinew.live.show = "OBJECT"
    os.environ["SINEW_FAKE_HANDLES"] = str(len(session.state.handles))
    live.stop()
    gui.module("core.foundation.process.child_process").WORKER = (
        Path(__file__).resolve().parents[1] / "fake_live_worker.py"
    )


def play(gui, scene):
    """Play, and wait for frames."""
    live = gui.module("blender_addon.live.live")
    with gui.context():
        bpy.ops.sinew.live_play("INVOKE_DEFAULT")
    yield from gui.wait_until(lambda: live.current() is not None and live.current().state.frame >= 3, 60, "it plays")


def state(gui):
    """Return whether live mode plays, whether the mesh is hidden, and the message."""
    live, obj = gui.module("blender_addon.live.live"), bpy.data.objects.get("Suzanne")
    if obj is None:
        return [live.current() is not None, None, ""]
    return [live.current() is not None, obj.hide_get(), obj.sinew.live.message]


def undo_and_redo(gui, scene):
    """An edit before, one while playing; undone while playing and after."""
    with gui.context():
        bpy.ops.ed.undo_push(message="Before")
        bpy.ops.object.empty_add(location=(3.0, 0.0, 0.0))
        bpy.context.view_layer.objects.active = scene.body()
        bpy.ops.ed.undo_push(message="Active")
    yield from play(gui, scene)
    with gui.context():
        bpy.context.scene.cursor.location = (1.0, 0.0, 0.0)
        bpy.ops.ed.undo_push(message="While live")
    yield from gui.move(*gui.centre())
    yield from gui.press("Z", ctrl=True)
    yield from gui.frames()
    gui.record("after undo", state(gui))
    yield from gui.press("Z", ctrl=True, shift=True)
    yield from gui.frames()
    gui.record("after redo", state(gui))
    yield from gui.photograph("after-redo")
    yield from gui.press("ESC")
    gui.record("after Esc", state(gui))
    for _ in range(2):
        yield from gui.press("Z", ctrl=True)
    yield from gui.press("Z", ctrl=True, shift=True)
    yield from gui.press("Z", ctrl=True, shift=True)
    gui.record("after undo and redo of what was done while live", [*state(gui), scene.body().sinew.live_layer])


def ends_by(gui, scene, name, what):
    """Play, do something, and see how it is then."""
    live, running = gui.module("blender_addon.live.live"), gui.module("blender_addon.jobs.job_queue")
    yield from play(gui, scene)
    result = what()
    if result is not None:
        yield from result
    yield from gui.frames()
    gui.record(name, [*state(gui), running.current() is not None, len(gui.window.modal_operators)])
    if live.current() is not None:
        live.stop()
    yield


def operator(gui, call):
    """A function that calls an operator in the 3D View."""

    def run():
        with gui.context():
            call()

    return run


def in_the_same_file(gui, scene):
    """End live mode by events that load no other file."""
    yield from ends_by(gui, scene, "Tab", lambda: gui.press("TAB"))
    yield from ends_by(gui, scene, "reveal", operator(gui, bpy.ops.object.hide_view_clear))
    yield from ends_by(gui, scene, "save", operator(gui, bpy.ops.wm.save_mainfile))
    first, before = gui.window.scene, gui.window.workspace

    def another_scene():
        gui.window.scene = bpy.data.scenes.new("Another")

    yield from ends_by(gui, scene, "another scene", another_scene)
    gui.window.scene = first
    bpy.data.scenes.remove(bpy.data.scenes["Another"])

    def another_workspace():
        gui.window.workspace = bpy.data.workspaces["Shading"]

    yield from ends_by(gui, scene, "another workspace", another_workspace)
    gui.window.workspace = before
    yield from gui.settle()
    yield from ends_by(gui, scene, "another window", operator(gui, bpy.ops.wm.window_new))
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[-1]):
        bpy.ops.wm.window_close()
    yield from gui.settle()


def with_other_files(gui, scene):
    """Another file, the body deleted, the extension switched off."""
    opened = operator(gui, lambda: bpy.ops.wm.open_mainfile(filepath=str(gui.session / "events.blend")))
    yield from play(gui, scene)
    opened()
    yield from gui.settle()
    gui.record("another file", [*state(gui), gui.module("blender_addon.jobs.job_queue").current() is not None])
    yield from ends_by(gui, scene, "deleted", lambda: bpy.data.objects.remove(scene.body()))
    opened()
    yield from gui.settle()
    yield from play(gui, scene)
    live = gui.module("blender_addon.live.live")
    with gui.context():
        bpy.ops.preferences.addon_disable(module=gui.package)
    yield
    gui.record("disabled", [live.current() is not None, scene.body().hide_get(), hasattr(bpy.types, "SINEW_OT_bake")])


def scenario(gui):
    scene = gui.scenario("live")
    yield from gui.show_sidebar("Sinew")
    bpy.context.preferences.view.ui_scale = 0.65
    yield from prepared(gui, scene)
    yield from undo_and_redo(gui, scene)
    yield from in_the_same_file(gui, scene)
    yield from gui.scenario("live_windows").closed_windows(gui, scene, play)
    yield from gui.scenario("live_keys").keys(gui, scene, play)
    yield from gui.scenario("live_reading").stopped_while_it_reads(gui, scene, play)
    yield from gui.scenario("live_refused").refusals(gui, scene, play)
    yield from gui.scenario("live_cycles").cycles(gui, scene, play)
    yield from play(gui, scene)
    yield from gui.scenario("live_render").renders(gui, scene)
    gui.module("blender_addon.live.live").stop()
    yield from with_other_files(gui, scene)
    with gui.context():
        bpy.ops.preferences.addon_enable(module=gui.package)  # the next scenario finds it as it was
