"""Every panel opened by a click on its header, photographed, and used by clicks on what it shows."""

import bpy

SCALE = 0.75
PANELS = ("Resolution", "Physical Materials", "Pins", "Springs", "Collisions", "Fields", "Solver", "Bake")

# Pixels from the left and upper edge of the sidebar's region, at that scale: the headers that are open at first, from
# below, and where the first header stands and how far they are apart when all are closed.
LEFT = 60
OPEN_AT_FIRST = (593, 424, 180, 59)
FIRST, PITCH = 59, 20
REPORT = (LEFT, 249)
USED = {
    "Springs": ((178, 23),),  # adds one
    "Collisions": ((100, 23),),  # Ground
    "Solver": ((LEFT, 207),),  # Advanced
}


def corner(gui):
    """Window coordinates of the upper left corner of the sidebar."""
    region = gui.region("UI")
    return region.x, region.y + region.height


def opened(gui, name, clicks=()):
    """Open a panel, click at places (pixels right of the sidebar's edge, below the header), photograph, close it."""
    left, top = corner(gui)
    y = top - FIRST - PITCH * PANELS.index(name)
    yield from gui.click(left + LEFT, y)
    yield from gui.redraw()
    for right, down in clicks:
        yield from gui.move(left + right - 2, y - down)  # a button wants to be hovered over before it takes a click
        yield 0.2
        yield from gui.drag([(left + right, y - down)])
        yield from gui.redraw()
    yield from gui.move(*gui.centre())
    yield from gui.photograph(f"{1 + PANELS.index(name)}-{name.lower().replace(' ', '-')}{len(clicks) or ''}")
    yield from gui.click(left + LEFT, y)
    yield from gui.redraw()


def scenario(gui):
    with gui.context():
        for obj in list(bpy.data.objects):
            bpy.data.objects.remove(obj)
        bpy.ops.mesh.primitive_monkey_add()
        bpy.ops.sinew.enable()
    obj = bpy.context.view_layer.objects.active
    obj.vertex_groups.new(name="Pins").add([0, 1, 2], 1.0, "REPLACE")
    obj.sinew.pin_group = "Pins"
    bpy.context.preferences.view.ui_scale = SCALE
    yield from gui.show_sidebar("Sinew")
    left, top = corner(gui)
    for down in OPEN_AT_FIRST:
        yield from gui.click(left + LEFT, top - down)
        yield from gui.redraw()
    yield from gui.photograph("0-closed")
    for name in PANELS:
        yield from opened(gui, name, USED.get(name, ()))
    obj.sinew.bake.status, obj.sinew.bake.frames, obj.sinew.bake.folder = "DONE", 60, "//sinew_cache/shot"
    obj.sinew.bake.report, obj.sinew.bake.message = gui.parameters["report"], gui.parameters["message"]
    yield from opened(gui, "Bake", (REPORT,))
    gui.record("springs", [spring.name for spring in obj.sinew.springs])
    gui.record("ground", obj.sinew.collisions.use_ground)
