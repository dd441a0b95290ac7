"""The bundled wheels: ``wheels.lock`` names each by file and SHA-256; ``.wheels`` keeps what was downloaded.

A wheel is taken unmodified from the package index. Nothing that does not match the lock ever enters a zip.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

from . import environments, platforms, project
from .project import ROOT, BuildError

LOCK = ROOT / "wheels.lock"
CACHE = ROOT / ".wheels"


@dataclass(frozen=True)
class Wheel:
    """One row of the lock: ``pythons`` are the versions whose zips carry it."""

    project: str
    version: str
    file: str
    tag: str
    platform: str
    pythons: tuple[str, ...]
    sha256: str


def read_lock() -> list[Wheel]:
    """All rows of ``wheels.lock``."""
    rows = tomllib.loads(LOCK.read_text(encoding="utf-8"))["wheel"]
    return [Wheel(**{**row, "pythons": tuple(row["pythons"])}) for row in rows]


def select(pythons: list[str], platform: str) -> list[Wheel]:
    """The wheels of a zip for these Pythons and this platform; BuildError when the lock lacks one."""
    chosen = [wheel for wheel in read_lock() if wheel.platform == platform and set(pythons) & set(wheel.pythons)]
    for python in pythons:
        for requirement in project.bundled(python, platforms.named(platform).system):
            name, _, version = requirement.partition("==")
            if not any(w.project == name and w.version == version and python in w.pythons for w in chosen):
                raise BuildError(
                    f"wheels.lock has no {requirement} for Python {python} on {platform}.\n"
                    "Run: python build_addon.py lock"
                )
    return chosen


def fetch(wheels: list[Wheel]) -> list[Path]:
    """Paths of these wheels in the cache, downloaded where absent, each checked against its SHA-256."""
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


def write_lock() -> None:
    """Download every bundled wheel for every Python and platform and write ``wheels.lock`` anew."""
    rows: dict[tuple[str, str], Wheel] = {}
    for name, platform in platforms.PLATFORMS.items():
        for python in platform.pythons:
            with tempfile.TemporaryDirectory() as place:
                _download(project.bundled(python, platform.system), python, name, Path(place))
                for path in sorted(Path(place).glob("*.whl")):
                    old = rows.get((name, path.name))
                    pythons = (*old.pythons, python) if old else (python,)
                    rows[name, path.name] = _describe(path, name, pythons)
    text = "# Every bundled wheel. Written by `python build_addon.py lock`; edit pyproject.toml instead.\n"
    for wheel in sorted(rows.values(), key=lambda wheel: (wheel.platform, wheel.file)):
        text += "\n[[wheel]]\n" + "".join(
            f"{key} = {list(value) if key == 'pythons' else value!r}\n".replace("'", '"')
            for key, value in vars(wheel).items()
        )
    LOCK.write_text(text, encoding="utf-8")
    print(f"{LOCK.name}: {len(rows)} wheels")


def _describe(path: Path, platform: str, pythons: tuple[str, ...]) -> Wheel:
    name, version, python_tag, abi_tag, _ = path.stem.split("-")
    return Wheel(name, version, path.name, f"{python_tag}-{abi_tag}", platform, pythons, sha256(path))


def sha256(path: Path) -> str:
    """SHA-256 of a file, hexadecimal."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _is_intact(wheel: Wheel) -> bool:
    path = CACHE / wheel.file
    return path.is_file() and sha256(path) == wheel.sha256


def _download(lines: list[str], python: str, platform: str, target: Path, *options: str) -> None:
    pip = sys.executable if importlib.util.find_spec("pip") else str(environments.ensure("main"))
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as listing:
        listing.write("\n".join(lines) + "\n")
        listing.flush()
        command = [pip, "-m", "pip", "download", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"]
        command += ["--python-version", python, "--implementation", "cp", "--dest", str(target), *options]
        for tag in platforms.named(platform).tags:
            command += ["--platform", tag]
        environments.run_quietly([*command, "-r", listing.name], "the wheels cannot be downloaded")
