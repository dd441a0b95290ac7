"""``sinew bake`` and ``sinew report``: a bake without a window, in this process, and what is known of one.

``blender -b scene.blend --command sinew bake ...`` comes in through :func:`run`, ``python -m sinew bake scene.blend``
(the ``bpy`` wheel) through :func:`main`. The result is the .blend itself: it is saved with them when the bake
is complete. Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 128 + the signal's number when one stopped it.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import bpy

from ..core.errors import SinewError, StoreError
from ..core.simulation.lengths import length_words

RANGE_HELP = (
    "frame range (default: as set on the object); an earlier bake is replaced, and the body is at rest at frame A"
)


def main(arguments: list[str], command: str = "bake") -> int:
    """``python -m sinew bake scene.blend [options]``, or ``report``: load the file and do it; the exit code."""
    try:
        options = _parser(command, with_scene=True).parse_args(arguments)
    except SystemExit as leaving:
        return int(leaving.code or 0)
    from . import registration

    if not registration.is_registered():
        registration.register()
    if not Path(options.scene).is_file():
        return _refuse(StoreError(f"There is no file {options.scene}.", "Check the path of the .blend."))
    try:
        bpy.ops.wm.open_mainfile(filepath=str(Path(options.scene).resolve()), load_ui=False, use_scripts=False)
    except RuntimeError as error:
        reason = _last_line(error)
        return _refuse(StoreError(f"{options.scene} cannot be opened ({reason}).", "Open it in Blender to see more."))
    return COMMANDS[command](options)


def leave(code: int) -> NoReturn:
    """End a process that has ``bpy`` as a module, all files being closed: 4.2 crashes when it is torn down after a bake
    that was stopped, and the exit code would be that of the crash.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def run(arguments: list[str]) -> int:
    """``blender -b scene.blend --command sinew bake [options]``, or ``report``: the exit code."""
    if not arguments or arguments[0] not in COMMANDS:
        if arguments and not arguments[0].startswith("-"):
            print(f"sinew: there is no command “{arguments[0]}”; there is: {', '.join(COMMANDS)}", file=sys.stderr)
        print(f"usage: blender -b scene.blend --command sinew {{{','.join(COMMANDS)}}} [options]", file=sys.stderr)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    try:
        options = _parser(arguments[0], with_scene=False).parse_args(arguments[1:])
    except SystemExit as leaving:
        return int(leaving.code or 0)
    return COMMANDS[arguments[0]](options)


def _parser(command: str, with_scene: bool) -> argparse.ArgumentParser:
    prog = f"python -m sinew {command}" if with_scene else f"blender -b scene.blend --command sinew {command}"
    what = {
        "bake": "Bake the elastic bodies of a .blend and save the .blend.",
        "report": "Say how the bakes of a .blend went, frame by frame.",
    }
    parser = argparse.ArgumentParser(prog=prog, description=what[command])
    if with_scene:
        parser.add_argument("scene", help="the .blend" + ("; it is saved with the result" if command == "bake" else ""))
    parser.add_argument("--object", metavar="NAME", help="only this object (default: all that have Sinew)")
    if command == "report":
        parser.add_argument("--csv", action="store_true", help="only comma-separated values")
        return parser
    parser.add_argument("--frames", metavar="A-B", type=_frames, help=RANGE_HELP)
    parser.add_argument("--solver", metavar="S", help="solver (default: as set on the object)")
    kinds = (
        "keys: shape keys; nodes: Geometry Nodes, small; cache: PC2 file and Mesh Cache (default: as set on the object)"
    )
    parser.add_argument("--result", choices=("keys", "nodes", "cache"), help=f"how the frames are kept; {kinds}")
    parser.add_argument("--resume", action="store_true", help="go on with an interrupted bake")
    return parser


def _frames(text: str) -> tuple[int, int]:
    import re

    match = re.fullmatch(r"(-?\d+)-(-?\d+)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"“{text}” is not a range of frames such as 1-60")
    return int(match[1]), int(match[2])


def _bake(options: argparse.Namespace) -> int:
    try:
        bodies = _bodies(options.object)
        with _signals() as caught:
            for obj in bodies:
                _bake_one(obj, options, caught)
                if caught:
                    print(f"sinew: stopped by {caught[0].name}; go on with --resume", file=sys.stderr)
                    return 128 + caught[0]
        _save()
    except SinewError as error:
        return _refuse(error)
    return 0


def _report(options: argparse.Namespace) -> int:
    from . import baking

    try:
        for obj in _bodies(options.object):
            report = baking.report_of(obj)
            if options.csv:
                print(report.as_csv(), end="")
            else:
                print(f"{obj.name}\n\n{report.table()}")
    except SinewError as error:
        return _refuse(error)
    return 0


COMMANDS = {"bake": _bake, "report": _report}


def _bodies(name: str | None) -> list[Any]:
    """The objects to bake; StoreError or MeshError when there is nothing to do."""
    if not bpy.data.filepath:
        # With a missing .blend Blender runs its commands on the default scene.
        raise StoreError("No .blend is loaded.", "Check the path of the .blend on the command line.")
    scene = bpy.context.scene
    if name is None:
        bodies = [obj for obj in scene.objects if obj.type == "MESH" and obj.sinew.enabled]
        if not bodies:
            raise StoreError("No object of the scene has Sinew enabled.", "Enable it in the Physics tab and save.")
        return bodies
    obj = scene.objects.get(name)
    if obj is None:
        names = ", ".join(o.name for o in scene.objects) or "none"
        raise StoreError(f"The scene has no object “{name}”.", f"It has {names}.")
    if not obj.sinew.enabled:
        raise StoreError(f"“{name}” does not have Sinew enabled.", "Enable it in the Physics tab and save.")
    return [obj]


def _bake_one(obj: Any, options: argparse.Namespace, caught: list[signal.Signals]) -> None:
    from ..core.simulation import bake
    from . import baking

    if options.result:
        obj.sinew.result = options.result.upper()
    prepare = baking.prepare_resume if options.resume else baking.prepare
    job, store = prepare(obj, bpy.context, options.frames, options.solver)
    progress = _Progress(obj.name, job.frame_count)
    if obj.sinew.bake.material_warning:
        progress.say(f"warning: {obj.sinew.bake.material_warning}")
    modes = baking.wanted_modes(obj)
    bake.bake(job, store, progress, should_stop=lambda: bool(caught), resume=options.resume, modes=modes)
    if not caught:
        baking.note_mesh(obj, progress.mesh)
        baking.put_result(obj, bpy.context, "DONE", store)
        if obj.sinew.bake.message:
            progress.say(f"warning: {obj.sinew.bake.message}")
        if obj.sinew.bake.error:
            progress.say(obj.sinew.bake.error)
        for line in obj.sinew.bake.report.splitlines():
            progress.say(line)


class _Progress:
    """Prints the events of a bake to stderr."""

    def __init__(self, name: str, total: int) -> None:
        self._name, self._total, self._before, self._done = name, total, 0, 0
        self._start = self._first = time.monotonic()
        self._phase = ""
        self.mesh: dict[str, Any] = {}

    def __call__(self, event: dict[str, Any]) -> None:
        kind = event["event"]
        if kind == "phase" and event["phase"] == "simulate":
            self._before, self._first = event["done"], time.monotonic()
        if kind == "phase" and event["phase"] != self._phase:
            self._phase = event["phase"]
            self.say(self._phase)
        elif kind == "mesh":
            self.mesh = event
            body = f"{length_words(event['size'])} across, {event['mass']:.3g} kg"
            self.say(f"{event['vertices']} vertices, {event['tets']} tetrahedra; {body}")
            for warning in event.get("warnings", ()):
                self.say(f"warning: {warning}")
        elif kind == "frame":
            self._done += 1
            now = time.monotonic()
            done = self._before + self._done
            left = (now - self._first) / self._done * max(0, self._total - done)
            times = f"elapsed {now - self._start:.0f} s, remaining {left:.0f} s"
            self.say(f"frame {event['frame']} ({done}/{self._total}) {times}")

    def say(self, text: str) -> None:
        """Print one line that begins with the body's name."""
        print(f"sinew: {self._name}: {text}", file=sys.stderr, flush=True)


@contextmanager
def _signals() -> Iterator[list[signal.Signals]]:
    """Collects SIGTERM and SIGINT instead of dying of them; handlers are put back afterwards."""
    caught: list[signal.Signals] = []

    def note(number: int, frame: Any) -> None:
        caught.append(signal.Signals(number))

    before = {number: signal.signal(number, note) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            # None: Blender's own, set outside of Python, which cannot be put back from here.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _save() -> None:
    try:
        bpy.ops.wm.save_mainfile()
    except RuntimeError as error:
        raise StoreError(
            f"The bake is done, but {bpy.data.filepath} cannot be saved ({_last_line(error)}).",
            "Make the file writable; --resume then saves the result without simulating again.",
        ) from error
    print(f"sinew: saved {bpy.data.filepath}", file=sys.stderr)


def _refuse(error: SinewError) -> int:
    print(f"sinew: error: {error}", file=sys.stderr)
    return 1


def _last_line(error: Exception) -> str:
    return str(error).strip().splitlines()[-1].removeprefix("Error: ") if str(error).strip() else type(error).__name__
