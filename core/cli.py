"""Command line of the library: ``python -m sinew SCENE.toml [--out FILE] [--resume]``.

Simulates a scene file (see ``simulation/scene_file.py``) without Blender. Frames are kept in a folder beside the output
while they are computed, so a stopped run goes on with ``--resume``; the output is .npz, .pc2 or any surface format of
meshio.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from .errors import SinewError


def main(arguments: list[str] | None = None) -> int:
    """Exit code: 0 done, 1 an error (one line on stderr), 3 stopped and resumable."""
    parser = argparse.ArgumentParser(prog="python -m sinew", description="Simulate a scene file without Blender.")
    parser.add_argument("scene", type=Path, help="scene file (.toml)")
    parser.add_argument("--out", type=Path, help="frames: .npz, .pc2, or a surface format (default: SCENE.npz)")
    parser.add_argument("--resume", action="store_true", help="go on after the last whole frame")
    options = parser.parse_args(arguments)
    try:
        return _run(options.scene, options.out or options.scene.with_suffix(".npz"), options.resume)
    except SinewError as error:
        print(f"sinew: {error}", file=sys.stderr)
        return 1


def _run(scene: Path, out: Path, resume: bool) -> int:
    from .simulation.bake import bake
    from .simulation.export import export
    from .simulation.frame_store import FrameStore
    from .simulation.scene_file import read_scene

    job = read_scene(scene)
    folder = out.with_name(out.name + ".frames")
    store = FrameStore(folder)
    resume = resume and store.exists()
    if not resume:
        store = FrameStore.create(folder, job)
    stopped = []
    previous = signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    try:
        outcome = bake(job, store, lambda event: print_event(event, job.frame_end), lambda: bool(stopped), resume)
    finally:
        signal.signal(signal.SIGTERM, previous)
    if outcome == "stopped":
        return 3
    export(store, job, out)
    store.delete()
    print(f"Wrote {out}", file=sys.stderr)
    return 0


def print_event(event: dict, last_frame: int) -> None:
    """One line on stderr for an event of a bake."""
    if event["event"] == "phase" and event["phase"] in ("compile", "tetrahedralize", "simulate"):
        print(f"{event['phase'].capitalize()} {event['done']}/{event['total']}", file=sys.stderr)
    elif event["event"] == "mesh":
        print(f"{event['vertices']} vertices, {event['tets']} tetrahedra", file=sys.stderr)
        for warning in event["warnings"]:
            print(f"Warning: {warning}", file=sys.stderr)
    elif event["event"] == "frame":
        print(f"Frame {event['frame']}/{last_frame}  {event['seconds']:.2f} s", file=sys.stderr)
    elif event["event"] == "stopped":
        print(f"Stopped after frame {event['frame']}; --resume goes on.", file=sys.stderr)
