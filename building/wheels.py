"""Download of the bundled wheels of ``wheels.lock`` into ``.wheels``.

Wheels come unmodified from the package index. Files that do not match the lock never enter a zip.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from . import environments, lock, platforms, project
from .lock import Wheel
from .project import ROOT, BuildError, EnvironmentPlan

CACHE = ROOT / ".wheels"


def fetch(wheels: list[Wheel]) -> list[Path]:
    """Return the paths of these wheels in the cache; download missing ones, and check each against its SHA-256."""
    CACHE.mkdir(exist_ok=True)
    missing = [wheel for wheel in wheels if not _is_intact(wheel)]
    if missing:
        print(f"Downloading {len(missing)} wheels ...", flush=True)
    for platform, python in sorted({(wheel.platform, wheel.pythons[0]) for wheel in missing}):
        batch = [wheel for wheel in missing if (wheel.platform, wheel.pythons[0]) == (platform, python)]
        lines = [f"{wheel.project}=={wheel.version} --hash=sha256:{wheel.sha256}" for wheel in batch]
        _download(lines, python, platform, CACHE, "--require-hashes")
    for wheel in wheels:
        if not _is_intact(wheel):
            raise BuildError(f"{wheel.file} does not match its SHA-256 in wheels.lock.\nDelete .wheels and try again.")
    return [CACHE / wheel.file for wheel in wheels]


def write_lock(wanted: list[str]) -> None:
    """Download all bundled wheels for all Pythons and platforms, and write both lock files.

    A project keeps its locked version, or gets the version in ``wanted`` (``NAME==VERSION``) if its range in
    ``pyproject.toml`` allows it; a new project gets the newest version. Raise BuildError if no range allows a version.
    """
    asked = dict(each.split("==") for each in wanted if re.fullmatch(r"[\w-]+==[\d.]+", each))
    if len(asked) < len(wanted):
        raise BuildError("lock takes versions as NAME==VERSION, each name once.")
    old, rows = lock.read(), {}
    for name, platform in platforms.PLATFORMS.items():
        for python in platform.pythons:
            held = {w.project: w.version for w in old if w.platform == name and python in w.pythons}
            lines = []
            for project_, bounds in project.bundled(python, platform.system).items():
                choices = (asked.get(project_), held.get(project_))
                version = next((v for v in choices if v and project.is_within(v, bounds)), None)
                lines.append(f"{project_}=={version}" if version else project_ + bounds)
            with tempfile.TemporaryDirectory() as place:
                _download(lines, python, name, Path(place))
                for path in sorted(Path(place).glob("*.whl")):
                    earlier = rows.get((name, path.name))
                    pythons = (*earlier.pythons, python) if earlier else (python,)
                    rows[name, path.name] = _describe(path, name, pythons)
    for project_, version in asked.items():
        if not any((row.project, row.version) == (project_, version) for row in rows.values()):
            raise BuildError(f"No range of pyproject.toml allows {project_} {version}.\nChange the range first.")
    lock.write(list(rows.values()))
    print(f"{lock.LOCK.name}: {len(rows)} wheels")
    write_hashes()


def write_hashes() -> None:
    """Write ``requirements.lock``: the hashes of all package versions that the environments install. The
    package index is queried for the hashes.
    """
    hashes: dict[str, set[str]] = defaultdict(set)
    for name in project.environment_names():
        plan = project.environment(name)
        report = _ask_pip(["install", "--dry-run", "--ignore-installed", "--ignore-requires-python"], plan)
        for each in report["install"]:
            pin = f"{each['metadata']['name'].lower().replace('_', '-')}=={each['metadata']['version']}"
            hashes[pin].add(each["download_info"]["archive_info"]["hashes"]["sha256"])
    lock.write_hashes(hashes)
    print(f"{lock.HASHES.name}: {len(hashes)} pins")


def _ask_pip(task: list[str], plan: EnvironmentPlan) -> dict[str, Any]:
    """Return pip's report on the packages that it would install on Linux for an environment's plan."""
    with tempfile.TemporaryDirectory() as place:
        listing, report = Path(place, "wanted.txt"), Path(place, "report.json")
        listing.write_text("\n".join(plan.requirements) + "\n")
        command = [
            _pip(),
            "-m",
            "pip",
            *task,
            "--quiet",
            "--report",
            str(report),
            "--target",
            place,
            "-r",
            str(listing),
        ]
        command += ["--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"]
        command += ["--python-version", plan.python, "--implementation", "cp"]
        for tag in platforms.named("linux-x64").tags:
            command += ["--platform", tag]
        environments.run_quietly(command, f"the hashes of the environment {plan.name} cannot be found")
        return json.loads(report.read_text(encoding="utf-8"))


def _pip() -> str:
    """Return the path of a Python that has pip."""
    return sys.executable if importlib.util.find_spec("pip") else str(environments.ensure("main"))


def _describe(path: Path, platform: str, pythons: tuple[str, ...]) -> Wheel:
    name, version, python_tag, abi_tag, _ = path.stem.split("-")
    return Wheel(name, version, path.name, f"{python_tag}-{abi_tag}", platform, pythons, sha256(path))


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, hexadecimal."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _is_intact(wheel: Wheel) -> bool:
    path = CACHE / wheel.file
    return path.is_file() and sha256(path) == wheel.sha256


def _download(lines: list[str], python: str, platform: str, target: Path, *options: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        listing = Path(place, "wanted.txt")
        listing.write_text("\n".join(lines) + "\n")
        command = [
            _pip(),
            "-m",
            "pip",
            "download",
            "--disable-pip-version-check",
            "--no-deps",
            "--only-binary",
            ":all:",
        ]
        command += ["--python-version", python, "--implementation", "cp", "--dest", str(target), *options]
        for tag in platforms.named(platform).tags:
            command += ["--platform", tag]
        complaint = "the wheels cannot be downloaded (is the package index reachable?)"
        environments.run_quietly([*command, "-r", str(listing)], complaint)
