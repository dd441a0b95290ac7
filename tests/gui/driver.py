"""Runs inside the windowed Blender: drives one scenario with simulated events and writes down what it found.

A scenario is a generator, so that Blender redraws and answers events between its steps:

    def scenario(gui):
        yield from gui.press("N")              # a key, as a person presses it
        gui.record("tab", "Sinew")             # into the JSON answer
        yield from gui.photograph("sidebar")   # the whole screen, after a redraw
        yield 0.5                              # seconds
"""

from __future__ import annotations

import importlib.util
import json
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
TICK = 0.05


class Gui:
    """What a scenario can do. ``parameters`` are those given to ``windowed.run``."""

    def __init__(self, session: Path, parameters: dict[str, Any]) -> None:
        self.session = session
        self.parameters = parameters
        self.values: dict[str, Any] = {}

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

    # -- events ---------------------------------------------------------------------------------------------------

    def move(self, x: int, y: int) -> Steps:
        """Move the mouse to window coordinates (origin lower left)."""
        self.window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
        self._mouse = (x, y)
        yield TICK

    def press(self, key: str, **modifiers: bool) -> Steps:
        """Press and release a key (``"N"``, ``"ESC"``, ``"Z", ctrl=True``) over the last mouse position."""
        x, y = getattr(self, "_mouse", None) or self.centre()
        # `unicode` would make it text as well; shortcuts need none.
        for value in ("PRESS", "RELEASE"):
            self.window.event_simulate(type=key, value=value, x=x, y=y, **modifiers)
        yield TICK

    def click(self, x: int, y: int, button: str = "LEFTMOUSE", **modifiers: bool) -> Steps:
        """Click at window coordinates."""
        yield from self.move(x, y)
        yield from self.press(button, **modifiers)

    def drag(self, points: list[tuple[int, int]], button: str = "LEFTMOUSE") -> Steps:
        """Press at the first point, go through the others, release at the last."""
        yield from self.move(*points[0])
        self.window.event_simulate(type=button, value="PRESS", x=points[0][0], y=points[0][1])
        yield TICK
        for x, y in points[1:]:
            yield from self.move(x, y)
        self.window.event_simulate(type=button, value="RELEASE", x=points[-1][0], y=points[-1][1])
        yield TICK

    def xdotool(self, *arguments: str | int) -> Steps:
        """Real events of the screen's mouse and keyboard, for a Blender that is run with ``real_mouse``."""
        subprocess.run(["xdotool", *map(str, arguments)], check=True)
        yield TICK

    def point(self, x: int, y: int) -> Steps:
        """Move the real mouse to window coordinates."""
        yield from self.xdotool("mousemove", x, self.window.height - 1 - y)

    # -- waiting, writing down ------------------------------------------------------------------------------------

    def wait_until(self, holds: Callable[[], bool], seconds: float, what: str) -> Steps:
        """Let Blender go on until ``holds()``; an error that says ``what`` after so many seconds."""
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                raise TimeoutError(f"after {seconds:g} s still not: {what}")
            yield TICK

    def halt(self, job: Any, frames: int) -> Steps:
        """Wait for so many frames of the bake at work and hold its process there: a fast one would end meanwhile."""
        yield from self.wait_until(lambda: job.current().frames_done >= frames, 480, f"{frames} frames")
        job.current().process.send_signal(signal.SIGSTOP)

    def go_on(self, job: Any) -> None:
        """Let the bake that :meth:`halt` holds go on."""
        job.current().process.send_signal(signal.SIGCONT)

    def redraw(self) -> Steps:
        """Redraw every editor."""
        for _ in range(2):
            for area in self.window.screen.areas:
                area.tag_redraw()
            yield 0.2

    def settle(self) -> Steps:
        """Redraw every editor until the screen stays the same, for two seconds at most."""
        before, end = b"", time.monotonic() + 2.0
        while time.monotonic() < end:
            for area in self.window.screen.areas:
                area.tag_redraw()
            yield 0.2
            now = (self.session / "screen" / "Xvfb_screen0").read_bytes()
            if now == before:
                return
            before = now

    def photograph(self, name: str) -> Steps:
        """Photograph the whole screen."""
        yield from self.redraw()
        # The virtual screen's memory is a file; the tests turn the copy into a PNG.
        shutil.copy(self.session / "screen" / "Xvfb_screen0", self.session / f"{name}.xwd")

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
        yield from self.redraw()
        self.region("UI").active_panel_category = tab
        yield from self.redraw()

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


def _start(request: dict[str, Any]) -> None:
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
                steps = _load(request["scenario"]).scenario(gui)
            pause = next(steps)
        except StopIteration:
            finish("")
            return None
        except Exception:  # noqa: BLE001 - whatever a scenario raises is the test's to show, and Blender must end
            finish(traceback.format_exc())
            return None
        return TICK if pause is None else pause

    # Persistent: a scenario may open another .blend.
    bpy.app.timers.register(tick, first_interval=1.0, persistent=True)


if __name__ == "__main__":
    bpy.context.preferences.view.show_splash = False
    _start(json.loads(Path(sys.argv[sys.argv.index("--") + 1]).read_text()))
