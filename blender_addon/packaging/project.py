"""What ``pyproject.toml`` says, and where things lie in the repository."""

from __future__ import annotations

import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "out"
DIST = ROOT / "dist"


class BuildError(Exception):
    """Something that stops a subcommand, with what to do about it in the message."""


@dataclass(frozen=True)
class EnvironmentPlan:
    """A Python version and every requirement that a virtual environment holds."""

    name: str
    python: str
    requirements: tuple[str, ...]


def read() -> dict[str, Any]:
    """The parsed ``pyproject.toml``."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def version() -> str:
    """The version of the project."""
    return read()["project"]["version"]


def extension() -> dict[str, Any]:
    """The table ``[tool.sinew.extension]``."""
    return read()["tool"]["sinew"]["extension"]


def bundled(python: str, system: str = "linux") -> list[str]:
    """Requirements whose wheels the extension carries for a Python version and a ``sys.platform``: the dependencies
    less NumPy, which is Blender's own. Without their markers."""
    project = read()["project"]
    optional = project["optional-dependencies"]
    every = project["dependencies"] + optional["robust"] + optional["clean"]
    chosen = (requirement.partition(";")[0].strip() for requirement in every if _applies(requirement, python, system))
    return [requirement for requirement in chosen if not requirement.startswith("numpy")]


def _applies(requirement: str, python: str, system: str) -> bool:
    """Whether the marker of a requirement holds; those used here compare ``python_version`` or ``sys_platform``."""
    marker = requirement.partition(";")[2].strip()
    if not marker:
        return True
    if match := re.fullmatch(r"sys_platform != '(\w+)'", marker):
        return system != match[1]
    match = re.fullmatch(r"python_version (<|>=) '(\d+)\.(\d+)'", marker)
    if match is None:
        raise BuildError(f"pyproject.toml: the marker “{marker}” is of a kind that build_addon.py does not read.")
    bound = (int(match[2]), int(match[3]))
    ours = tuple(int(part) for part in python.split("."))
    return ours < bound if match[1] == "<" else ours >= bound


def environment_names() -> list[str]:
    """Names of all environments, ``main`` first."""
    return list(read()["tool"]["sinew"]["environments"])


def environment(name: str) -> EnvironmentPlan:
    """The environment of that name."""
    settings = read()["tool"]["sinew"]
    entry = settings["environments"][name]
    requirements = [f"bpy=={entry['bpy']}", f"numpy=={entry['numpy']}"]
    for group in entry["groups"]:
        requirements += settings["requirements"][group]
    if name == "main":
        requirements += bundled(entry["python"], sys.platform)
    return EnvironmentPlan(name, entry["python"], tuple(requirements))
