"""Child process that runs the simulation: start, events, commands and end.

The library runs in a child process, since a factorization holds Python's GIL for seconds, and since a crash must not
end Blender. A daemon thread puts the child's output lines into a queue.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import queue
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ...core.foundation.errors import SinewError, StoreError, refusing
from ...core.foundation.events import Event, Phase, event_of
from ...core.foundation.files import array_file
from ...core.foundation.process import child_process
from ...core.jobs.store.frame_store import FrameStore
from ...core.simulation.preparation import mesher_process
from ..blend_data.names import PACKAGE
from .state_machine import DEAF, Ended

LOG_NAME = "worker.log"


@dataclass(frozen=True)
class Order:
    """Order to a child process.

    Attributes
    ----------
    folder : folder of the store with the job
    mode : task of the child: ``bake``, ``resume``, ``mesh``, ``vibrations``, ``handles``, ``settle``, ``live`` or
        ``compile``. The task ``compile`` has no job.
    frames : number of frames of the complete bake; 0 for tasks without frames
    modes : requested number of skinning modes for a Geometry Nodes result; 0 for no handles
        Handles are affine displacements, fitted to the baked frames and blended by vertex weights. A skinning mode is a
        smooth function on the body that serves as such a weight.
    until : last frame to bake; None for the last frame of the job
    beside : store folder and number of skinning modes of each further body that is baked together with the first body
    """

    folder: Path
    mode: str
    frames: int = 0
    modes: int = 0
    until: int | None = None
    beside: tuple[tuple[Path, int], ...] = ()

    @property
    def folders(self) -> tuple[Path, ...]:
        """Folders of the stores of all bodies, the first body's folder first."""
        return self.folder, *(folder for folder, _modes in self.beside)


class Child:
    """Child process that carries out an order.

    Raises
    ------
    SinewError
        No Python was found for the child process.
    StoreError
        The log of the child process cannot be written.
    """

    def __init__(self, order: Order) -> None:
        self.log = order.folder / LOG_NAME
        until = "" if order.until is None else str(order.until)
        arguments = order.mode, str(order.modes), until, str(len(order.beside))
        command = child_process.worker_command(python_executable(), order.folder, *arguments)
        with _opened(self.log) as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=child_process.child_environment(),
                creationflags=child_process.NO_CONSOLE,
            )
        self._lines: Any = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True, name="sinew events")
        self._reader.start()
        if order.beside:
            self.say(json.dumps([[str(folder), modes] for folder, modes in order.beside]))

    def _read(self) -> None:
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def events(self) -> Iterator[Event | None]:
        """Yield the events that have arrived from the child since the last call.

        After the last event of a child that has closed its output, None is yielded.
        """
        with contextlib.suppress(queue.Empty):
            while (line := self._lines.get_nowait()) is not None:
                if event := event_of(line):
                    yield event
                else:  # output of a library in the child
                    self._note(line)
            yield None

    def _note(self, line: bytes) -> None:
        with contextlib.suppress(OSError), array_file.open_own(self.log, "ab") as log:
            log.write(line)

    def say(self, line: str) -> None:
        """Send a command to the child, as one line of text."""
        with _may_be_gone():
            self.process.stdin.write(f"{line}\n".encode())
            self.process.stdin.flush()

    def leave(self, kill: bool = False) -> int:
        """Wait until the child has ended, or ``kill`` it, and clean up.

        Returns the exit code of the child.
        """
        if kill:
            self.process.kill()
        code = self.process.wait()
        self._reader.join()
        with _may_be_gone():  # closing flushes lines that were not read
            self.process.stdin.close()
        self.process.stdout.close()
        child_process.sweep(self.process.pid)
        return code


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    with refusing(f"{path} cannot be written", array_file.WRITE_REMEDY):
        log = array_file.open_own(path, "wb")
    with log:
        yield log


@contextlib.contextmanager
def _may_be_gone() -> Iterator[None]:
    """Ignore the error of writing to a child that has just ended (on Windows: invalid argument)."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.EINVAL):
            raise


def unexpected_end(folder: Path, body: Path, phase: Phase, code: int, again: str) -> Ended:
    """Return the end event of a child that has reported no outcome.

    Parameters
    ----------
    folder : folder with the log of the child
    body : folder of the body that the child was working on
    phase : last phase that the child has reported
    code : exit code of the child
    again : remedy, such as ``Press Play again.``
    """
    if phase.phase in DEAF and phase.method in mesher_process.FOREIGN:
        error = _mesher_crashed(body, phase.method, code)
        return Ended("error", error.message, error.remedy)
    last = _last_lines(folder / LOG_NAME)
    message = f"The simulation process ended unexpectedly {child_process.ended_words(code)}."
    remedy = f"{again} If it happens again, lower Cells Across, since memory may be short."
    return Ended("error", message + (f" Its last output: {last}" if last else ""), remedy)


def _mesher_crashed(folder: Path, method: str, code: int) -> SinewError:
    """Return the error for a child that ended inside the third-party mesher ``method``."""
    try:
        return mesher_process.crash(FrameStore.open(folder).job().body.surface, method, code)
    except StoreError as error:  # the store was deleted, too
        return error


def _last_lines(log: Path, count: int = 3) -> str:
    lines = log.read_text(errors="replace").strip().splitlines() if os.path.isfile(log) else []
    return " | ".join(line.strip() for line in lines[-count:])


def python_executable() -> str:
    """Return the path of a Python interpreter of Blender's Python version for the child.

    Raises SinewError if there is none.
    """
    found = child_process.python_executable(_preferred_python())
    if not found:
        name = child_process.python_name()
        raise SinewError(
            f"No {name} was found to run the simulation with.", "Set its path in the preferences of Sinew."
        )
    return found


def _preferred_python() -> str:
    import bpy

    addon = bpy.context.preferences.addons.get(PACKAGE)
    return addon.preferences.python_executable if addon is not None and addon.preferences is not None else ""
