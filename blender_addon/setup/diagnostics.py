"""Text of *Copy Diagnostics* for bug reports: versions, settings and the last report, without names and paths."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from importlib import metadata
from typing import Any

import bpy

from ... import __version__
from .copying import copied_properties

LIBRARIES = (
    "numpy", "scipy", "numba", "llvmlite", "cvxopt", "ipctk", "pymetis", "pypardiso", "pytetwild", "tetgen",
    "manifold3d", "psutil", "threadpoolctl",
)  # fmt: skip
"""Packages whose versions can change the results of a simulation."""
_QUOTED = re.compile(r"“[^”]*”")
_PATH = re.compile(r"(?<!\w)(?:[A-Za-z]:)?[\\/](?!\s).*")
"""A path may contain spaces, so that the rest of its line is removed with it."""


def text(obj: Any) -> str:
    """Return the diagnostics of a body."""
    record = obj.sinew.bake
    report = [f"Bake: {record.status.lower()}", record.mesh_summary, record.message, *record.report.splitlines()]
    parts = {
        "Versions": _versions(),
        "Settings that differ from the defaults": list(_settings(obj.sinew)),
        "Last report": [without_names(line) for line in report if line],
    }
    return "\n".join("\n    ".join((title, *lines)) for title, lines in parts.items()) + "\n"


def without_names(line: str) -> str:
    """Return a message without the names that it quotes, and without paths."""
    return _PATH.sub("…", _QUOTED.sub("“…”", line))


def _versions() -> list[str]:
    system = f"{platform.system()} {platform.release()}, {platform.machine()}, {os.cpu_count()} processors"
    mode = "background" if bpy.app.background else "window"
    lines = [f"Sinew {__version__}", f"Blender {bpy.app.version_string}, {mode}", f"Python {platform.python_version()}"]
    return [*lines, system, ", ".join(f"{name} {_version_of(name)}" for name in LIBRARIES)]


def _version_of(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "missing"


def _settings(group: Any, path: str = "") -> Iterator[str]:
    """Yield the settings of a property group that differ from their defaults. Names are replaced by "set"."""
    for prop in copied_properties(group):
        name, value = f"{path}{prop.identifier}", getattr(group, prop.identifier)
        if prop.type == "COLLECTION":
            for index, item in enumerate(value):
                yield f"{name}[{index}]"
                yield from _settings(item, f"{name}[{index}].")
        elif isinstance(value, bpy.types.PropertyGroup):
            yield from _settings(value, f"{name}.")
        elif prop.type in ("STRING", "POINTER"):
            if value:
                yield f"{name} = set"
        elif prop.type != "ENUM" or len(prop.enum_items_static):  # the items of others may be names
            is_array = getattr(prop, "is_array", False)
            value = list(value) if is_array else value
            if value != (list(prop.default_array) if is_array else prop.default):
                yield f"{name} = {_rounded(value)}"


def _rounded(value: Any) -> str:
    """Return a value as text, with the six digits that a 32-bit float has."""
    if isinstance(value, list):
        return f"({', '.join(map(_rounded, value))})"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
