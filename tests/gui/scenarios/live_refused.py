"""A graphics card that refuses the preview's shader, any other error in drawing, and the preview switched off."""

import bpy

SOURCE = "_BEGIN"


def seen(scene):
    """Return the panel's text, whether the mesh is hidden, and its stand-in objects."""
    obj = scene.body()
    return [obj.hide_get(), obj.sinew.live.message, sorted(o.name for o in bpy.data.objects if o.sinew.is_stand_in)]


def stands_in(gui, scene):
    """Wait for the mesh that is moved, and for frames with it."""
    session = gui.module("blender_addon.live.live").current()
    yield from gui.wait_until(lambda: seen(scene)[2] != [], 20, "a mesh is moved")
    frame = session.state.frame
    yield from gui.wait_until(lambda: session.state.frame > frame + 2, 20, "it goes on")


def refused_shader(gui, scene, play):
    """The source of every shader is broken before Play; a switch there and back tries again, when it is whole."""
    shaders = gui.module("blender_addon.drawing.preview_shader")
    whole = getattr(shaders, SOURCE)
    setattr(shaders, SOURCE, "  this is no GLSL;\n" + whole)
    yield from play(gui, scene)
    yield from stands_in(gui, scene)
    gui.record("refused", seen(scene))
    yield from gui.photograph("refused-shader")
    setattr(shaders, SOURCE, whole)
    scene.body().sinew.live.preview = "MESH"
    yield from gui.frames()
    gui.record("preview off", seen(scene))
    yield from gui.photograph("preview-off")
    scene.body().sinew.live.preview = "CARD"
    yield from gui.frames()
    gui.record("preview on", seen(scene))
    yield from gui.photograph("preview-on")


def error_in_drawing(gui, scene):
    """Raise an error as the graphics card's memory, or a bug, might during drawing."""
    view = gui.module("blender_addon.live.live").current().view

    def fail(*_arguments, **_options):
        raise RuntimeError("out of memory")

    view._preview.draw = fail
    yield from stands_in(gui, scene)
    yield from gui.redraw()
    gui.record("error in drawing", seen(scene))
    yield from gui.photograph("error-in-drawing")


def refusals(gui, scene, play):
    """From Play to the end."""
    yield from refused_shader(gui, scene, play)
    yield from error_in_drawing(gui, scene)
    gui.module("blender_addon.live.live").stop()
    yield
    gui.record("objects after a refusal", sorted(o.name for o in bpy.data.objects))
