"""Command line of the library: ``python -m sinew SCENE.toml [--out FILE] [--resume] [--report FILE]``.

Simulates a scene file (see ``simulation/scene_file.py``) without Blender. Frames are kept in a folder beside the output
while they are computed, so a stopped run goes on with ``--resume``; the output is .npz, .pc2 or any surface format of
meshio. Ctrl+C and SIGTERM stop between steps; a second one stops at once.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import SinewError, StoreError
from .simulation.lengths import length_words

if TYPE_CHECKING:
    from .simulation.report import BakeReport


def main(arguments: list[str] | None = None) -> int:
    """Exit code: 0 done, 1 an error (one line on stderr), 3 stopped and resumable."""
    parser = argparse.ArgumentParser(
        prog="python -m sinew",
        description="Simulate a scene file without Blender.",
        epilog="python -m sinew bake SCENE.blend bakes a .blend with the bpy wheel, report says how that went.",
    )
    parser.add_argument("scene", type=Path, help="scene file (.toml)")
    parser.add_argument("--out", type=Path, help="frames: .npz, .pc2, or a surface format (default: SCENE.frames.npz)")
    parser.add_argument("--resume", action="store_true", help="go on after the last whole frame")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write how the steps went: a table, or .csv")
    options = parser.parse_args(arguments)
    try:
        return _run(options.scene, options.out, options.resume, options.report)
    except SinewError as error:
        print(f"sinew: {error}", file=sys.stderr)
        return 1
    except MemoryError:
        print("sinew: The memory does not suffice for this body. Lower the resolution.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped; --resume goes on after the last whole frame.", file=sys.stderr)
        return 3


def _run(scene: Path, out: Path | None, resume: bool, table: Path | None) -> int:
    from .jit import cache_warning
    from .simulation.bake import bake
    from .simulation.export import check_output, export
    from .simulation.frame_store import FrameStore
    from .simulation.report import read_report
    from .simulation.scene_file import read_scene, scene_inputs

    job = read_scene(scene)
    out = scene.with_suffix(".frames.npz") if out is None else out
    check_output(out, range(job.frame_start, job.frame_end + 1), scene_inputs(scene))
    if cache_warning():
        print(f"Warning: {cache_warning()}", file=sys.stderr)
    folder = out.with_name(out.name + ".frames")
    store = FrameStore(folder)
    resume = resume and store.exists()
    if not resume:
        store = FrameStore.create(folder, job)
    with _stop_signals() as should_stop:
        outcome = bake(job, store, lambda event: print_event(event, job.frame_end), should_stop, resume)
    if outcome == "stopped":
        return 3
    export(store, job, out)
    report = read_report(store)
    if table is not None:
        _write_report(table, scene.stem, report)
    store.delete()
    for line in report.summary():
        print(line, file=sys.stderr)
    print(f"Wrote {out}", file=sys.stderr)
    return 0


def _write_report(path: Path, name: str, report: BakeReport) -> None:
    from .simulation.report import csv_of

    try:
        text = csv_of({name: report}) if path.suffix.lower() == ".csv" else report.table()
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreError(
            f"The report {path} cannot be written ({error.strerror or error}).", "Name a file that you may write."
        ) from error


@contextlib.contextmanager
def _stop_signals() -> Iterator[Callable[[], bool]]:
    """Whether SIGINT or SIGTERM came; a second one raises KeyboardInterrupt."""
    came = threading.Event()

    def handle(*_: object) -> None:
        if came.is_set():
            raise KeyboardInterrupt
        came.set()

    before = {}
    if threading.current_thread() is threading.main_thread():  # Python sets signal handlers nowhere else
        for number in (signal.SIGINT, signal.SIGTERM):
            # A shell lets what it starts in the background ignore Ctrl+C.
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, handle)
    try:
        yield came.is_set
    finally:
        for number, handler in before.items():
            # None: it was not set from Python, and cannot be put back from Python.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def print_event(event: dict, last_frame: int) -> None:
    """One line on stderr for an event of a bake."""
    if event["event"] == "phase" and event["phase"] in ("compile", "tetrahedralize", "simulate"):
        print(f"{event['phase'].capitalize()} {event['done']}/{event['total']}", file=sys.stderr)
    elif event["event"] == "mesh":
        body = f"{length_words(event['size'])} across, {event['mass']:.3g} kg"
        print(f"{event['vertices']} vertices, {event['tets']} tetrahedra; {body}", file=sys.stderr)
        for warning in event["warnings"]:
            print(f"Warning: {warning}", file=sys.stderr)
    elif event["event"] == "frame":
        print(f"Frame {event['frame']}/{last_frame}  {event['seconds']:.2f} s", file=sys.stderr)
    elif event["event"] == "stopped":
        where = "before the first frame" if event["frame"] is None else f"after frame {event['frame']}"
        print(f"Stopped {where}; --resume goes on.", file=sys.stderr)
