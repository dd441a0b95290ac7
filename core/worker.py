"""Child process of a bake: ``python worker.py PACKAGE_NAME PACKAGE_FOLDER PARENT_PROCESS STORE_FOLDER TASK [MODES
[UNTIL [BESIDE]]]``.

TASK: ``bake``, ``settle``, ``resume``, ``mesh``, ``vibrations``, ``live``, ``handles`` or ``tetrahedra``. The task
``settle`` is the bake of an equilibrium. Two more tasks use no store: ``compile`` compiles all kernels at the lowest
priority; ``stages`` compiles named groups of kernels, except groups that another process is compiling.

MODES: requested number of skinning modes. If it is not 0, frames are also stored as handles: affine maps, blended by
skinning weights.

UNTIL: last frame of a bake; empty for all frames.

BESIDE: number of other bodies baked with the first. If it is not 0, the first line of standard input is a JSON list,
which may be longer than a command line. For a bake, the list is ``[[STORE_FOLDER, MODES], ...]`` of the other bodies.
For ``stages``, the list has the names of the groups.

The process loads the package under the parent's import name, so that both processes share compiled kernels. It reads
the job from the store and prints events as JSON lines. It stops between steps when its standard input closes or
contains a line ``stop``; other lines are commands of live mode. If its parent ends, it ends within a second. Files are
complete at any time.

Exit code 0: finished or stopped; 1: an error, which was printed as an event.
"""

from __future__ import annotations

import errno
import importlib
import importlib.util
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

PR_SET_PDEATHSIG = 1
"""Constant of ``sys/prctl.h``: the signal that a process receives when its parent ends."""
PAUSE = 0.005
"""Seconds between polls for the parent's messages on Windows, where a blocking read is impossible."""
SYNCHRONIZE, FOREVER, ONLY_ONCE = 0x100000, 0xFFFFFFFF, 8
"""Constants of the Windows API: the right to wait for a process, an infinite timeout, and WT_EXECUTEONLYONCE."""


def _load_package(name: str, folder: str) -> None:
    """Register the package at ``folder`` in ``sys.modules`` without executing its parent packages."""
    parts = name.split(".")
    for k in range(1, len(parts)):
        parent = ".".join(parts[:k])
        if parent not in sys.modules:
            module = types.ModuleType(parent)
            module.__path__ = []
            sys.modules[parent] = module
    package = types.ModuleType(name)
    package.__path__ = [folder]
    sys.modules[name] = package


def _add_runtime() -> None:
    """Add Blender's C++ runtime, which Numba needs, to the DLL search path on Windows."""
    folder = os.path.join(os.path.dirname(os.path.dirname(sys.prefix)), "blender.crt")
    if sys.platform == "win32" and os.path.isdir(folder):
        os.add_dll_directory(folder)


def _lines_on_windows() -> Iterator[str]:
    """Yield the lines of standard input without a blocking read.

    OpenBLAS, a library in NumPy, SciPy and CVXOPT, queries the standard input pipe while it is loaded. During a
    blocking read, Windows delays the query until the read ends, so the import hangs.
    """
    import ctypes
    import msvcrt

    kernel, pipe = ctypes.WinDLL("kernel32"), ctypes.c_void_p(msvcrt.get_osfhandle(0))

    def waiting() -> int | None:
        count = ctypes.c_ulong()
        return count.value if kernel.PeekNamedPipe(pipe, None, 0, None, ctypes.byref(count), None) else None

    return lines_of(waiting, lambda count: os.read(0, count))


def lines_of(waiting: Callable[[], int | None], read: Callable[[int], bytes]) -> Iterator[str]:
    """Yield the lines of a stream as they arrive.

    ``waiting()`` returns the number of bytes that can be read without blocking, or None at the end of the stream.
    ``read(count)`` reads ``count`` bytes.
    """
    said = b""
    while (count := waiting()) is not None:
        if count == 0:
            time.sleep(PAUSE)
            continue
        *lines, said = (said + read(count)).split(b"\n")
        yield from (line.decode() for line in lines)


def _listening(stop: threading.Event) -> queue.SimpleQueue[str | None]:
    """Return a queue of the lines that the parent sends, and set ``stop`` at their end."""
    said: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def listen() -> None:
        for line in _lines_on_windows() if sys.platform == "win32" else sys.stdin:
            if line.strip() == "stop":
                break
            said.put(line)
        stop.set()
        said.put(None)

    threading.Thread(target=listen, daemon=True).start()
    return said


def main(arguments: list[str]) -> int:
    """Run one task with the command-line arguments of this module, and return the exit code."""
    package, folder, parent, store_folder, task = arguments[:5]
    modes = int(arguments[5]) if len(arguments) > 5 else 0
    until = int(arguments[6]) if len(arguments) > 6 and arguments[6] else None
    has_others = len(arguments) > 7 and int(arguments[7]) > 0
    end_with(int(parent))
    _add_runtime()
    # Output of libraries must not mix with the JSON lines.
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    stop = threading.Event()

    def on_event(event: Any) -> None:
        try:
            lines.write(events.line_of(event) + "\n")
            lines.flush()
        except OSError as error:  # The parent died: a broken pipe, which Windows calls an invalid argument.
            if error.errno not in (errno.EPIPE, errno.EINVAL):
                raise
            stop.set()

    commands = _listening(stop)
    if (others := commands.get() if has_others else "[]") is None:
        return 0  # the parent has ended
    _load_package(package, folder)
    errors, events = (importlib.import_module(f"{package}.core.foundation.{name}") for name in ("errors", "events"))
    importlib.import_module(f"{package}.core.foundation.process.child_process").sweep_dead()
    try:
        _work(
            package,
            store_folder,
            task,
            modes,
            until,
            json.loads(others),
            on_event,
            stop.is_set,
            iter(commands.get, None),
        )
    except errors.SinewError as error:
        on_event(events.Failed(error.code, error.message, error.remedy, list(getattr(error, "move", ()))))
        return 1
    except MemoryError:
        on_event(events.Failed("MemoryError", "There is not enough memory for this body.", "Lower its resolution."))
        return 1
    except OSError as error:
        remedy = "Check that the folder of the frames can be read and written, then press Resume."
        on_event(events.Failed(type(error).__name__, f"The system refused access to a file: {error}.", remedy))
        traceback.print_exc()
        return 1
    except Exception as error:
        # Python prints the traceback, for the log, and ends with exit code 1.
        message = f"The simulation failed unexpectedly: {type(error).__name__}: {error}."
        on_event(events.Failed(type(error).__name__, message, "Please report this, with the log."))
        raise
    return 0


def _work(
    package: str,
    store_folder: str,
    task: str,
    modes: int,
    until: int | None,
    beside: list[list[Any]],
    on_event: Callable[[Any], None],
    should_stop: Callable[[], bool],
    commands: Iterable[str],
) -> None:
    importlib.import_module(f"{package}.core.foundation.process.process_memory").keep_freed()
    if task == "compile":
        importlib.import_module(f"{package}.core.foundation.process.child_process").give_way()
        importlib.import_module(f"{package}.core.simulation.frame_loop.compile_kernels").warm_up(on_event)
        return
    if task == "stages":
        importlib.import_module(f"{package}.core.simulation.frame_loop.compile_kernels").compile_stages(beside)
        return
    frame_store = importlib.import_module(f"{package}.core.jobs.store.frame_store")
    store = frame_store.FrameStore.open(store_folder)
    job = store.job()
    importlib.import_module(f"{package}.core.simulation.preparation.mesher_process").allow_meshing_in_this_process()
    if task == "tetrahedra":
        importlib.import_module(f"{package}.core.simulation.preparation.prepare").tetrahedra(job, store, on_event)
        return
    if task == "live":
        live_service = importlib.import_module(f"{package}.core.simulation.frame_loop.live_service")
        live_service.serve(job, store, on_event, commands, should_stop)
        return
    simulation = importlib.import_module(f"{package}.core.simulation.frame_loop.bake")
    if task == "mesh":
        simulation.build_mesh(job, store, on_event, should_stop)
    elif task == "vibrations":
        simulation.find_vibrations(job, store, on_event, should_stop)
    elif task == "handles":
        fit_handles = importlib.import_module(f"{package}.core.simulation.frame_loop.fit_handles")
        fit_handles.find_handles(job, store, modes, on_event, should_stop)
    else:
        stores = [store, *(frame_store.FrameStore.open(folder) for folder, _modes in beside)]
        jobs, counts = [job, *(each.job() for each in stores[1:])], [modes, *(count for _folder, count in beside)]
        simulation.bake_group(jobs, stores, on_event, should_stop, task == "resume", counts, until)


def end_with(parent: int) -> None:
    """Make the operating system end this process when the process with the id ``parent`` ends.

    A Python thread could not do so while third-party compiled code runs.
    """
    if sys.platform == "win32":
        _end_with_on_windows(parent)
        return
    if sys.platform == "linux" and os.getppid() == parent:
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # the parent has ended meanwhile
            os._exit(1)
        return
    watch_for(parent)


def watch_for(parent: int) -> None:
    """Start a shell that ends this process within a second after the process with the id ``parent`` ends.

    macOS does not report the end of a parent, and Linux reports only the end of a direct parent.
    """
    this = os.getpid()
    look = f"while kill -0 {this}; do kill -0 {parent} || kill -9 {this}; sleep 1; done 2>/dev/null"
    nothing = subprocess.DEVNULL
    subprocess.Popen(["/bin/sh", "-c", look], stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)


def _end_with_on_windows(parent: int) -> None:
    """Register a Windows wait that ends this process when the process with the id ``parent`` ends.

    Windows calls TerminateProcess with two arguments: a pointer chosen here, and a timeout flag. The pointer is the
    handle of this process. The flag is 0, since the wait has no timeout, and becomes the exit code.
    """
    import ctypes

    kernel = ctypes.WinDLL("kernel32")
    kernel.OpenProcess.restype = kernel.GetCurrentProcess.restype = ctypes.c_void_p
    handle = kernel.OpenProcess(SYNCHRONIZE, False, parent)
    if not handle:  # the parent has ended already
        os._exit(1)
    this, registered = ctypes.c_void_p(kernel.GetCurrentProcess()), ctypes.c_void_p()
    kernel.RegisterWaitForSingleObject(
        ctypes.byref(registered), ctypes.c_void_p(handle), kernel.TerminateProcess, this, FOREVER, ONLY_ONCE
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
