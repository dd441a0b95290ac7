"""Every panel opened by a click on its header, photographed, and used by clicks on what it shows."""

import bpy
import numpy as np

SCALE = 0.75
PANELS = ("Physical Materials", "Pins", "Collisions", "Live", "Resolution", "Solver", "Frames and Result", "Compare")

# Pixels from the left and upper edge of the sidebar's region, at that scale: where the first header stands and how far
# they are apart when all are closed.
LEFT = 60
FIRST, PITCH = 65, 20
ALONE = "springs fields field_weights advanced placement muscle matter touching diagnostics report".split()
"""Panels that stand within others, or in the Physics tab alone."""
USED = {
    "Collisions": ((100, 23),),  # Ground
}


def close_all(gui):
    """Have the panels closed when the sidebar is drawn first."""
    panels = [cls for cls in gui.module("ui").CLASSES if getattr(cls, "bl_parent_id", "").startswith("VIEW3D_PT_sinew")]
    for cls in reversed(panels):
        bpy.utils.unregister_class(cls)
    for cls in panels:
        cls.bl_options = {*getattr(cls, "bl_options", ()), "DEFAULT_CLOSED"}
        bpy.utils.register_class(cls)


def corner(gui):
    """Window coordinates of the upper left corner of the sidebar."""
    region = gui.region("UI")
    return region.x, region.y + region.height


def opened(gui, name, clicks=()):
    """Open a panel, click at places (pixels right of the sidebar's edge, below the header), photograph, close it."""
    left, top = corner(gui)
    y = top - FIRST - PITCH * PANELS.index(name)
    yield from gui.click(left + LEFT, y)
    yield from gui.settle()
    for right, down in clicks:
        yield from gui.move(left + right - 2, y - down)  # a button wants to be hovered over before it takes a click
        yield from gui.drag([(left + right, y - down)])
        yield from gui.settle()
    yield from gui.move(*gui.centre())
    yield from gui.photograph(f"{1 + PANELS.index(name)}-{name.lower().replace(' ', '-')}{len(clicks) or ''}")
    yield from gui.click(left + LEFT, y)
    yield from gui.settle()


def pretend_bake(gui, obj):
    """A bake whose frames are the rest shape and whose steps are invented: nothing has to be compiled for it."""
    baking, store_in, reports = (
        gui.module(name)
        for name in ("blender_addon.bake.baking", "core.methods.model.state", "core.numerics.optimization.step_report")
    )
    with gui.context():
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "panels.blend"))
        job = gui.module("blender_addon.scene_import.job_in").make_job(obj, bpy.context, (1, 60))
        store = baking.prepare(obj, job)
    rest = job.body.surface.positions
    state = store_in.State(np.zeros((4, 3)), np.zeros((4, 3)), np.zeros((1, 6)))
    seconds = {"assembly": 0.5, "factorization": 2.0, "line_search": 0.25}
    for frame in range(1, 61):
        converged = frame not in (27, 28, 40)
        reason = "no vertex moves farther" if converged else "the cap of 50 iterations was reached"
        told = reports.StepReport(
            solver="mixed_fem",
            iterations=frame % 7 + 2,
            converged=converged,
            reason=reason,
            gradient_norm=1e-3 / frame,
            force=0.6 / frame,
            movement=1e-6 if converged else 1e-4 * frame,
            linear_solver="CHOLMOD, METIS (factor 12 MB): the fastest that is installed",
            seconds=seconds,
        )
        store.write(frame, rest, state, [told] if frame > 1 else [], 2.9)
    with gui.context():
        baking.put_result(obj, bpy.context, "DONE", store)


def pins_marked(gui):
    """Pins and a goal are marked while their panel is open, in the sidebar or not, and no longer."""
    panel = gui.module("blender_addon.draw_handlers.open_panel").PINS
    left, top = corner(gui)
    gui.record("pins at first", panel.is_open)
    for name, wanted in (("pins-open", True), ("pins-closed", False)):
        yield from gui.click(left + LEFT, top - FIRST - PITCH * PANELS.index("Pins"))
        yield from gui.move(*gui.centre())
        yield from gui.wait_until(lambda wanted=wanted: panel.is_open == wanted, 5.0, name)
        yield from gui.photograph(name)
    yield from gui.click(left + LEFT, top - FIRST - PITCH * PANELS.index("Pins"))
    yield from gui.wait_until(lambda: panel.is_open, 5.0, "it is open again")
    yield 4 * gui.module("blender_addon.draw_handlers.open_panel").TICK
    gui.record("pins stay", panel.is_open)
    gui.area().spaces.active.show_region_ui = False
    yield from gui.wait_until(lambda: not panel.is_open, 5.0, "the sidebar hides it")
    yield from gui.show_properties("PHYSICS")
    yield 4 * gui.module("blender_addon.draw_handlers.open_panel").TICK
    gui.record("pins in the Physics tab", panel.is_open)


def read_report(gui):
    """Open the report in its window, photograph that, close it again."""
    with gui.context():
        bpy.ops.sinew.open_report()
    yield from gui.settle()
    yield from gui.photograph("9-report")
    shown = bpy.context.window_manager.windows[-1]
    gui.record("report", bpy.data.texts["Sinew Report Suzanne"].as_string())
    gui.record("report window", [len(bpy.context.window_manager.windows), shown.screen.areas[0].type])
    with bpy.context.temp_override(window=shown, screen=shown.screen):
        bpy.ops.wm.window_close()
    yield from gui.redraw()


def add_fields():
    """One that acts, one that says why it does not."""
    for kind in ("WIND", "LENNARDJ"):
        bpy.ops.object.effector_add(type="FORCE", location=(0.0, 3.0, 0.0))
        bpy.context.object.name, bpy.context.object.field.type = kind.title(), kind


def scenario(gui):
    with gui.context():
        gui.clear()
        bpy.ops.mesh.primitive_monkey_add()
        bpy.ops.sinew.enable()
        obj = bpy.context.view_layer.objects.active
        add_fields()
        bpy.context.view_layer.objects.active = obj
    group = obj.vertex_groups.new(name="Pins")
    group.add([0, 1, 2], 1.0, "REPLACE")
    for vertex in obj.data.vertices:
        if vertex.co.x > 0.0:
            group.add([vertex.index], 0.4 * vertex.co.x, "REPLACE")
    obj.sinew.pin_group, obj.sinew.use_goal = "Pins", True
    bpy.context.preferences.view.ui_scale = SCALE
    close_all(gui)
    yield from gui.show_sidebar("Sinew")
    yield from gui.photograph("0-closed")
    for name in PANELS:
        yield from opened(gui, name, USED.get(name, ()))
    obj.sinew.solver = "subspace_mixed_fem"
    yield from gui.settle()
    yield from opened(gui, "Live")
    yield from opened(gui, "Solver")
    yield from pins_marked(gui)
    yield from gui.show_sidebar("Sinew")
    pretend_bake(gui, obj)
    for name in ALONE:
        yield from gui.scenario("manual").photograph_alone(gui, name)
    yield from read_report(gui)
    gui.record("ground", obj.sinew.collisions.use_ground)
