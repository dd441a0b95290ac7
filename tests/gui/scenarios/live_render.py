"""Renders while a body is played with: of the scene and of the viewport; what they show, and how it goes on."""

import bpy
import numpy as np

FRAMES = 6


def covered(path):
    """Return the fraction of a picture's pixels that are not transparent."""
    image = bpy.data.images.load(str(path))
    alpha = np.array(image.pixels[:]).reshape(-1, 4)[:, 3]
    bpy.data.images.remove(image)
    return float((alpha > 0.5).mean())


def reached(session):
    """The frame that the body comes to with what has been asked for."""
    return session.state.frame + len(session.state.out)


def rendered(gui, scene, name, render):
    """Render an animation, and see how it was meanwhile and goes on."""
    session = gui.module("blender_addon.live.live").current()
    bpy.context.scene.render.filepath = str(gui.session / f"{name}-")
    pictures = []
    with gui.context():
        render()
    before = reached(session)
    gui.record(f"{name}: frames asked for", 0)
    for _ in range(2000):
        yield from gui.move(*gui.centre())  # Blender's operators end with an event
        yield 0.05
        pictures = sorted(gui.session.glob(f"{name}-*.png"))
        if len(pictures) == FRAMES and not bpy.app.is_job_running("RENDER") and not len(gui.window.modal_operators):
            break
        if gui.module("blender_addon.live.live_scene").is_rendering():
            gui.record(f"{name}: frames asked for", reached(session) - before)
    frame = session.state.frame
    yield from gui.wait_until(lambda: session.state.frame > frame + 3, 20, f"it goes on after the {name}")
    gui.record(f"{name}: after", [session.state.playing, session.state.message, scene.body().hide_get()])
    gui.record(f"{name}: covered", [covered(path) for path in pictures])


def renders(gui, scene):
    """Render the scene and the viewport; a camera looks at the live body."""
    with gui.context():
        bpy.ops.object.camera_add(location=(0.0, -7.0, 0.0), rotation=(1.5708, 0.0, 0.0))
    bpy.context.view_layer.objects.active = scene.body()
    settings, preferences = bpy.context.scene.render, bpy.context.preferences.view
    bpy.context.scene.camera = bpy.data.objects["Camera"]
    settings.engine, settings.film_transparent = "BLENDER_WORKBENCH", True
    settings.resolution_x = settings.resolution_y = 64
    last, bpy.context.scene.frame_end = bpy.context.scene.frame_end, FRAMES
    shown, preferences.render_display_type = preferences.render_display_type, "NONE"
    yield from rendered(gui, scene, "render", lambda: bpy.ops.render.render("INVOKE_DEFAULT", animation=True))
    yield from rendered(gui, scene, "viewport", lambda: bpy.ops.render.opengl("INVOKE_DEFAULT", animation=True))
    bpy.data.objects.remove(bpy.data.objects["Camera"])
    bpy.context.scene.frame_end, preferences.render_display_type = last, shown
