"""Esc while the animation plays and a bake is at work; the bake seen while another object is active, or none."""

import bpy


def make_bodies(gui):
    """A body that is baked, and an active cube beside it."""
    with gui.context():
        gui.clear()
        bpy.ops.mesh.primitive_monkey_add()
        bpy.ops.sinew.enable()
        bpy.context.object.sinew.cells_across = 12
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "playback.blend"))
        bpy.ops.sinew.bake("INVOKE_DEFAULT")
        bpy.ops.mesh.primitive_cube_add()


def scenario(gui):
    running = gui.module("blender_addon.jobs.job_queue")

    def state():
        run = running.current()
        return [
            run is not None,
            run is not None and run.state.stage.name == "STOPPING",
            gui.window.screen.is_animation_playing,
        ]

    yield from gui.show_sidebar("Sinew")
    make_bodies(gui)
    yield from gui.halt(0)
    yield from gui.photograph("1-another-is-active")
    yield from gui.show_properties("PHYSICS")
    yield from gui.photograph("2-physics")
    with gui.context():
        bpy.context.view_layer.objects.active = None
        bpy.ops.screen.animation_play()
    yield from gui.photograph("3-none-is-active")
    gui.record("playing", state())
    yield from gui.move(*gui.centre(region="UI"))
    yield from gui.press("ESC")
    gui.record("after Esc", state())
    yield 0.3  # two keys: the add-on takes what comes within 0.2 seconds for the one that Blender passed on
    yield from gui.press("ESC")
    yield from gui.wait_until(lambda: running.current().state.stage.name == "STOPPING", 60, "the bake is asked to stop")
    gui.record("after another Esc", state())
    gui.go_on()
    yield from gui.wait_until(lambda: running.current() is None, 480, "the child stops")
