"""The child process that simulates, and what is known of its progress.

The library runs in a child process, since a factorisation holds the interpreter's lock for seconds and a crash must not
take Blender along. One daemon thread reads its events into a queue; a timer empties the queue in Blender's own thread.
Objects are kept by ``session_uid``: an undo or a file load invalidates every reference to Blender's data.
"""

from __future__ import annotations

import contextlib
import errno
import json
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from ..core.errors import SinewError, StoreError
from ..core.simulation import array_file, child_process, meshing
from ..core.simulation.frame_store import FrameStore
from . import PACKAGE, redrawing

LOG_NAME = "worker.log"
PHASES = {
    "compile": "Compiling Kernels (once)",
    "tetrahedralize": "Tetrahedralizing",
    "materials": "Blending Materials",
    "subspace": "Finding Modes",
    "subspace handles": "Finding Handles of Pins",
    "subspace cubature": "Choosing Cubature Points",
    "subspace projection": "Checking Cubature Points",
    "simulate": "Simulating",
    "handles": "Finding Handles",
}
DEAF = "tetrahedralize"
"""A phase in which other people's code asks nobody whether to stop, and in which nothing unfinished is kept."""
INTERVAL = 0.1

Event = dict[str, Any]


@dataclass
class Run:
    """One child at work on one object.

    ``mode`` is ``bake``, ``resume``, ``mesh``, ``handles`` or ``live``; with ``modes``, the frames are kept as handles,
    too; a bake stops after frame ``until``. ``place`` says which of several runs in a row it is. ``on_end(run)`` is
    called in Blender's thread, and gives False to be called again later, with what the artist has to do in
    ``waits_for``; ``again`` says what to do after an end that nobody expected. After the end ``outcome`` is ``done``,
    ``stopped`` or ``error``. Who plays along has every event in ``on_event``, and ``on_beat`` after each look for
    events, ``interval`` seconds apart. ``said`` is what the panels were last drawn with.
    """

    object_uid: int
    object_name: str
    folder: Path
    mode: str
    frames_total: int
    on_end: Callable[[Run], bool]
    modes: int = 0
    until: int | None = None
    place: str = ""
    again: str = "The frames done are kept: press Resume."
    frames_before: int = 0
    frames_done: int = 0
    phase: str = ""
    phase_step: str = ""
    method: str = ""
    phase_done: int = 0
    phase_total: int = 0
    mesh: Event = field(default_factory=dict)
    outcome: str = ""
    message: str = ""
    remedy: str = ""
    started: float = field(default_factory=time.monotonic)
    first_frame_at: float = 0.0
    stopping: bool = False
    waits_for: str = ""
    said: tuple[str, float, int] | None = None
    process: Any = None
    events: Any = field(default_factory=queue.SimpleQueue)
    reader: Any = None
    interval: float = INTERVAL
    on_event: Callable[[Event], None] | None = None
    on_beat: Callable[[], None] | None = None

    @property
    def label(self) -> str:
        """What is going on, in words; in a row of runs, which it is."""
        return f"{self.place}: {self._doing}" if self.place else self._doing

    @property
    def _doing(self) -> str:
        if self.waits_for:
            return self.waits_for
        if self.stopping:
            return "Stopping after this step" if self.phase == "simulate" else "Stopping"
        if self.phase == "simulate" and self.frames_total:
            return f"Frame {self.frames_before + self.frames_done} / {self.frames_total}"
        return PHASES.get(f"{self.phase} {self.phase_step}", PHASES.get(self.phase, "Starting"))

    @property
    def factor(self) -> float:
        """Part of the present phase that is done, 0..1."""
        if self.phase == "simulate" and self.frames_total:
            return min(1.0, (self.frames_before + self.frames_done) / self.frames_total)
        return self.phase_done / self.phase_total if self.phase_total else 0.0

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def remaining(self) -> float | None:
        """Seconds to go by the pace of the frames so far; None while unknown."""
        if not self.frames_done or self.phase != "simulate" or self.outcome:
            return None
        left = self.frames_total - self.frames_before - self.frames_done
        return max(0.0, left * (time.monotonic() - self.first_frame_at) / self.frames_done)

    def take(self, event: Event) -> None:
        """Account for one event of the library."""
        kind = event.get("event")
        if kind == "phase":
            if event["phase"] == "simulate" and self.phase != "simulate":
                self.first_frame_at = time.monotonic()
                self.frames_before = event["done"]
            self.phase, self.phase_done, self.phase_total = event["phase"], event["done"], event["total"]
            self.phase_step, self.method = event.get("step", ""), event.get("method", "")
        elif kind == "mesh":
            self.mesh = event
        elif kind == "frame":
            if not self.first_frame_at:
                self.first_frame_at = time.monotonic()
            self.phase = "simulate"
            self.frames_done += 1
        elif kind in ("done", "stopped"):
            self.outcome = kind
        elif kind == "error":
            self.outcome, self.message, self.remedy = "error", event["message"], event.get("remedy", "")


_current: Run | None = None


def current() -> Run | None:
    """The run at work, if there is one."""
    return _current


def run_of(object_uid: int) -> Run | None:
    """The run at work on that object, if there is one."""
    return _current if _current is not None and _current.object_uid == object_uid else None


def start(run: Run, python: str = "") -> None:
    """Start the child; RuntimeError when one is at work already, StoreError when its log cannot be written."""
    global _current
    if _current is not None:
        raise RuntimeError(f"“{_current.object_name}” is at work already.")
    log = _open_log(run.folder / LOG_NAME)
    try:
        run.process = subprocess.Popen(
            child_process.worker_command(
                python or python_executable(),
                run.folder,
                run.mode,
                str(run.modes),
                *([] if run.until is None else [str(run.until)]),
            ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=child_process.child_environment(),
            creationflags=child_process.NO_CONSOLE,
        )
    finally:
        log.close()
    run.reader = threading.Thread(target=_read, args=(run.process.stdout, run.events), daemon=True, name="sinew events")
    run.reader.start()
    _current = run
    watch()


def _open_log(path: Path) -> IO[bytes]:
    try:
        return array_file.open_own(path, "wb")
    except OSError as error:
        raise StoreError(f"{path} cannot be written ({error.strerror or error}).", array_file.WRITE_REMEDY) from error


def _read(stream: Any, events: Any) -> None:
    for line in stream:
        events.put(line)
    events.put(None)


def watch() -> None:
    """Have Blender call :func:`drain` from its own thread; where no timer runs (background), the caller does so."""
    import bpy

    if not bpy.app.timers.is_registered(drain):
        bpy.app.timers.register(drain, first_interval=INTERVAL)


def drain() -> float | None:
    """A timer's function: take all events that have arrived; seconds until the next call, None when no run is left."""
    global _current
    run = _current
    if run is None:
        return None
    ended = bool(run.outcome) and run.process is None
    while not ended and _current is run:
        try:
            line = run.events.get_nowait()
        except queue.Empty:
            break
        if line is None:
            _conclude(run)
            ended = True
        else:
            _take_line(run, line)
            _end_if_deaf(run)
    if run.on_beat is None:
        _redraw_news(run)
    elif not ended and _current is run:
        run.on_beat()
    if _current is not run:  # abandoned on the way, perhaps for another
        return None if _current is None else _current.interval
    if not ended:
        return run.interval
    return None if _has_taken_result(run) else 10 * INTERVAL


def _has_taken_result(run: Run) -> bool:
    """Whether nothing is left to do for an ended child. After an error that was not foreseen, too: the timer is gone
    then, nobody would ask again, and every button would say that the child is at work.
    """
    global _current
    has_taken = True
    try:
        has_taken = run.on_end(run)
    finally:
        if has_taken:
            _current = None
            redrawing.redraw()
    return has_taken


def _redraw_news(run: Run) -> None:
    """Draw anew what has something new to say: at every look a full scene would take the processors from the child."""
    before, run.said = run.said, (run.label, run.factor, int(run.elapsed))
    if run.said != before:
        redrawing.redraw(views=before is None or run.said[:2] != before[:2])


def _take_line(run: Run, line: bytes) -> None:
    try:
        event = json.loads(line)
    except ValueError:
        # A library of the child printed something of its own: it belongs into the log, if that has room.
        with contextlib.suppress(OSError), open(run.folder / LOG_NAME, "ab") as log:
            log.write(line)
        return
    run.take(event)
    if run.on_event is not None:
        run.on_event(event)


def _conclude(run: Run) -> None:
    """The child has closed its output: wait for its end and say how it went."""
    code = run.process.wait()
    run.reader.join()
    _close_pipes(run.process)
    child_process.sweep(run.process.pid)
    run.process = None
    if run.outcome:
        return
    run.outcome = "error"
    if run.phase == DEAF and run.method in meshing.FOREIGN:
        error = _mesher_crashed(run, code)
        run.message, run.remedy = error.message, error.remedy
        return
    last, words = _last_lines(run.folder / LOG_NAME), child_process.ended_words(code)
    run.message = f"The simulation process ended unexpectedly {words}." + (f" It said: {last}" if last else "")
    run.remedy = f"{run.again} If it happens again, lower Cells Across: memory may be short."


def _mesher_crashed(run: Run, code: int) -> SinewError:
    """What is to say of a child that ended while other people's code made its tetrahedra."""
    try:
        return meshing.crash(FrameStore.open(run.folder).job().surface, run.method, code)
    except StoreError as error:  # what tells of the mesh has gone, too
        return error


def _last_lines(log: Path, count: int = 3) -> str:
    lines = log.read_text(errors="replace").strip().splitlines() if log.is_file() else []
    return " | ".join(line.strip() for line in lines[-count:])


def request_stop() -> None:
    """Ask the child to stop after its step, or end it where it hears nothing; its end comes through :func:`drain`."""
    run = _current
    if run is None or run.process is None or run.stopping:
        return
    run.stopping = True
    _say(run, "stop")
    _end_if_deaf(run)


def _end_if_deaf(run: Run) -> None:
    """End the child where it would only hear later that it is to stop."""
    if run.stopping and run.phase == DEAF and not run.outcome and run.process is not None:
        run.outcome = "stopped"
        run.process.kill()


def tell(run: Run, request: Event) -> None:
    """Ask something of a child that plays along."""
    if run.process is not None and not run.stopping:
        _say(run, json.dumps(request))


def _say(run: Run, line: str) -> None:
    with _child_may_be_gone():
        run.process.stdin.write(f"{line}\n".encode())
        run.process.stdin.flush()


@contextlib.contextmanager
def _child_may_be_gone() -> Iterator[None]:
    """Where it has just ended by itself nobody reads any more, which Windows calls an invalid argument; drain() tells
    how it ended.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.EINVAL):
            raise


def _close_pipes(process: Any) -> None:
    """Closing the input writes what is left of a line that nobody has read."""
    with _child_may_be_gone():
        process.stdin.close()
    process.stdout.close()


def abandon() -> None:
    """End the child at once and forget it; its frames on disk stay valid. For quitting and loading another file."""
    global _current
    run, _current = _current, None
    if run is not None:
        _kill(run)


def cut_off(on_end: Callable[[Run], bool]) -> None:
    """End the child at once, as if it had stopped by itself; ``on_end`` then takes what it has done."""
    run = _current
    _kill(run)
    run.outcome = run.outcome or "stopped"
    run.on_end, run.on_event, run.on_beat = on_end, None, None


def _kill(run: Run) -> None:
    if run.process is None:
        return
    run.process.kill()
    run.process.wait()
    run.reader.join()
    _close_pipes(run.process)
    child_process.sweep(run.process.pid)
    run.process = None


def python_executable() -> str:
    """A Python of Blender's own version to run the child with; RuntimeError when there is none."""
    found = child_process.python_executable(_preferred_python())
    if not found:
        name = child_process.python_name()
        raise RuntimeError(f"No {name} was found to run the simulation with. Name one in the preferences of Sinew.")
    return found


def _preferred_python() -> str:
    import bpy

    addon = bpy.context.preferences.addons.get(PACKAGE)
    return addon.preferences.python_executable if addon is not None and addon.preferences is not None else ""
