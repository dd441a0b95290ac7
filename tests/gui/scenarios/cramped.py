"""Progress where there is little room, the columns of Pins, and hints while the mouse drags."""

from types import SimpleNamespace

import bpy

DONE, TOTAL = 17, 250
LETTERS = 17
"""Points of letters, instead of 11: as in a sidebar of two thirds of the width."""
NAME = "A Body With Quite A Long Name"


def make_body(gui):
    """A body whose pins are painted from one end to the other, with a spring."""
    with gui.context():
        gui.clear()
        bpy.ops.mesh.primitive_monkey_add()
        bpy.ops.sinew.enable()
        bpy.ops.sinew.add_spring()
    obj = bpy.context.view_layer.objects.active
    obj.name = NAME
    group = obj.vertex_groups.new(name="Pins")
    for vertex in obj.data.vertices:
        if (weight := 0.5 + 0.5 * vertex.co.x) > 0.2:
            group.add([vertex.index], weight, "REPLACE")
    obj.sinew.pin_group = "Pins"
    return obj


def pretend_work(gui, obj):
    """A bake at work that no child does, with all that a panel can say of it."""
    machine, events = gui.module("blender_addon.jobs.state_machine"), gui.module("core.foundation.events")
    running, work = gui.module("blender_addon.jobs.job_queue"), gui.module("blender_addon.jobs.task")
    state = machine.State(
        stage=machine.Stage.RUNNING,
        title="Ghost, 2 of 12",
        phase=events.Phase("simulate", 0, 0),
        frames_total=TOTAL,
        frames_done=DONE,
        last_step={"iterations": 23, "contacts": 12345, "distance": 1.23e-4},
    )
    found = work.Task(obj.session_uid, obj.name, None, None, None, state=state)
    found.order = SimpleNamespace(mode="bake", folders=())
    running._works.append(found)
    return found


def scenario(gui):
    obj = make_body(gui)
    running, machine = gui.module("blender_addon.jobs.job_queue"), gui.module("blender_addon.jobs.state_machine")
    yield from gui.show_sidebar("Sinew")
    yield from gui.photograph("pins")
    hints = gui.module("operators.live_grab").draw_status
    bpy.context.workspace.status_text_set(hints)
    yield from gui.redraw()
    yield from gui.photograph("hints")
    bpy.context.workspace.status_text_set(None)
    style = bpy.context.preferences.ui_styles[0].widget
    before, style.points = style.points, LETTERS
    work = pretend_work(gui, obj)
    yield from gui.settle()
    yield from gui.photograph("simulating")
    phase = gui.module("core.foundation.events").Phase("subspace", 1, 4, step="cubature")
    work.state = machine.State(stage=machine.Stage.RUNNING, title="Ghost, 2 of 12", phase=phase)
    yield from gui.redraw()
    yield from gui.photograph("preparing")
    work.state = machine.State(stage=machine.Stage.READING, title="Ghost, 2 of 12", part=0.4)
    yield from gui.redraw()
    yield from gui.photograph("reading")
    running._works.clear()
    yield from gui.redraw()
    style.points = before  # Blender saves it for the next scenario
