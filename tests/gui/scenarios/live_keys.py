"""Keys while a body is played with, and what they are when none is."""


def keys(gui, scene, play):
    """P pauses and goes on, Right Arrow steps; without live mode both are Blender's."""
    live = gui.module("blender_addon.live.live")
    yield from gui.move(*gui.centre())
    yield from gui.press("P")
    gui.record("P without it", live.current())
    yield from play(gui, scene)
    yield from gui.move(*gui.centre())
    session, paused = live.current(), []
    for _ in range(2):
        yield from gui.press("P")
        paused.append(session.state.playing)
    gui.record("P", paused)
    yield from gui.press("P")
    yield from gui.wait_until(lambda: not session.state.out, 20, "it pauses")
    frame = session.state.frame
    yield from gui.press("RIGHT_ARROW")
    yield from gui.wait_until(lambda: session.state.frame > frame, 20, "it steps")
    yield from gui.wait_until(lambda: not session.state.out and not session.state.steps, 20, "one step and no more")
    gui.record("Right Arrow", session.state.frame - frame)
    yield from gui.photograph("hints")
    live.stop()
    yield
