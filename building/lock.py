"""Reader and writer of the lock files, which contain the SHA-256 of all packages.

``wheels.lock`` lists the wheels of the zips and of the main environment. ``requirements.lock`` lists the hashes of all
other packages of the environments on Linux, as pinned in ``pyproject.toml``.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from . import platforms, project
from .project import ROOT, BuildError

LOCK = ROOT / "wheels.lock"
HASHES = ROOT / "requirements.lock"


@dataclass(frozen=True)
class Wheel:
    """Row of ``wheels.lock``: a wheel for one platform. ``tag`` are its Python and ABI tags, such as ``cp311-abi3``;
    ``pythons`` are the Python versions whose zips contain it.
    """

    project: str
    version: str
    file: str
    tag: str
    platform: str
    pythons: tuple[str, ...]
    sha256: str


def read() -> list[Wheel]:
    """Return all rows of ``wheels.lock``."""
    rows = tomllib.loads(LOCK.read_text(encoding="utf-8"))["wheel"]
    return [Wheel(**{**row, "pythons": tuple(row["pythons"])}) for row in rows]


def write(wheels: list[Wheel]) -> None:
    """Write ``wheels.lock``, one row per wheel."""
    text = (
        "# Every bundled wheel, by `python build_addon.py lock [NAME==VERSION ...]`. Ranges stand in pyproject.toml.\n"
    )
    for wheel in sorted(wheels, key=lambda wheel: (wheel.platform, wheel.file)):
        text += "\n[[wheel]]\n" + "".join(
            f"{key} = {list(value) if key == 'pythons' else value!r}\n".replace("'", '"')
            for key, value in vars(wheel).items()
        )
    LOCK.write_text(text, encoding="utf-8")


def select(pythons: list[str], platform: str, tetgen: bool = True) -> list[Wheel]:
    """Return the wheels for these Pythons and this platform; raise BuildError if ``wheels.lock`` lacks a wheel, or has
    a version outside the range in ``pyproject.toml``.
    """
    chosen = []
    for python in pythons:
        for name, bounds in project.bundled(python, platforms.named(platform).system, tetgen).items():
            rows = [w for w in read() if (w.project, w.platform) == (name, platform) and python in w.pythons]
            if len(rows) != 1 or not project.is_within(rows[0].version, bounds):
                has, wants = f"{name} {rows[0].version}" if rows else f"no {name}", bounds or "any"
                raise BuildError(
                    f"wheels.lock has {has} for Python {python} on {platform}; pyproject.toml asks for {wants}."
                    f"\nRun: python build_addon.py lock {name}==VERSION"
                )
            chosen += [row for row in rows if row not in chosen]
    return chosen


def pins(python: str, system: str) -> list[str]:
    """Return requirements ``NAME==VERSION`` of the locked wheels for a Python version and a ``sys.platform``."""
    (platform,) = [name for name, each in platforms.PLATFORMS.items() if each.system == system]
    return [f"{wheel.project}=={wheel.version}" for wheel in select([python], platform)]


def hashed(requirements: Sequence[str]) -> list[str]:
    """Return the requirements ``NAME==VERSION`` with their SHA-256 from the lock files, in pip's format; raise
    BuildError if one has no hash.
    """
    known: dict[str, set[str]] = defaultdict(set)
    for line in HASHES.read_text(encoding="utf-8").splitlines():
        requirement, *hashes = line.split(" --hash=sha256:")
        known[requirement] |= set(hashes)
    for wheel in read():
        known[f"{wheel.project}=={wheel.version}"].add(wheel.sha256)
    if missing := [each for each in requirements if not known.get(each)]:
        raise BuildError(f"{HASHES.name} has no hash of {', '.join(missing)}.\nRun: python build_addon.py lock")
    return [" ".join([each, *(f"--hash=sha256:{sha}" for sha in sorted(known[each]))]) for each in requirements]


def write_hashes(hashes: Mapping[str, Iterable[str]]) -> None:
    """Write ``requirements.lock`` from the SHA-256 of each requirement."""
    lines = ["# Hashes of the pins of pyproject.toml, by `python build_addon.py lock`."]
    lines += [" --hash=sha256:".join([each, *sorted(hashes[each])]) for each in sorted(hashes)]
    HASHES.write_text("\n".join([*lines, ""]), encoding="utf-8")
