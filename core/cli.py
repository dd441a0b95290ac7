"""Command line of the library: ``sinew SCENE.toml [--out FILE] [--resume] [--report FILE]``.

The command simulates a scene file without Blender. ``jobs/scene_files/scene_file.py`` documents scene files. Frames are
stored in a folder beside the output, so that ``--resume`` can continue a stopped run. The output is a .npz or .pc2
file, or any surface format of meshio. The first Ctrl+C or SIGTERM stops the run after the current step, the second
immediately.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .foundation.errors import SinewError, system_words
from .foundation.events import ContactWarnings, Event, FrameDone, Mesh, OnEvent, Phase, StoppedAfter
from .foundation.process.process_memory import keep_freed
from .foundation.process.stop_signals import stop_signals
from .foundation.unit_words import length_words

if TYPE_CHECKING:
    from .jobs.results.bake_report import BakeReport


def main(arguments: list[str] | None = None) -> int:
    """Run the command line.

    Return the exit code: 0 if finished, 1 after an error (printed on stderr), 3 if stopped and resumable.
    """
    parser = argparse.ArgumentParser(
        prog="sinew",
        description="Simulate a scene file without Blender.",
        epilog="Other commands: sinew bake SCENE.blend (bake a .blend file; needs the package bpy), "
        "sinew report (print the reports of such bakes), sinew wedge (variants of either, by a table of settings).",
    )
    parser.add_argument("scene", type=Path, help="scene file (.toml)")
    parser.add_argument(
        "--out",
        type=Path,
        help="output file: .npz, .pc2 or a surface format of meshio (default: SCENE.frames.npz); "
        "bodies with names are written to OUT.NAME.npz",
    )
    parser.add_argument("--resume", action="store_true", help="continue a stopped run after its last complete frame")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write a report of all steps, as text or .csv")
    options = parser.parse_args(arguments)
    keep_freed()
    try:
        return _run(options.scene, options.out, options.resume, options.report)
    except SinewError as error:
        print(f"sinew: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"sinew: {system_words(error)}", file=sys.stderr)
        return 1
    except MemoryError:
        print("sinew: There is not enough memory for this body. Lower its resolution.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped. Run again with --resume to continue after the last complete frame.", file=sys.stderr)
        return 3


def _run(scene: Path, out: Path | None, resume: bool, table: Path | None) -> int:
    from .foundation.kernels import THREADS_WARNING
    from .foundation.kernels.jit import cache_warning
    from .jobs.results.bake_report import read_report
    from .jobs.results.export import check_output, export
    from .jobs.scene_files.scene_file import read_scene, scene_inputs
    from .jobs.store.frame_store import FrameStore
    from .simulation.frame_loop.bake import bake_each

    job = read_scene(scene)
    out = scene.with_suffix(".frames.npz") if out is None else out
    outs = [out.with_name(f"{out.stem}.{each.name}{out.suffix}") if each.name else out for each in job.bodies]
    for each in outs:
        check_output(each, range(job.first_shown, job.frame_end + 1), scene_inputs(scene))
    for warning in filter(None, (cache_warning(), THREADS_WARNING)):
        print(f"Warning: {warning}", file=sys.stderr)
    folder = out.with_name(out.name + ".frames")

    def events_of(name: str) -> OnEvent:
        if name:
            print(f"{name}:", file=sys.stderr)
        return lambda event: print_event(event, job.frame_end)

    with stop_signals(most=1) as caught:
        ended = bake_each(job, folder, events_of, lambda: bool(caught), resume)
    code = _refused({name: error for name, error in ended.items() if isinstance(error, SinewError)})
    if "stopped" in ended.values():
        return 3
    reports = {}
    for k, (each, (name, outcome)) in enumerate(zip(outs, ended.items(), strict=True)):
        if outcome == "done":
            store = FrameStore(folder / name)
            export(store, job.alone(k), each)
            reports[name or scene.stem] = report = read_report(store)
            print(*report.summary(), f"Wrote {each}", sep="\n", file=sys.stderr)
    if table is not None and reports:
        _write_report(table, reports)
    if code == 0:  # otherwise the stored frames are kept for --resume
        for name in ended:
            FrameStore(folder / name).delete()
        with contextlib.suppress(OSError):
            folder.rmdir()
    return code


def _refused(errors: dict[str, SinewError]) -> int:
    """Print the ``errors`` of bodies on stderr, and return the exit code."""
    hindered: dict[SinewError, list[str]] = {}
    for name, error in errors.items():
        hindered.setdefault(error, []).append(name)
    for error, names in hindered.items():
        whose = ", ".join(f"“{name}”" for name in names if name)
        print(f"sinew: {f'{whose}: ' if whose else ''}{error}", file=sys.stderr)
    return 1 if errors else 0


def _write_report(path: Path, reports: dict[str, BakeReport]) -> None:
    from .jobs.results.bake_report import csv_of, write_report

    tables = [f"{name}\n{each.table()}" if len(reports) > 1 else each.table() for name, each in reports.items()]
    text = csv_of(reports) if path.suffix.lower() == ".csv" else "\n\n".join(tables)
    write_report(path, text)


def print_event(event: Event, last_frame: int) -> None:
    """Print an event of a bake on stderr."""
    for line in words_of(event, last_frame):
        print(line, file=sys.stderr)


def words_of(event: Event, last_frame: int) -> list[str]:
    """Return the lines of text that describe an event of a bake.

    ``last_frame``: number of the bake's last frame.
    """
    match event:
        case Phase("compile" | "tetrahedralize" | "simulate", done, total):
            return [f"{event.phase.capitalize()} {done}/{total}"]
        case Mesh():
            body = f"{length_words(event.size)} across, {event.mass:.3g} kg"
            warnings = [f"Warning: {warning}" for warning in event.warnings]
            text = f"{event.vertices} vertices, {event.tets} tetrahedra; {body}"
            return [text, *([event.match] if event.match else []), *warnings]
        case ContactWarnings(warnings):
            return [f"Warning: {warning}" for warning in warnings]
        case FrameDone(frame, seconds):
            return [f"Frame {frame}/{last_frame}  {seconds:.2f} s"]
        case StoppedAfter(frame):
            where = "before the first frame" if frame is None else f"after frame {frame}"
            return [f"Stopped {where}; --resume continues."]
    return []
