"""Pictures for the manual: the menu of examples, every panel by itself, the overlays' switches; and that adding an
example is one step of undo.
"""

from contextlib import contextmanager

import bpy
from mathutils import Euler


def kept():
    """Names of what is in the file."""
    kinds = (p.identifier for p in bpy.data.bl_rna.properties if p.type == "COLLECTION")
    return {kind: sorted(block.name for block in getattr(bpy.data, kind)) for kind in kinds}


def is_in_menu(gui):
    """Photograph the menu as it drops down from the header."""
    with gui.context():
        bpy.ops.wm.call_menu(name="SINEW_MT_examples")
    yield from gui.photograph("examples-menu")
    yield from gui.press("ESC")


def undone(gui, example):
    """Add an example, undo it in one step, redo it."""
    with gui.context():
        bpy.ops.ed.undo_push(message="Before")
    before = kept()
    with gui.context():
        bpy.ops.sinew.add_example("EXEC_DEFAULT", True, example=example)
    added = kept()
    yield from gui.redraw()
    with gui.context():
        bpy.ops.ed.undo()
    gui.record("undone", kept() == before != added)
    with gui.context():
        bpy.ops.ed.redo()
    gui.record("redone", kept() == added)
    yield from gui.redraw()


def panels(gui):
    """Every panel of the sidebar below the body's name, those within others too."""
    ui = gui.module("ui")
    found = (cls for cls in ui.CLASSES if issubclass(cls, bpy.types.Panel))
    return [cls for cls in found if getattr(cls, "bl_parent_id", "").startswith("VIEW3D_PT_sinew")]


def only(gui, *names):
    """Leave these alone in a sidebar that was not drawn yet, open."""
    for cls in panels(gui):
        if cls.bl_idname.removeprefix("VIEW3D_PT_sinew_") in names:
            bpy.utils.unregister_class(cls)
            cls.bl_options = set(getattr(cls, "bl_options", ())) - {"DEFAULT_CLOSED"}
            bpy.utils.register_class(cls)
        else:
            cls.poll = classmethod(lambda _cls, _context: False)


@contextmanager
def alone(gui, name):
    """Within it a panel that stands within another, has some within it, or is in the Physics tab alone, is one of its
    own in the sidebar, and open.
    """
    everything, places = panels(gui), gui.module("ui.panel_base")
    (inner,) = (cls for cls in gui.module("ui").CLASSES if cls.__name__ == f"PHYSICS_PT_sinew_{name}")
    bases = tuple(places.Sidebar if base is places.Physics else base for base in inner.__bases__)
    for cls in reversed(everything):
        bpy.utils.unregister_class(cls)
    place = {"bl_idname": "VIEW3D_PT_sinew_alone", "bl_parent_id": "VIEW3D_PT_sinew"}
    alone = type("VIEW3D_PT_sinew_alone", bases, place)
    bpy.utils.register_class(alone)
    yield
    bpy.utils.unregister_class(alone)
    for cls in everything:
        bpy.utils.register_class(cls)


def photograph_alone(gui, name, called=""):
    """Such a panel."""
    with alone(gui, name):
        yield from gui.settle()
        yield from gui.photograph(f"panel-{called or name}")


def photograph_advice(gui, obj):
    """Photograph the recommendations for the bear with another solver."""
    before, obj.sinew.solver = obj.sinew.solver, "newton"
    yield from photograph_alone(gui, "advice")
    obj.sinew.solver = before


def frame_all(gui):
    """The body in the view, with room around it."""
    yield from gui.redraw()
    with gui.context():
        bpy.ops.view3d.view_selected()
    yield 1.0
    gui.area().spaces.active.region_3d.view_distance *= 1.2


def photograph_match(gui, obj):
    """Photograph the match of the bear in a subspace of few modes, and one of its vibrations."""
    running, settings = gui.module("blender_addon.jobs.job_queue"), obj.sinew
    swings, chosen = gui.module("blender_addon.draw_handlers.mode_playback"), bpy.context.workspace.sinew
    before = settings.solver, settings.modes, settings.cubature_points
    settings.solver, settings.modes, settings.cubature_points = "subspace_mixed_fem", 16, 1200
    with gui.context():
        bpy.ops.sinew.find_vibrations("EXEC_DEFAULT", True)
    yield from gui.wait_until(running.is_idle, 900.0, "the bear is matched")
    yield from photograph_alone(gui, "solver", called="match")
    chosen.active_vibration, chosen.swing = 2, 0.2
    yield from frame_all(gui)
    swings.begin(obj)
    yield from gui.scenario("vibrations").photograph_at(gui, swings, 0.25, "vibrations")
    yield from photograph_alone(gui, "vibrations")
    swings.stop()
    settings.control_vibrations, settings.vibrations.stiffness_1, settings.vibrations.stiffness_3 = True, 0.3, 4.0
    yield from photograph_alone(gui, "vibrations", called="control")
    for name in ("control_vibrations", "vibrations"):
        settings.property_unset(name)
    chosen.property_unset("active_vibration")
    chosen.property_unset("swing")
    settings.solver, settings.modes, settings.cubature_points = before


def photograph_ghost(gui, obj):
    """Photograph the bear of stiffer jelly as a ghost over its bake."""
    running = gui.module("blender_addon.jobs.job_queue")

    def is_idle():
        return running.is_idle()

    settings, scene = obj.sinew, bpy.context.scene
    last, settings.frame_end = settings.frame_end, 20
    with gui.context():
        bpy.ops.sinew.bake("EXEC_DEFAULT", True)
    yield from gui.wait_until(is_idle, 900.0, "the bear is baked")
    stiffness = settings.materials[0].log_stiffness
    settings.compare.solver, settings.materials[0].log_stiffness = "OWN", stiffness + 0.3
    with gui.context():
        bpy.ops.sinew.compare("EXEC_DEFAULT", True)
    yield from gui.wait_until(is_idle, 900.0, "the ghost is baked")
    scene.frame_set(14)
    yield from frame_all(gui)
    yield from gui.photograph("compare")
    yield from photograph_alone(gui, "compare")
    with gui.context():
        bpy.ops.sinew.delete_bake("EXEC_DEFAULT", True)
    settings.materials[0].log_stiffness, settings.frame_end = stiffness, last
    scene.frame_set(1)


def photograph_tetrahedra(gui):
    """Photograph the bear's tetrahedra, cut open."""
    running = gui.module("blender_addon.jobs.job_queue")
    with gui.context():
        bpy.ops.sinew.tetrahedralize("EXEC_DEFAULT", True)
    yield from gui.wait_until(lambda: running.current() is None, 900.0, "the body has tetrahedra")
    shown = bpy.context.workspace.sinew
    shown.show_tets = shown.use_slice = shown.slice_flip = True
    shown.slice_axis, shown.slice_offset = "Y", 0.55
    yield from gui.settle()
    yield from gui.photograph("overlays")
    shown.show_tets = shown.use_slice = shown.slice_flip = False


def scenario(gui):
    preferences = bpy.context.preferences
    overlap, preferences.system.use_region_overlap = preferences.system.use_region_overlap, False
    tooltips, preferences.view.show_tooltips = preferences.view.show_tooltips, False
    scale, preferences.view.ui_scale = preferences.view.ui_scale, 1.0
    if gui.parameters["tetrahedra"]:
        preferences.system.viewport_aa = "8"
    with gui.context():
        gui.clear()
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "manual.blend"))
    yield from gui.show_sidebar("Sinew")
    yield from gui.move(*gui.centre())
    yield from is_in_menu(gui)
    view, names = preferences.view, preferences.view.use_translate_new_dataname
    view.language, view.use_translate_new_dataname = "fr_FR", True  # where nodes have other names
    yield from undone(gui, "jelly_bear")
    view.language, view.use_translate_new_dataname = "en_US", names
    with gui.context():
        view = gui.area().spaces.active.region_3d
        view.view_perspective, view.view_rotation = "PERSP", Euler((1.3, 0.0, 0.35)).to_quaternion()
        bpy.ops.view3d.view_selected()
    yield from gui.photograph("whole")
    if gui.parameters["tetrahedra"]:
        yield from photograph_tetrahedra(gui)
    region = gui.region("UI")
    gui.record("sidebar", [region.x, gui.window.height - region.y - region.height, region.width, region.height])
    for name in ("resolution", "materials", "collisions", "solver", "bake"):
        yield from photograph_alone(gui, name)
    obj = bpy.context.view_layer.objects.active
    if gui.parameters["tetrahedra"]:
        yield from photograph_advice(gui, obj)
        yield from photograph_match(gui, obj)
        yield from photograph_ghost(gui, obj)
    obj.sinew.solver = "subspace_mixed_fem"
    yield from photograph_alone(gui, "live")
    with gui.context():
        bpy.ops.sinew.add_example("EXEC_DEFAULT", True, example="armature_flesh")
        bpy.ops.sinew.add_spring("EXEC_DEFAULT", True)
        bpy.ops.object.effector_add(type="WIND", location=(0.0, 3.0, 0.0))
        bpy.context.view_layer.objects.active = bpy.data.objects["Figure"]
    for name in ("pins", "springs", "fields"):
        yield from photograph_alone(gui, name)
    with gui.context():
        bpy.ops.sinew.add_example("EXEC_DEFAULT", True, example="curling_arm")
    arm = bpy.context.view_layer.objects.active
    arm.sinew.active_material = len(arm.sinew.materials) - 1
    yield from photograph_alone(gui, "muscle")
    preferences.system.use_region_overlap, preferences.view.show_tooltips = overlap, tooltips
    preferences.view.ui_scale = scale
