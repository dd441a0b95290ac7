"""Reset while a body is played with, of a scene that takes long to read: Esc is heard, and the body goes on."""

import time

import bpy


def toil(*_):
    """A handler for each frame that takes its time, as heavy rigs do."""
    end = time.thread_time() + 0.15
    while time.thread_time() < end:
        pass


def stopped_while_it_reads(gui, scene, play):
    """An edit, Reset, Esc; then Reset to the end."""
    live, running = gui.module("blender_addon.live.live"), gui.module("blender_addon.jobs.job_queue")
    yield from play(gui, scene)
    session = live.current()
    live.toggle()
    yield from gui.wait_until(lambda: not session.state.out and session.drawn is session.state.shown, 60, "it pauses")
    frame = bpy.context.scene.frame_current
    scene.body().sinew.materials[0].density *= 2.0
    bpy.app.handlers.frame_change_post.append(toil)
    with gui.context():
        bpy.ops.sinew.live_reset("INVOKE_DEFAULT")
    gui.hold_reading()
    yield from gui.photograph("reset-reads")
    read = running.reading()
    gui.record("reset reads", [read is not None, len(gui.window.modal_operators), scene.body().hide_get()])
    yield from gui.move(*gui.centre())
    yield from gui.press("ESC")
    yield from gui.wait_until(lambda: running.reading() is None, 20, "the reading stops")

    def stopped():
        goes_on = [live.current() is session, bpy.context.scene.frame_current == frame, scene.body().hide_get()]
        return [*goes_on, len(gui.window.modal_operators), scene.body().sinew.live.message]

    yield from gui.record_when("reset stopped", stopped, [True, True, True, 0, ""])
    with gui.context():
        bpy.ops.sinew.live_reset("INVOKE_DEFAULT")
    yield from gui.wait_until(lambda: running.reading() is None, 120, "the reading ends")
    bpy.app.handlers.frame_change_post.remove(toil)
    new = live.current()
    gui.record("reset read", [new is not session, new.pending, len(gui.window.modal_operators)])
    live.stop()
    yield
