"""``build_addon.py release``: everything that a release publishes, in ``dist/release``. The same commit gives the same
bytes.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from .. import environments, extension_zip, lock, project, wheels
from ..platforms import PLATFORMS
from ..project import DIST, ROOT, BuildError
from . import bill_of_materials, library, repository

FOLDER = DIST / "release"
CHECKSUMS = "SHA256SUMS"


def run(tag: str | None = None) -> int:
    """Make the release, and return 0. Raise BuildError if the checkout has changes that are not committed, if
    ``tag`` is not the tag of this version, or if a download fails; an earlier release stays then.
    """
    check_commit()
    notes = release_notes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), tag)
    environments.ensure("release")
    wheels.fetch(lock.read())
    FOLDER.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="release-", dir=FOLDER.parent) as scratch:
        made = Path(scratch) / FOLDER.name
        _fill(made, notes)
        shutil.rmtree(FOLDER, ignore_errors=True)
        made.rename(FOLDER)
    for path in sorted(path for path in FOLDER.rglob("*") if path.is_file()):
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1e6:.1f} MB")
    return 0


def _fill(folder: Path, notes: str) -> None:
    """Write all files of the release with these notes into a new ``folder``."""
    repository.make(_zips(folder / "repository"))
    for name, tetgen in (("all_pythons", False), ("tetgen", True)):
        for platform in PLATFORMS:
            repository.validate(extension_zip.build(None, platform, tetgen, folder / name))
    library.build(folder / "library")
    name = f"{project.extension()['id']}-{project.version()}"
    (folder / f"{name}.cdx.json").write_text(bill_of_materials.text(lock.read()), encoding="utf-8", newline="\n")
    (folder / "NOTES.md").write_text(notes, encoding="utf-8", newline="\n")
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    lines = [f"{wheels.sha256(path)}  {path.name}\n" for path in files]  # a page of downloads has no folders
    (folder / CHECKSUMS).write_text("".join(lines), encoding="utf-8", newline="\n")


def _zips(folder: Path) -> list[Path]:
    """Build the zips for one Python each, for every platform, and return their paths."""
    return [
        extension_zip.build(python, name, folder=folder)
        for name, platform in PLATFORMS.items()
        for python in platform.pythons
    ]


def check_commit() -> None:
    """Raise BuildError unless all files of the checkout are committed."""
    if not (ROOT / ".git").exists():
        raise BuildError("This folder is not a git repository.\nRelease from a clone, since a release is one commit.")
    command = ["git", "-C", str(ROOT), "status", "--porcelain"]
    if changed := environments.run_quietly(command, "git cannot list the changes").splitlines():
        more = f" and {len(changed) - 5} more" if len(changed) > 5 else ""
        raise BuildError(
            f"The checkout has changes that are not committed: {', '.join(line[3:] for line in changed[:5])}{more}."
            "\nCommit them, or release from a new clone."
        )


def release_notes(changelog: str, tag: str | None) -> str:
    """Return the notes: the topmost section of ``changelog``. Raise BuildError if ``tag`` or, for a tag, the title of
    that section does not name the version of ``pyproject.toml``.
    """
    name, version = project.extension()["name"], project.version()
    sections = re.split(r"^## (.+)\n", changelog, flags=re.MULTILINE)
    if len(sections) < 3 or not sections[2].strip():
        raise BuildError("CHANGELOG.md has no section with text.\nDescribe the release below “## Unreleased”.")
    if tag is not None and tag != f"v{version}":
        raise BuildError(f"The tag {tag} is not of version {version} (pyproject.toml).\nTag the commit v{version}.")
    if tag is not None and sections[1] != version:
        raise BuildError(f"The topmost section of CHANGELOG.md is “{sections[1]}”.\nName it “{version}”.")
    return f"# {name} {version}\n\n{sections[2].strip()}\n"
