"""A shot that overrides a body of a library: baked in the window, undone, saved, opened and baked again."""

import hashlib

import bpy

NAME = "Suzanne"


def make_library(gui, path):
    gui.scenario("result").make_body(gui)
    path.parent.mkdir()
    with gui.context():
        bpy.ops.wm.save_as_mainfile(filepath=str(path))


def link(path):
    """An override of the body in this scene, active."""
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.objects = [NAME]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    obj = wanted.objects[0].override_create(remap_local_usages=True)
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)


def body():
    """The override by name: references outlive neither undo nor a file."""
    return bpy.data.objects[NAME, None]


def there():
    """The override: its visibility, the status of its bake, its result, and True if that moves."""
    result = body().sinew.bake.result
    if result is None:
        return [body().visible_get(), body().sinew.bake.status, None, False]
    seen = []
    for frame in (1, 12):
        bpy.context.scene.frame_set(frame)
        lowest = min(v.co.z for v in result.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices)
        seen.append(lowest)
    return [body().visible_get(), body().sinew.bake.status, result.name, abs(seen[1] - seen[0]) > 1e-3]


def bake(gui, context):
    running = gui.module("blender_addon.jobs.job_queue")
    with gui.context():
        bpy.ops.sinew.bake(context)
    yield from gui.wait_until(lambda: running.current() is None, 480, "the bake is done")


def contents(folder):
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() if p.is_file() else "" for p in folder.rglob("*")}


def scenario(gui):
    library, shot = gui.session / "assets" / "library.blend", gui.session / "shot.blend"
    make_library(gui, library)
    before = contents(library.parent)
    bpy.ops.wm.open_mainfile(filepath=str(library), load_ui=False)
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    yield from gui.redraw()
    with gui.context():
        gui.clear()
        bpy.data.orphans_purge(do_recursive=True)
        link(library)
        bpy.ops.wm.save_as_mainfile(filepath=str(shot))
        bpy.ops.ed.undo_push(message="Before")
    yield from gui.show_sidebar("Sinew")
    bpy.context.preferences.view.ui_scale = 0.65
    yield from gui.photograph("1-an-override")
    yield from bake(gui, "INVOKE_DEFAULT")
    gui.record("baked", there())
    yield from gui.photograph("2-baked")
    with gui.context():
        bpy.ops.ed.undo()
    yield from gui.redraw()
    gui.record("undone", there())
    yield from gui.photograph("3-undone")
    with gui.context():
        bpy.ops.ed.redo()
    yield from gui.redraw()
    gui.record("redone", there())
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(shot), load_ui=False)
    yield from gui.redraw()
    gui.record("opened", there())
    with gui.context():
        bpy.context.view_layer.objects.active = body().sinew.bake.result
    yield from gui.photograph("4-opened")
    yield from bake(gui, "EXEC_DEFAULT")  # which does not ask
    gui.record("baked again", there())
    yield from gui.photograph("5-baked-again")
    with gui.context():
        bpy.ops.sinew.delete_bake("EXEC_DEFAULT")
    yield from gui.redraw()
    gui.record("deleted", there())
    yield from gui.photograph("6-deleted")
    gui.record("library", contents(library.parent) == before)
