"""Runs inside the windowed Blender: drives one scenario with simulated events and writes down what it found.

A scenario is a generator, so that Blender redraws and answers events between its steps:

    def scenario(gui):
        yield from gui.press("N")              # a key, as a person presses it
        gui.record("tab", "Sinew")             # into the JSON answer
        yield from gui.photograph("sidebar")   # the whole screen, after a redraw
        yield                                  # once around Blender's loop: events are answered, then all is drawn
        yield 0.5                              # seconds

Events are answered and what they change is laid out and drawn once around that loop, however slow the machine is. So
no step waits for a time; what takes a while (an animation of the interface, a child process) is waited for by
``settle`` and ``wait_until``.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import importlib.util
import json
import math
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import bpy

Steps = Generator[float | None, None, None]

LOOK = 0.05
"""Seconds between two looks at what is waited for."""

SAME = 2
"""Looks in a row at which a screen that stands still is the same as before."""

PACKAGE = "bl_ext.user_default.sinew"
"""The extension, as Blender has installed it."""


class Server:
    """The X server: on a busy machine it draws what it was told to some time later."""

    def __init__(self, memory: Path) -> None:
        self._memory = memory
        self._library = ctypes.CDLL("libX11.so.6")
        self._library.XOpenDisplay.restype = ctypes.c_void_p
        self._display = ctypes.c_void_p(self._library.XOpenDisplay(None))

    def screen(self) -> bytes:
        """Return the screen after all requests so far; its memory is a file."""
        for _ in range(2):  # it serves its clients in turn: at the second answer Blender has had its turn
            self._library.XSync(self._display, 0)
        return self._memory.read_bytes()


class Gui:
    """Interface of a scenario; ``parameters`` are those given to ``windowed.run``."""

    def __init__(self, session: Path, parameters: dict[str, Any]) -> None:
        self.session = session
        self.parameters = parameters
        self.values: dict[str, Any] = {}
        self._server = Server(session / "screen" / "Xvfb_screen0")

    # -- where ----------------------------------------------------------------------------------------------------

    @property
    def window(self) -> bpy.types.Window:
        """The one window."""
        return bpy.context.window_manager.windows[0]

    def area(self, kind: str = "VIEW_3D") -> bpy.types.Area:
        """The largest editor of that kind."""
        return max((a for a in self.window.screen.areas if a.type == kind), key=lambda a: a.width * a.height)

    def region(self, kind: str = "WINDOW", area: str = "VIEW_3D") -> bpy.types.Region:
        """A region of the largest editor of that kind."""
        return next(r for r in self.area(area).regions if r.type == kind)

    def context(self, area: str = "VIEW_3D", region: str = "WINDOW") -> Any:
        """A context override for operators: ``with gui.context(): bpy.ops...``."""
        return bpy.context.temp_override(window=self.window, area=self.area(area), region=self.region(region, area))

    def centre(self, area: str = "VIEW_3D", region: str = "WINDOW") -> tuple[int, int]:
        """Window coordinates of the middle of a region."""
        r = self.region(region, area)
        return r.x + r.width // 2, r.y + r.height // 2

    # -- what is tested -------------------------------------------------------------------------------------------

    package = PACKAGE

    def module(self, name: str) -> Any:
        """A module of the extension: ``gui.module("blender_addon.jobs.job_queue")``."""
        return importlib.import_module(f"{PACKAGE}.{name}")

    def preferences(self) -> Any:
        """The extension's."""
        return bpy.context.preferences.addons[PACKAGE].preferences

    def scenario(self, name: str) -> Any:
        """Another scenario, for what it can do."""
        return _load(str(Path(__file__).with_name("scenarios") / f"{name}.py"))

    def clear(self) -> None:
        """Remove all objects of the file."""
        for obj in list(bpy.data.objects):
            bpy.data.objects.remove(obj)

    def halt(self, frames: int) -> Steps:
        """Wait for so many frames of the bake that was begun and hold its process: a fast one would end meanwhile."""
        running = self.module("blender_addon.jobs.job_queue")
        yield from self.wait_until(lambda: running.current() is not None, 60, "the animation is read")
        yield from self.wait_until(lambda: running.current().state.frames_done >= frames, 480, f"{frames} frames")
        running.current().child.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Let the bake that :meth:`halt` holds go on."""
        self.module("blender_addon.jobs.job_queue").current().child.process.send_signal(signal.SIGCONT)

    def stop(self) -> Steps:
        """Press Esc over the sidebar in the bake that :meth:`halt` holds, and wait for its end; elsewhere Esc stops
        nothing.
        """
        running = self.module("blender_addon.jobs.job_queue")
        self.module("operators.bake").ASKS_AFTER = math.inf  # a slow machine may have baked for long
        stages = []
        for region in ("WINDOW", "UI"):
            yield from self.move(*self.centre(region=region))
            yield from self.press("ESC")
            stages.append(running.current().state.stage.name)
        self.record("stopping", stages == ["RUNNING", "STOPPING"])
        self.go_on()
        yield from self.wait_until(lambda: running.current() is None, 480, "the child stops")

    def resume(self) -> Steps:
        """Go on with the bake of the active body to its end."""
        with self.context():
            bpy.ops.sinew.resume_bake("INVOKE_DEFAULT")
        running = self.module("blender_addon.jobs.job_queue")
        yield from self.wait_until(lambda: running.current() is None, 480, "the resumed bake is done")

    def hold_reading(self) -> None:
        """Keep the animation that is being read from coming to its end, however fast this machine is."""
        read = self.module("blender_addon.jobs.job_queue").reading()
        self._held, steps = True, read.steps

        def held() -> Generator[float, None, Any]:
            try:
                while self._held:
                    time.sleep(0.01)
                    yield read.state.part
                return (yield from steps)
            finally:
                steps.close()

        read.steps = held()

    def read_on(self) -> None:
        """Let the reading that :meth:`hold_reading` holds go on."""
        self._held = False

    # -- events ---------------------------------------------------------------------------------------------------

    def move(self, x: int, y: int) -> Steps:
        """Move the mouse to window coordinates (origin lower left)."""
        self.window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
        self._mouse = (x, y)
        yield

    def press(self, key: str, **modifiers: bool) -> Steps:
        """Press and release a key (``"N"``, ``"ESC"``, ``"Z", ctrl=True``) over the last mouse position."""
        x, y = getattr(self, "_mouse", None) or self.centre()
        # `unicode` would make it text as well; shortcuts need none.
        for value in ("PRESS", "RELEASE"):
            self.window.event_simulate(type=key, value=value, x=x, y=y, **modifiers)
        yield

    def click(self, x: int, y: int, button: str = "LEFTMOUSE", **modifiers: bool) -> Steps:
        """Click at window coordinates."""
        yield from self.move(x, y)
        yield from self.press(button, **modifiers)

    def drag(self, points: list[tuple[int, int]], button: str = "LEFTMOUSE") -> Steps:
        """Press at the first point, go through the others, release at the last."""
        yield from self.move(*points[0])
        self.window.event_simulate(type=button, value="PRESS", x=points[0][0], y=points[0][1])
        yield
        for x, y in points[1:]:
            yield from self.move(x, y)
        self.window.event_simulate(type=button, value="RELEASE", x=points[-1][0], y=points[-1][1])
        yield

    def press_at(self, x: int, y: int, button: str = "LEFTMOUSE", **modifiers: bool) -> Steps:
        """Press at window coordinates, and hold. Both events at once: what moves has not moved in between."""
        self.window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
        self._mouse = (x, y)
        self.window.event_simulate(type=button, value="PRESS", x=x, y=y, **modifiers)
        yield

    def xdotool(self, *arguments: str | int) -> Steps:
        """Real events of the screen's mouse and keyboard, for a Blender that is run with ``real_mouse``."""
        subprocess.run(["xdotool", *map(str, arguments)], check=True)
        self._server.screen()  # the server has passed them on
        yield LOOK
        yield

    def point(self, x: int, y: int) -> Steps:
        """Move the real mouse to window coordinates."""
        yield from self.xdotool("mousemove", x, self.window.height - 1 - y)

    # -- waiting, writing down ------------------------------------------------------------------------------------

    def wait_until(self, holds: Callable[[], bool], seconds: float, what: str) -> Steps:
        """Let Blender go on until ``holds()``; an error that says ``what`` after so many seconds.

        Seconds in which the machine held this process up are not among them.
        """
        before = time.monotonic()
        while not holds():
            yield LOOK
            now = time.monotonic()
            seconds -= min(now - before, 1.0)
            before = now
            if seconds < 0.0:
                raise TimeoutError(f"still not: {what}")

    def record_when(self, key: str, look: Callable[[], Any], wanted: Any, seconds: float = 30.0) -> Steps:
        """Record what ``look()`` gives as soon as that is ``wanted``, or at last after so many seconds: for the test
        to judge.
        """
        with contextlib.suppress(TimeoutError):
            yield from self.wait_until(lambda: look() == wanted, seconds, key)
        self.record(key, look())

    def frames(self, count: int = 3) -> Steps:
        """Wait for so many more frames of the body that is played with, or for its end."""
        live = self.module("blender_addon.live.live")
        if (session := live.current()) is None:
            return
        frame = session.state.frame
        yield from self.wait_until(
            lambda: live.current() is not session or session.state.frame >= frame + count, 60, f"{count} frames"
        )

    def redraw(self, views: bool = True) -> Steps:
        """Redraw every editor; without the views, which a card in software takes long for, all that lies over them."""
        for area in self.window.screen.areas:
            for region in area.regions:
                if views or (area.type, region.type) != ("VIEW_3D", "WINDOW"):
                    region.tag_redraw()
        yield

    def screen(self) -> bytes:
        """All that is seen, as the virtual screen's memory has it."""
        return self._server.screen()

    def settle(self, seconds: float = 2.0) -> Steps:
        """Wait until the screen stays the same, and also when drawn anew; so many seconds at most."""
        before, end = b"", time.monotonic() + seconds
        while True:
            yield from self.redraw(views=False)
            now = yield from self._still(end)
            if now == before or time.monotonic() > end:
                return
            before = now

    def _still(self, end: float) -> Generator[float | None, None, bytes]:
        """Wait until the screen stays the same, or until that time; what it shows then."""
        before, same = self.screen(), 0
        while same < SAME and time.monotonic() < end:
            yield LOOK
            now = self.screen()
            before, same = now, same + 1 if now == before else 0
        return before

    def photograph(self, name: str) -> Steps:
        """Photograph the whole screen; what never stands still, after half a second."""
        yield from self.redraw()
        yield from self.settle(0.5)
        # The tests turn the copy into a PNG.
        (self.session / f"{name}.xwd").write_bytes(self.screen())

    def record(self, key: str, value: Any) -> None:
        """Put a value into the answer."""
        self.values[key] = value

    # -- the interface ------------------------------------------------------------------------------------------------

    def show_sidebar(self, tab: str = "Sinew") -> Steps:
        """Open the 3D View's sidebar by its key and choose a tab."""
        yield from self.move(*self.centre())
        if not self.area().spaces.active.show_region_ui:
            yield from self.press("N")
        yield from self.wait_until(lambda: self.region("UI").width > 1, 5.0, "the sidebar opens")
        yield from self.settle()
        self.region("UI").active_panel_category = tab
        yield from self.settle()

    def show_properties(self, tab: str = "PHYSICS") -> Steps:
        """Choose a tab of the Properties editor."""
        self.area("PROPERTIES").spaces.active.context = tab
        yield from self.redraw()


def _load(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("sinew_scenario", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _put_pointer_away() -> None:
    """The screen's own pointer, which simulated events do not move, is in the corner of every photograph."""
    if shutil.which("xdotool"):
        subprocess.run(["xdotool", "mousemove", "1599", "999"], check=False)


def _after_start(gui: Gui, scenario: Callable[[Gui], Steps]) -> Steps:
    """The scenario, when Blender has drawn its window."""
    yield from gui.wait_until(lambda: len(set(gui.screen()[-1_000_000:])) > 20, 60.0, "the window is drawn")
    yield from gui.settle()
    yield from scenario(gui)


def _start(request: dict[str, Any]) -> None:
    bpy.context.preferences.addons[PACKAGE].preferences.compile_ahead = False
    _put_pointer_away()
    gui = Gui(Path(request["session"]), request["parameters"])
    steps: Steps | None = None

    def finish(error: str) -> None:
        answer = gui.session / "answer.json"
        answer.write_text(json.dumps({"values": gui.values, "error": error}))
        bpy.ops.wm.quit_blender()

    def tick() -> float | None:
        nonlocal steps
        try:
            if steps is None:
                steps = _after_start(gui, _load(request["scenario"]).scenario)
            pause = next(steps)
        except StopIteration:
            finish("")
            return None
        except Exception:  # noqa: BLE001 - whatever a scenario raises is the test's to show, and Blender must end
            finish(traceback.format_exc())
            return None
        return pause or 0.0

    # Persistent: a scenario may open another .blend.
    bpy.app.timers.register(tick, persistent=True)


if __name__ == "__main__":
    bpy.context.preferences.view.show_splash = False
    # Preferences are saved, and a scenario before may have changed them.
    bpy.context.preferences.view.ui_scale, bpy.context.preferences.ui_styles[0].widget.points = 1.0, 11
    bpy.context.preferences.system.viewport_aa = "OFF"  # a card in software would draw each picture eight times
    _start(json.loads(Path(sys.argv[sys.argv.index("--") + 1]).read_text()))
