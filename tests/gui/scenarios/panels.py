"""Every panel in both places, on a Suzanne with several materials."""

import bpy


def make_suzanne(gui):
    """Suzanne alone in the scene, active."""
    with gui.context():
        gui.clear()
        bpy.ops.mesh.primitive_monkey_add()
    return bpy.context.view_layer.objects.active


def scenario(gui):
    obj = make_suzanne(gui)
    yield from gui.show_sidebar("Sinew")
    yield from gui.photograph("1-sidebar-before")
    gui.record("can be enabled", bpy.ops.sinew.enable.poll())
    with gui.context():
        bpy.ops.sinew.enable()
        for preset in ("Rubber", "Bone"):
            bpy.ops.sinew.add_material(preset=preset)
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "panels.blend"))
    gui.record("materials", [m.name for m in obj.sinew.materials])
    yield from gui.photograph("2-sidebar")
    with gui.context():
        bpy.ops.wm.call_menu(name="SINEW_MT_apply_preset")
    yield from gui.photograph("5-presets")
    yield from gui.press("ESC")
    bpy.context.preferences.view.ui_scale = 0.75  # so that all panels fit on the screen
    yield from gui.photograph("3-sidebar-all")
    obj.sinew.solver = "linearly_implicit"
    obj.sinew.simulate_at = "MODIFIER"
    yield from gui.show_properties("PHYSICS")
    gui.area("VIEW_3D").ui_type = "PROPERTIES"
    yield from gui.redraw()
    for area in gui.window.screen.areas:
        if area.type == "PROPERTIES":
            area.spaces.active.context = "PHYSICS"
    yield from gui.photograph("4-physics")
