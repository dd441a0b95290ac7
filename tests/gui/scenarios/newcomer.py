"""A newcomer's first minutes with the real mouse: from a fresh mesh to a playing bake, and on to a second body; what is
pressed is counted, and what the sidebar shows at first.
"""

from types import SimpleNamespace

import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d

FRAMES = 8
EDITED = "blender_addon.bake.outdated"
# Pixels from the upper edge of the sidebar, and of its left one.
MIDDLE, FIRST = 100, 46
CONTROLS = {"prop", "prop_search", "operator", "menu", "template_list"}
LAYOUTS = {"row", "column", "box", "split", "column_flow", "grid_flow"}


class Counted:
    """In the place of a layout: keeps what can be pressed or set."""

    def __init__(self, of=None):
        self.found = of.found if of else []

    def __getattr__(self, name):
        def drawn(*arguments, **_):
            if name in LAYOUTS:
                return Counted(self)
            if name in CONTROLS and arguments[-1] != "log_stiffness":  # which is hidden beside the field in its unit
                self.found.append(f"{name} {arguments[-1]}")
            return SimpleNamespace()

        return drawn


def controls(gui):
    """Return the controls of the sidebar's panels that are open by default."""
    counted, opened = Counted(), {"VIEW3D_PT_sinew"}
    panels = [cls for cls in gui.module("ui").CLASSES if getattr(cls, "bl_idname", "").startswith("VIEW3D_PT_sinew")]
    with bpy.context.temp_override(window=gui.window, area=gui.area(), region=gui.region("UI")):
        for cls in panels:
            is_child, is_closed = hasattr(cls, "bl_parent_id"), "DEFAULT_CLOSED" in getattr(cls, "bl_options", ())
            if (is_child and cls.bl_parent_id not in opened) or not getattr(cls, "poll", lambda _: True)(bpy.context):
                continue
            if hasattr(cls, "draw_header_preset"):
                cls.draw_header_preset(SimpleNamespace(layout=counted), bpy.context)
            if not is_closed:
                opened.add(cls.bl_idname)
                cls.draw(SimpleNamespace(layout=counted), bpy.context)
    return counted.found


class Clicks:
    """Presses of the real mouse and keyboard."""

    def __init__(self, gui):
        self.gui, self.made = gui, []

    def at(self, x, y, what):
        yield from self.gui.point(x - 2, y)  # a button wants to be hovered over first
        yield from self.gui.settle(0.5)
        yield from self.gui.point(x, y)
        yield from self.gui.settle(0.5)
        self.made.append(what)
        yield from self.gui.xdotool("click", 1)

    def in_sidebar(self, down, what):
        region = self.gui.region("UI")
        yield from self.at(region.x + MIDDLE, region.y + region.height - down, what)

    def key(self, key, what):
        self.made.append(what)
        yield from self.gui.xdotool("key", key)


def body(name="Suzanne"):
    return bpy.data.objects[name]


def open_tab(gui, clicks):
    """N, and the tab, which lies at the right edge below those of Blender's own."""
    yield from gui.point(*gui.centre())
    yield from clicks.key("n", "N")
    yield from gui.wait_until(lambda: gui.region("UI").width > 1, 10, "the sidebar opens")
    yield from gui.settle()
    region = gui.region("UI")
    for down in range(140, 240, 20):  # Blender's own tabs have another height in each version
        if region.active_panel_category == "Sinew":
            break
        yield from gui.point(region.x + region.width - 10, region.y + region.height - down)
        yield from gui.xdotool("click", 1)
        yield from gui.settle()
    clicks.made.append("tab")


def bake_unsaved(gui, clicks, running):
    """Save and Bake; the file browser is a window of its own, where Return saves."""
    yield from clicks.in_sidebar(FIRST, "Save and Bake")
    windows = bpy.context.window_manager.windows
    yield from gui.wait_until(lambda: len(windows) == 2 and windows[-1].screen.areas[0].spaces.active.params, 60, "it")
    yield from gui.settle()
    windows[-1].screen.areas[0].spaces.active.params.directory = str(gui.session).encode()
    yield from gui.photograph("2-where-to-save")
    with gui.scenario("bake").browser():
        bpy.ops.file.execute()
    clicks.made.append("Save")
    yield from gui.wait_until(lambda: running.current() is not None, 60, "the bake begins")


def esc_in_a_menu(gui, running):
    """An Esc meant for a menu ends no bake."""
    yield from gui.point(*gui.centre())
    yield from gui.xdotool("key", "shift+a")
    yield from gui.settle(0.5)
    yield from gui.photograph("3-a-menu-while-it-bakes")
    yield from gui.xdotool("key", "Escape")
    yield 0.5
    yield from gui.xdotool("key", "Escape")
    yield 0.5
    gui.record("after Esc", [running.current() is not None or body().sinew.bake.status == "DONE"])
    yield from gui.wait_until(running.is_idle, 480, "it is baked")
    gui.record("baked", [body().sinew.bake.status, body().sinew.bake.frames])


def play(gui, clicks):
    """Play stands where Bake was."""
    yield from gui.settle()
    yield from clicks.in_sidebar(FIRST, "Play")
    yield from gui.wait_until(lambda: gui.window.screen.is_animation_playing, 20, "it plays")
    gui.record("clicks", clicks.made)
    first = bpy.context.scene.frame_current
    yield from gui.wait_until(lambda: bpy.context.scene.frame_current != first, 20, "frames go by")
    yield from gui.photograph("4-playing")
    yield from gui.point(*gui.centre())
    yield from gui.xdotool("key", "Escape")
    yield from gui.record_when("stopped", lambda: gui.window.screen.is_animation_playing, False)


def pin_and_paint(gui):
    """By a box of the tool, and by a stroke of the brush, both with the mouse."""
    with gui.context():
        bpy.ops.view3d.view_axis(type="FRONT")
        bpy.ops.view3d.view_selected()
        bpy.ops.wm.tool_set_by_id(name="sinew.pick_tool")
    yield from gui.settle()
    region = gui.region()
    x, y = location_3d_to_region_2d(region, gui.area().spaces.active.region_3d, (0.0, -0.6, -0.7))
    yield from drag(gui, region.x + int(x) - 50, region.y + int(y) - 40, 100, 80)
    group = body().vertex_groups.get(body().sinew.pin_group)
    gui.record("pinned", group is not None and gui.scenario("tour").members(group.name))
    with gui.context():
        bpy.ops.wm.tool_set_by_id(name="builtin.select_box")
        bpy.ops.sinew.add_material(preset="Bone")
        bpy.ops.sinew.paint_material()
    yield from gui.settle()
    x, y = location_3d_to_region_2d(region, gui.area().spaces.active.region_3d, (1.2, 0.0, 0.4))
    yield from drag(gui, region.x + int(x) - 30, region.y + int(y), 60, 0)
    gui.record("painted", gui.scenario("tour").members("Bone"))
    with gui.context():
        bpy.ops.object.mode_set(mode="OBJECT")
    yield from gui.photograph("5-out-of-date")


def drag(gui, x, y, right, up):
    yield from gui.point(x, y)
    yield from gui.xdotool("mousedown", 1)
    for k in range(1, 6):
        yield from gui.point(x + right * k // 5, y + up * k // 5)
    yield from gui.xdotool("mouseup", 1)
    yield from gui.settle()


def changed(edited):
    """Return the panel's words on edits since the bake; the body is looked up again, since references do not outlive an
    undo.
    """
    return edited.words(body(), bpy.context.scene)


def compare_after_undo(gui, running, edited):
    """The bake says that it is out of date; Ctrl Z takes the edits back, and it can be compared."""
    yield from gui.wait_until(lambda: "materials" in changed(edited), 10, "it is out of date")
    gui.record("out of date", changed(edited))
    yield from gui.point(*gui.centre())
    for _ in range(12):
        if len(body().sinew.materials) == 1 and not body().sinew.pin_group:
            break
        yield from gui.xdotool("key", "ctrl+z")
        yield from gui.settle(0.5)
    yield from gui.record_when("after undo", lambda: changed(edited), "", 10.0)
    gui.record("is there", [body().sinew.bake.status, len(body().sinew.materials)])
    with gui.context():
        body().sinew.compare.substeps = 2
        bpy.ops.sinew.compare("INVOKE_DEFAULT")
    yield from gui.wait_until(running.is_idle, 480, "the ghost is there")
    yield from gui.settle()
    gui.record("compared", gui.module("blender_addon.bake.comparison").seen(body()).difference.words)


def record(gui):
    """A take of what is played, in the place of the bake."""
    live = gui.module("blender_addon.live.live")
    with gui.context():
        bpy.ops.sinew.delete_bake()
        bpy.ops.wm.save_mainfile()
        bpy.ops.sinew.live_play("INVOKE_DEFAULT")
    yield from gui.wait_until(lambda: live.current().state.frame >= 2, 480, "it plays")
    bpy.ops.sinew.live_record("INVOKE_DEFAULT")
    yield from gui.wait_until(lambda: live.current() is None, 240, "the take is done")
    gui.record("take", [body().sinew.bake.status, body().sinew.bake.frames, changed(gui.module(EDITED))])


def second_body(gui, running):
    """One above the other, baked together by one button."""
    with gui.context():
        bpy.ops.mesh.primitive_cube_add(size=0.4, location=(0.0, 0.0, 1.4))
        bpy.context.object.name = "Cube"
        bpy.ops.sinew.enable()
    for obj in (body(), body("Cube")):
        obj.sinew.cells_across, obj.sinew.solver = 8, "mixed_fem"
    yield from gui.settle()
    with gui.context():
        bpy.ops.sinew.bake("EXEC_DEFAULT", True)
    yield from gui.wait_until(running.is_idle, 480, "both are baked")
    gui.record("together", [body(name).sinew.bake.status for name in ("Suzanne", "Cube")])
    gui.record("together said", body().sinew.bake.message)
    yield from gui.photograph("6-two")


def scenario(gui):
    running, edited = gui.module("blender_addon.jobs.job_queue"), gui.module(EDITED)
    gui.record("installed", gui.package in bpy.context.preferences.addons)
    bpy.context.scene.frame_end = FRAMES
    with gui.context():
        gui.clear()
        bpy.ops.mesh.primitive_monkey_add()
    clicks = Clicks(gui)
    yield from open_tab(gui, clicks)
    yield from clicks.in_sidebar(44, "Enable Sinew")
    yield from gui.wait_until(lambda: body().sinew.enabled, 10, "it is enabled")
    yield from gui.settle()
    gui.record("controls", controls(gui))
    yield from gui.photograph("1-fresh")
    yield from bake_unsaved(gui, clicks, running)
    yield from esc_in_a_menu(gui, running)
    yield from play(gui, clicks)
    yield from pin_and_paint(gui)
    yield from compare_after_undo(gui, running, edited)
    yield from record(gui)
    yield from second_body(gui, running)
