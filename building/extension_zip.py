"""Extension zip: the source folders of the repository, the files of the package root, and the wheels.

Builds are reproducible: entries are sorted and have a fixed date.
"""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path
from string import Template

from . import environments, lock, notices, platforms, project, wheel_check, wheels
from .project import DIST, ROOT, BuildError

FOLDERS = ("blender_addon", "core", "operators", "ui")
PACKAGE = ROOT / "blender_addon" / "package"
"""Folder of the files that end up in the package's root folder. The package is built as a zip, as a wheel, or by
mounting a checkout.
"""
LICENCES = {"tetgen": "AGPL-3.0-or-later"}
"""SPDX names of the licences of bundled projects that the project's own licence does not cover."""
OLDEST_PYTHON = (None, "3.11")
"""Pythons of the zips that run in the oldest Blender."""
NEWER_BLENDER = "4.3.0"
"""Oldest Blender for zips of other Pythons. Blender 4.2 always has Python 3.11 and does not compare the Pythons of the
zips in a repository, as later versions do.
"""
_NOT_SHIPPED = ("blender_addon/package/", "blender_addon/blender_manifest.toml")
_SUFFIXES = (".py", ".md", ".toml", ".json", ".png", ".blend", ".yaml", ".js", ".po", ".txt")
_DATE = (1980, 1, 1, 0, 0, 0)


def sources() -> dict[str, Path]:
    """Return the files of the zip, without manifest and wheels, keyed by their path in it; raise BuildError for a
    symbolic link.
    """
    found = {}
    for path in _tracked():
        name = path.relative_to(ROOT).as_posix()
        if path.parent == PACKAGE or name in ("LICENSE", "README.md"):
            found[path.name] = path
        elif name.partition("/")[0] in FOLDERS and path.suffix in _SUFFIXES and not name.startswith(_NOT_SHIPPED):
            found[name] = path
    for path in found.values():
        if Path(os.path.realpath(path)) != Path(os.path.realpath(ROOT), path.relative_to(ROOT)):
            raise BuildError(f"{path} is a symbolic link.\nReplace it by the file, since a zip has no links.")
    return found


def _tracked() -> list[Path]:
    """Return the files that git tracks; without git, those in the source folders and directly in the root."""
    if not (ROOT / ".git").exists():
        places = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))
        print("There is no git repository here: the zip gets all files in the source folders.", file=sys.stderr)
        return sorted(path for path in (*places, *ROOT.iterdir()) if path.is_file() and "__pycache__" not in path.parts)
    command = ["git", "-C", str(ROOT), "ls-files", "-z"]
    names = environments.run_quietly(command, "git cannot list the files of the zip").split("\0")
    paths = sorted(ROOT / name for name in names if name)
    if gone := [path for path in paths if not os.path.lexists(path)]:
        raise BuildError(f"{gone[0]} is tracked by git, but does not exist.\nRestore it, or commit its deletion.")
    return paths


def manifest(bundled: list[lock.Wheel], platform: str, python: str | None = None) -> str:
    """Return ``blender_manifest.toml``, the template filled from ``pyproject.toml`` and the bundled wheels. The wheels
    are for the Python version ``python`` alone, or for all if it is None.
    """
    extension = project.extension()
    own = project.read()["project"]
    projects = {wheel.project for wheel in bundled}
    licences = [own["license"], *(LICENCES[name] for name in sorted(projects & set(LICENCES)))]
    holders = [line for name, line in extension["copyright"].items() if name in {extension["id"], *projects}]
    template = Template((ROOT / "blender_addon" / "blender_manifest.toml").read_text(encoding="utf-8"))
    return template.substitute(
        id=extension["id"],
        name=extension["name"],
        version=project.version(),
        tagline=own["description"],
        maintainer=extension["maintainer"],
        website=own["urls"]["Homepage"],
        license=_lines([f"SPDX:{licence}" for licence in licences]),
        copyright=_lines(holders),
        blender_version_min=extension["blender_version_min"] if python in OLDEST_PYTHON else NEWER_BLENDER,
        platform=platform,
        wheels=_lines(sorted(f"./wheels/{wheel.file}" for wheel in bundled)),
    )


def _lines(texts: list[str]) -> str:
    """Return the items of a TOML list of strings."""
    return "".join(f'    "{text}",\n' for text in texts)


def zip_path(python: str | None, platform: str, tetgen: bool = False) -> Path:
    """Return the path of a platform's zip. ``python`` is the only Python version that it supports, or None for all;
    ``tetgen`` is True if it contains TetGen.
    """
    label = (f"-cp{python.replace('.', '')}" if python else "") + ("-tetgen" if tetgen else "")
    return DIST / f"{project.extension()['id']}-{project.version()}-{platform.replace('-', '_')}{label}.zip"


def build(
    python: str | None = None, platform: str = "linux-x64", tetgen: bool = False, folder: Path | None = None
) -> Path:
    """Write the zip for a platform into ``folder``, by default ``dist``, and return its path; the other arguments are
    those of :func:`zip_path`. Raise BuildError if the platform, Python version or a wheel is not available, or if the
    check of the wheels fails.
    """
    pythons = platforms.named(platform).pythons
    if python is not None and python not in pythons:
        raise BuildError(f"No zip for Python {python} on {platform}.\nChoose one of {', '.join(pythons)}.")
    chosen = [python] if python else project.extension()["pythons"]
    bundled = lock.select(chosen, platform, tetgen)
    paths = wheels.fetch(bundled)
    for each in chosen:
        own = [path for wheel, path in zip(bundled, paths) if each in wheel.pythons]
        wheel_check.check(own, sources(), each, platform)
    target = zip_path(python, platform, tetgen)
    if folder is not None:
        target = folder / target.name
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(".partial")
    with zipfile.ZipFile(partial, "w") as archive:
        _write(archive, "blender_manifest.toml", manifest(bundled, platform, python).encode())
        _write(archive, "THIRD_PARTY.md", notices.third_party(paths).encode())
        for name, path in sorted(sources().items()):
            _write(archive, name, path.read_bytes())
        for path in sorted(paths):
            _write(archive, f"wheels/{path.name}", path.read_bytes(), zipfile.ZIP_STORED)
    partial.replace(target)
    return target


def _write(archive: zipfile.ZipFile, name: str, data: bytes, method: int = zipfile.ZIP_DEFLATED) -> None:
    entry = zipfile.ZipInfo(name, _DATE)
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, data, method)
