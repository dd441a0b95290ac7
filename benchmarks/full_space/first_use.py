"""First use: compile times of a default bake and of all kernels, absence of recompilation, and time to the first step
of later processes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ("core", "blender_addon", "operators", "ui", "building", "benchmarks")
STARTS = 3


def cases(data: Path | None) -> Iterator[Case]:
    """Yield one case, in separate processes."""
    yield Case("first_use", _first_use)


def _first_use() -> Iterable[Row]:
    """Measure with an empty cache folder, then with the filled one: the shortest of several starts."""
    with tempfile.TemporaryDirectory() as folder:
        cache, profile = Path(folder, "kernels"), Path(folder, "profile")
        first, ground, rest = (_told(cache, task) for task in ("first", "ground", "all"))
        other = _told(cache, "again", _copied(profile))
        node = _told(cache, "again", HOME=folder, XDG_CACHE_HOME=folder)
        steps = [_told(cache, "step")["seconds"] for _ in range(STARTS)]
    needed, more = first["seconds"], ground["seconds"]
    whole, late = needed + more + rest["seconds"], first["late"] + ground["late"]
    yield row("first_use", "start to compiled for a default bake", needed, "s", at_most=25.0)
    yield row("first_use", "the same, of a processor", first["processor"], "s")
    yield row("first_use", "more for one on a ground", more, "s")
    yield row("first_use", "compiled later, by their frames", late, "kernels", at_most=0)
    yield row("first_use", "all kernels compiled", whole, "s", at_most=85.0)
    yield row("first_use", "compiled again by a second profile", other["compiled"], "kernels", at_most=0)
    yield row("first_use", "compiled again by a node that shares the folder", node["compiled"], "kernels", at_most=0)
    yield row("first_use", "start to the first step, from the cache", min(steps), "s", at_most=2.0)
    title = f"a default bake: {needed:.0f} s, all kernels: {whole:.0f} s"
    curves = [Curve("to the first step, from the cache", range(1, STARTS + 1), steps, "o-")]
    draw("full-space", "first_use", [Plot(title, "start", "s", curves)])


def _copied(place: Path) -> Path:
    """Copy the package to another folder with new time stamps, like another Blender profile."""
    for name in PACKAGE:
        shutil.copytree(ROOT / name, place / name, copy_function=shutil.copyfile)
    for name in ("build_addon.py", "pyproject.toml"):
        shutil.copyfile(ROOT / name, place / name)
    return place


def _told(cache: Path, task: str, place: Path = ROOT, **environment: str) -> dict[str, float]:
    """Run a task in a child process, with the package in ``place``; return its numbers."""
    command = [sys.executable, str(place / "benchmarks" / "children" / "first_step.py"), str(place), task]
    environment = {**os.environ, "SINEW_KERNEL_CACHE": str(cache), **environment}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])
