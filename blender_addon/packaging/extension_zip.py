"""The extension zip: a mirror of the repository with the root files lifted and the wheels beside them.

The same input gives the same bytes: entries are sorted and carry one fixed date.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from string import Template

from . import platforms, project, wheel_check, wheels
from .project import DIST, ROOT, BuildError

FOLDERS = ("blender_addon", "core", "operators", "ui")
_NOT_SHIPPED = ("blender_addon/package/", "blender_addon/packaging/", "blender_addon/blender_manifest.toml")
_SUFFIXES = (".py", ".md", ".toml", ".json", ".png", ".blend", ".yaml", ".js")
_DATE = (1980, 1, 1, 0, 0, 0)


def sources() -> dict[str, Path]:
    """Path in the zip -> file in the repository, without manifest and wheels."""
    found = {"__init__.py": ROOT / "blender_addon" / "package" / "__init__.py"}
    found["__main__.py"] = ROOT / "blender_addon" / "package" / "__main__.py"
    for name in ("LICENSE", "README.md"):
        found[name] = ROOT / name
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.is_file() and path.suffix in _SUFFIXES and not name.startswith(_NOT_SHIPPED):
                found[name] = path
    return found


def manifest(bundled: list[wheels.Wheel], platform: str) -> str:
    """``blender_manifest.toml``: the template filled from ``pyproject.toml`` and the chosen wheels."""
    extension = project.extension()
    template = Template((ROOT / "blender_addon" / "blender_manifest.toml").read_text(encoding="utf-8"))
    listing = "".join(f'    "./wheels/{name}",\n' for name in sorted(wheel.file for wheel in bundled))
    return template.substitute(
        id=extension["id"],
        name=extension["name"],
        version=project.version(),
        tagline=project.read()["project"]["description"],
        maintainer=extension["maintainer"],
        license=project.read()["project"]["license"],
        blender_version_min=extension["blender_version_min"],
        platform=platform,
        wheels=listing,
    )


def zip_path(python: str | None, platform: str) -> Path:
    """Where the zip lies: for all supported Pythons, or for one."""
    label = f"-cp{python.replace('.', '')}" if python else ""
    return DIST / f"{project.extension()['id']}-{project.version()}-{platform.replace('-', '_')}{label}.zip"


def build(python: str | None = None, platform: str = "linux-x64") -> Path:
    """Write the zip and give its path."""
    pythons = platforms.named(platform).pythons
    if python is not None and python not in pythons:
        raise BuildError(f"No zip for Python {python} on {platform}.\nChoose one of {', '.join(pythons)}.")
    chosen = [python] if python else project.extension()["pythons"]
    bundled = wheels.select(chosen, platform)
    paths = wheels.fetch(bundled)
    for each in chosen:
        own = [path for wheel, path in zip(bundled, paths) if each in wheel.pythons]
        wheel_check.check(own, sources(), each, platform)
    target = zip_path(python, platform)
    target.parent.mkdir(exist_ok=True)
    partial = target.with_suffix(".partial")
    with zipfile.ZipFile(partial, "w") as archive:
        _write(archive, "blender_manifest.toml", manifest(bundled, platform).encode())
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
