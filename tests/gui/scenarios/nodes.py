"""Dynamic nodes of ConJac: proposed by the button, picked by clicks, baked."""

import bpy


def nodes(name):
    """Where they are."""
    places = bpy.data.objects[name].data.vertices
    return [list(places[v].co) for v in _pick.members(name, "Nodes")]


def scenario(gui):
    global _pick
    _pick = gui.scenario("pick")
    name, running = _pick.make_scene(gui), gui.module("blender_addon.child.running")
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
    with gui.context():
        bpy.ops.sinew.bake("EXEC_DEFAULT", True)
    yield from gui.wait_until(running.is_idle, 300, "it is baked")
    gui.record("baked", [settings.bake.status, settings.bake.frames])
    yield from gui.photograph("3-baked")
