"""Contents of ``pyproject.toml``, and paths in the repository."""

from __future__ import annotations

import operator
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "out"
DIST = ROOT / "dist"


class BuildError(Exception):
    """Something that stops a subcommand, with what to do about it in the message."""


@dataclass(frozen=True)
class EnvironmentPlan:
    """A Python version and every requirement that a virtual environment holds, and the tests that are run in it."""

    name: str
    python: str
    requirements: tuple[str, ...]
    tests: tuple[str, ...]


def read() -> dict[str, Any]:
    """The parsed ``pyproject.toml``."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def version() -> str:
    """The version of the project, which the package itself tells."""
    text = (ROOT / "blender_addon" / "package" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    assert found
    return found[1]


def extension() -> dict[str, Any]:
    """The table ``[tool.sinew.extension]``."""
    return read()["tool"]["sinew"]["extension"]


def bundled(python: str, system: str = "linux", tetgen: bool = True) -> dict[str, str]:
    """Return the projects that the extension carries for a Python version and a ``sys.platform``, with their version
    ranges: the dependencies and theirs without NumPy, which is Blender's own; with ``tetgen`` or without.
    """
    project = read()["project"]
    optional = project["optional-dependencies"]
    every = (
        project["dependencies"] + extension()["bundled"] + optional["robust"] + (optional["clean"] if tetgen else [])
    )
    found: dict[str, str] = {}
    for requirement in every:
        wanted, _, marker = requirement.partition(";")
        name, bounds = re.fullmatch(r"([\w-]+)(.*)", wanted.strip()).groups()
        if name != "numpy" and _applies(marker.strip(), python, system):
            found[name] = ",".join(filter(None, (found.get(name), bounds)))
    return found


def is_within(version: str, bounds: str) -> bool:
    """Return True if a version of numbers and points lies in a range such as ``>=1.2,<2``."""
    orders = {">=": operator.ge, "<": operator.lt}
    pairs = [re.fullmatch(r"(>=|<)([\d.]+)", bound) for bound in bounds.split(",") if bound]
    if None in pairs:
        raise BuildError(f"pyproject.toml: the range “{bounds}” is of a kind that build_addon.py does not read.")
    return all(orders[pair[1]](_numbers(version), _numbers(pair[2])) for pair in pairs)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _applies(marker: str, python: str, system: str) -> bool:
    """Return True if a marker holds; those used here compare ``python_version`` or ``sys_platform``."""
    if not marker:
        return True
    if match := re.fullmatch(r"sys_platform != '(\w+)'", marker):
        return system != match[1]
    match = re.fullmatch(r"python_version (<|>=) '([\d.]+)'", marker)
    if match is None:
        raise BuildError(f"pyproject.toml: the marker “{marker}” is of a kind that build_addon.py does not read.")
    return is_within(python, match[1] + match[2])


def environment_names() -> list[str]:
    """Names of all environments, ``main`` first."""
    return list(read()["tool"]["sinew"]["environments"])


def environment(name: str) -> EnvironmentPlan:
    """The environment of that name, without the wheels that the main one shares with the extension."""
    settings = read()["tool"]["sinew"]
    entry = settings["environments"][name]
    requirements = [f"bpy=={entry['bpy']}", f"numpy=={entry['numpy']}"]
    for group in entry["groups"]:
        requirements += settings["requirements"][group]
    return EnvironmentPlan(name, entry["python"], tuple(requirements), tuple(entry["tests"]))
