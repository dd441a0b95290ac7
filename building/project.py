"""Reader of ``pyproject.toml``, and paths of the repository."""

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
    """Error that stops a subcommand; its message includes the remedy."""


@dataclass(frozen=True)
class EnvironmentPlan:
    """Python version, requirements and tests of a virtual environment."""

    name: str
    python: str
    requirements: tuple[str, ...]
    tests: tuple[str, ...]


def read() -> dict[str, Any]:
    """Return the parsed ``pyproject.toml``."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def version() -> str:
    """Return the version of the project."""
    return read()["project"]["version"]


def extension() -> dict[str, Any]:
    """Return the table ``[tool.sinew.extension]``."""
    return read()["tool"]["sinew"]["extension"]


def bundled(python: str, system: str = "linux", tetgen: bool = True) -> dict[str, str]:
    """Return the version ranges of the projects bundled in the zip, keyed by project name. The ranges apply to the
    Python version ``python`` and to the ``sys.platform`` named by ``system``.

    The projects are the direct and indirect dependencies. NumPy is omitted, since Blender has it. TetGen is omitted if
    ``tetgen`` is False.
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
    """Return True if a numeric version is in a range such as ``>=1.2,<2``."""
    orders = {">=": operator.ge, "<": operator.lt}
    pairs = [re.fullmatch(r"(>=|<)([\d.]+)", bound) for bound in bounds.split(",") if bound]
    if None in pairs:
        raise BuildError(f"pyproject.toml: build_addon.py cannot read the range “{bounds}”.\nUse >= and <.")
    return all(orders[pair[1]](_numbers(version), _numbers(pair[2])) for pair in pairs)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _applies(marker: str, python: str, system: str) -> bool:
    """Return True if a requirement's marker holds; only ``python_version`` and ``sys_platform`` are supported."""
    if not marker:
        return True
    if match := re.fullmatch(r"sys_platform != '(\w+)'", marker):
        return system != match[1]
    match = re.fullmatch(r"python_version (<|>=) '([\d.]+)'", marker)
    if match is None:
        raise BuildError(f"pyproject.toml: build_addon.py cannot read the marker “{marker}”.")
    return is_within(python, match[1] + match[2])


def environment_names() -> list[str]:
    """Return the names of all environments, ``main`` first."""
    return list(read()["tool"]["sinew"]["environments"])


def environment(name: str) -> EnvironmentPlan:
    """Return the plan of the environment with this name. The plan does not list the wheels of ``wheels.lock``, which
    are also installed in the environment ``main``.
    """
    settings = read()["tool"]["sinew"]
    entry = settings["environments"][name]
    requirements = [f"{package}=={entry[package]}" for package in ("bpy", "numpy") if package in entry]
    for group in entry["groups"]:
        requirements += settings["requirements"][group]
    return EnvironmentPlan(name, entry["python"], tuple(requirements), tuple(entry["tests"]))
