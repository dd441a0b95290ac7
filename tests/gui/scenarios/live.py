"""Live mode driven by the mouse: play, drag, pin, see, Esc; the scene is as it was."""

import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d

SCALE = 0.65


def make_body(gui):
    """Suzanne, held at the back of her head, as an active object in a saved file."""
    with gui.context():
        gui.clear()
        bpy.ops.mesh.primitive_monkey_add()
        bpy.ops.object.shade_smooth()
        bpy.ops.sinew.enable()
    obj = bpy.context.view_layer.objects.active
    back = [v.index for v in obj.data.vertices if v.co.y > 0.5]
    obj.vertex_groups.new(name="Pins").add(back, 1.0, "REPLACE")
    obj.sinew.pin_group = "Pins"
    obj.sinew.cells_across, obj.sinew.modes = 12, 8
    bpy.context.scene.frame_end = 20
    with gui.context():
        bpy.ops.view3d.view_axis(type="FRONT")
        bpy.ops.view3d.view_orbit(angle=0.3, type="ORBITLEFT")
    gui.area().spaces.active.region_3d.view_distance = 7.0
    return obj


def body():
    """The object by name: references do not outlive an undo."""
    return bpy.data.objects["Suzanne"]


def pixels(gui, vertex, session):
    """Window coordinates of a vertex of the body as it is shown."""
    region, data = gui.region(), gui.area().spaces.active.region_3d
    x, y = location_3d_to_region_2d(region, data, session.view.seen()[vertex])
    return int(region.x + x), int(region.y + y)


def front_vertex(session):
    """The tip of the nose: what is nearest to the viewer."""
    return int(session.view.seen()[:, 1].argmin())


def state_of(obj):
    """Return the state that Esc must restore."""
    scene = bpy.context.scene
    return [
        scene.frame_current,
        obj.hide_get(),
        obj.select_get(),
        obj.mode,
        bpy.context.view_layer.objects.active.name,
        [round(x, 6) for v in obj.data.vertices for x in v.co][:30],
        len(obj.vertex_groups),
        len(obj.sinew.springs),
        sorted(o.name for o in bpy.data.objects),
        obj.data.shape_keys is None,
        obj.sinew.live_layer,
    ]


def play_and_drag(gui, obj):
    """From Play to Esc, the nose dragged in between."""
    live = gui.module("blender_addon.live.live")
    with gui.context():
        bpy.ops.sinew.live_play("INVOKE_DEFAULT")
    session = live.current()
    yield from gui.wait_until(lambda: session.work.state.phase.phase != "", 120, "the child says something")
    yield from gui.photograph("2-preparing")
    yield from gui.wait_until(lambda: session.state.frame >= 5, 400, "five frames")
    gui.record("hidden", body().hide_get())
    gui.record("modal operators", len(gui.window.modal_operators))
    yield from gui.photograph("3-playing")
    gui.record("message", body().sinew.live.message)
    vertex = front_vertex(session)
    rest = session.view.positions()[vertex].tolist()
    x, y = yield from pull(gui, session, vertex)
    frame = session.state.frame
    yield from gui.wait_until(lambda: session.state.frame >= frame + 10, 60, "ten frames of pulling")
    gui.record("grabs while dragging", len(session.state.grabs))
    gui.record("modal while dragging", len(gui.window.modal_operators))
    gui.record("pulled", [rest, session.view.positions()[vertex].tolist()])
    yield from gui.photograph("4-dragging")
    yield from release(gui, x, y)
    gui.record("grabs after release", len(session.state.grabs))
    gui.record("modal after release", len(gui.window.modal_operators))


def pull(gui, session, vertex, **modifiers):
    """Press on a vertex and drag it up and to the left; where the mouse is then."""
    x, y = pixels(gui, vertex, session)
    yield from gui.press_at(x, y, **modifiers)
    for k in range(1, 9):
        yield from gui.move(x - 20 * k, y + 10 * k)
    return x - 160, y + 80


def release(gui, x, y):
    """Let the mouse button go."""
    gui.window.event_simulate(type="LEFTMOUSE", value="RELEASE", x=x, y=y)
    yield


def pin_and_release(gui, session):
    """A pin by Ctrl, let go by a Ctrl-click on its marker; a click beside the body grabs nothing."""
    x, y = yield from pull(gui, session, front_vertex(session), ctrl=True)
    yield from release(gui, x, y)
    gui.record("pinned", [grab.pinned for grab in session.state.grabs.values()])
    yield from gui.photograph("6-pinned")
    region = gui.region()
    ((_vertex, _held, mark),) = session.view.grab_marks(region, gui.area().spaces.active.region_3d)
    yield from gui.click(int(region.x + mark[0]), int(region.y + mark[1]), ctrl=True)
    gui.record("pins after a click on it", len(session.state.grabs))
    yield from gui.click(region.x + 120, region.y + 200)
    gui.record("grabs after a click beside", len(session.state.grabs))
    x, y = yield from pull(gui, session, front_vertex(session))
    yield from gui.press("ESC")
    gui.record(
        "after Esc in a drag", [len(session.state.grabs), gui.module("blender_addon.live.live").current() is session]
    )
    yield from release(gui, x, y)


def record_and_bake(gui, session):
    """A take with a drag, to the last frame."""
    live = gui.module("blender_addon.live.live")
    with gui.context():
        bpy.ops.ed.undo_push(message="Before the take")
        bpy.ops.sinew.live_record("INVOKE_DEFAULT")
    yield from gui.wait_until(lambda: live.current().state.recording, 300, "a take")
    live.toggle()  # the mouse takes its time, twenty frames are over in less than a second
    yield from gui.wait_until(lambda: not live.current().state.out, 60, "it pauses")
    session = live.current()
    x, y = yield from pull(gui, session, front_vertex(session))
    yield from gui.photograph("7-recording")
    live.toggle()
    yield from gui.wait_until(lambda: session.state.frame >= 15 or session.state.recorded, 100, "some frames")
    yield from release(gui, x, y)
    yield from gui.wait_until(lambda: live.current() is None, 200, "the take is done")
    obj = body()
    record = obj.sinew.bake
    gui.record("take", [record.status, record.frames, record.stale, record.message])
    gui.record("springs", [[s.name, s.target.name, s.vertex_group] for s in obj.sinew.springs])
    with gui.context():
        bpy.ops.sinew.check_bake()
    gui.record("edited", obj.sinew.bake.stale)
    bpy.context.scene.frame_set(14)
    yield from gui.photograph("8-taken")
    with gui.context():
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "taken.blend"), copy=True)
    yield from gui.move(*gui.centre())
    yield from gui.press("Z", ctrl=True)
    obj = body()
    gui.record("after one undo", [obj.sinew.bake.status, len(obj.sinew.springs), obj.data.shape_keys is None])


def scenario(gui):
    live, running = gui.module("blender_addon.live.live"), gui.module("blender_addon.jobs.job_queue")
    obj = make_body(gui)
    gui.scenario("manual").only(gui, "live")
    yield from gui.show_sidebar("Sinew")
    bpy.context.preferences.view.ui_scale = SCALE
    yield from gui.redraw()
    gui.record("poll before saving", bpy.ops.sinew.live_play.poll())
    with gui.context():
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "live.blend"))
        gui.record("poll with another solver", bpy.ops.sinew.live_play.poll())
        yield from gui.photograph("0-another-solver")
    bpy.context.scene.frame_set(5)
    before = state_of(obj)
    yield from gui.photograph("1-before")
    yield from play_and_drag(gui, obj)
    yield from gui.move(*gui.centre())
    yield from gui.press("ESC")
    gui.record("ended", live.current() is None and running.current() is None)
    gui.record("same", state_of(body()) == before)
    gui.record("before and after", [before, state_of(body())])
    yield from gui.photograph("5-after")
    with gui.context():
        bpy.ops.sinew.live_play("INVOKE_DEFAULT")
    session = live.current()
    yield from gui.wait_until(lambda: session.state.frame >= 5, 200, "five frames")
    yield from pin_and_release(gui, session)
    yield from record_and_bake(gui, session)
