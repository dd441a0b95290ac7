"""Dynamic nodes of ConJac: proposed by the button, picked by clicks, played with, baked."""

import bpy


def nodes(name):
    """Return the nodes' positions."""
    places = bpy.data.objects[name].data.vertices
    return [list(places[v].co) for v in _pick.members(name, "Nodes")]


def play(gui, name):
    """It stands on its lower side, but for the nodes there; the middle of its front is dragged."""
    live, driven = gui.module("blender_addon.live.live"), gui.scenario("live")
    obj, carry = bpy.data.objects[name], _pick.members(name, "Nodes")
    below = [v.index for v in obj.data.vertices if v.co.z < -0.9 and v.index not in carry]
    obj.vertex_groups.new(name="Pins").add(below, 1.0, "REPLACE")
    obj.sinew.pin_group = "Pins"
    with gui.context():
        bpy.ops.wm.tool_set_by_id(name="builtin.select_box")
        bpy.ops.sinew.live_play("INVOKE_DEFAULT")
    session = live.current()
    yield from gui.wait_until(lambda: session.state.frame >= 3, 600, "three frames")
    shown = session.view.positions()
    # The middle of the front: at the border of what is seen, which swings, a press would fall beside the body.
    middle = int(((shown - [0.0, -1.0, 0.0]) ** 2).sum(axis=1).argmin())
    x, y = yield from driven.pull(gui, session, middle)
    frame = session.state.frame
    yield from gui.wait_until(lambda: session.state.frame >= frame + 5, 100, "five frames of pulling")
    gui.record("grabs", len(session.state.grabs))
    gui.record("pulled", float(abs(session.view.positions()[middle] - shown[middle]).max()))
    gui.record("refused", [session.view.refused, bpy.data.objects[name].sinew.live.message])
    with gui.scenario("manual").alone(gui, "live"):
        yield from gui.settle()
        yield from gui.photograph("3-playing")
    yield from driven.release(gui, x, y)
    with gui.context():
        bpy.ops.sinew.live_stop()


def scenario(gui):
    global _pick
    _pick = gui.scenario("pick")
    name, running = _pick.make_scene(gui), gui.module("blender_addon.jobs.job_queue")
    settings = bpy.data.objects[name].sinew
    settings.springs.clear()
    settings.solver, settings.cells_across = "conjac", 6
    bpy.context.scene.frame_end = 6
    with gui.context():
        bpy.ops.wm.tool_set_by_id(name="sinew.pick_tool")
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "nodes.blend"))
    yield from gui.show_sidebar("Sinew")
    with gui.scenario("manual").alone(gui, "solver"):
        yield from gui.settle()
        yield from gui.photograph("0-none")
        with gui.context():
            bpy.ops.sinew.propose_nodes("EXEC_DEFAULT", True)
        yield from gui.settle()
        gui.record("proposed", nodes(name))
        yield from gui.photograph("1-proposed")
    tool = bpy.context.workspace.tools.from_space_view3d_mode("OBJECT")
    tool.operator_properties("sinew.pick").target = "NODES"
    yield from gui.click(*_pick.at(gui, name, (0.0, -1.0, 0.0), (4, 3)))
    yield from gui.settle()
    gui.record("clicked", nodes(name))
    yield from gui.photograph("2-clicked")
    yield from play(gui, name)
    with gui.context():
        bpy.ops.sinew.bake("EXEC_DEFAULT", True)
    yield from gui.wait_until(running.is_idle, 300, "it is baked")
    gui.record("baked", [settings.bake.status, settings.bake.frames])
    yield from gui.photograph("4-baked")
