"""The child process of a bake: ``python worker.py PACKAGE_NAME PACKAGE_FOLDER STORE_FOLDER bake|resume|mesh``.

It loads the package under the parent's own import name (so that both share compiled kernels), reads the job from the
store and prints events as JSON lines. It stops between steps when its standard input closes, which is also what happens
when the parent dies. Exit code 0: done or stopped; 1: an error, whose event was printed.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import threading
import types


def _load_package(name: str, folder: str) -> None:
    """Put the package under its name in ``sys.modules`` without running what is above it."""
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


def main(arguments: list[str]) -> int:
    """Run one task of a store."""
    package, folder, store_folder, task = arguments
    # Whatever libraries print must not end up between the JSON lines.
    events = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def on_event(event: dict) -> None:
        events.write(json.dumps(event) + "\n")
        events.flush()

    stop = threading.Event()

    def listen() -> None:
        for line in sys.stdin:
            if line.strip() == "stop":
                break
        stop.set()

    threading.Thread(target=listen, daemon=True).start()
    _load_package(package, folder)
    errors = importlib.import_module(f"{package}.core.errors")
    try:
        simulation = importlib.import_module(f"{package}.core.simulation.bake")
        frame_store = importlib.import_module(f"{package}.core.simulation.frame_store")
        store = frame_store.FrameStore.open(store_folder)
        job = store.job()
        if task == "mesh":
            simulation.build_mesh(job, store, on_event)
        else:
            simulation.bake(job, store, on_event, stop.is_set, resume=task == "resume")
    except errors.SinewError as error:
        on_event({"event": "error", "code": error.code, "message": error.message, "remedy": error.remedy})
        return 1
    except MemoryError:
        on_event(
            {
                "event": "error",
                "code": "MemoryError",
                "message": "The memory does not suffice for this body.",
                "remedy": "Lower the resolution.",
            }
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
