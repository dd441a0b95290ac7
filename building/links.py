"""``build_addon.py mount``: links the package ``sinew`` of this checkout into the running Python's site-packages.

The links have the layout of the wheel and the extension zip, so ``import sinew`` and ``python -m sinew`` work, and
edits take effect at once. Dependencies are not installed; the Python in ``.venv`` has them all
(``.venv/bin/python build_addon.py mount``).
"""

from __future__ import annotations

import shutil
import site
import sys
import sysconfig
from pathlib import Path

from .extension_zip import FOLDERS, PACKAGE
from .project import ROOT, BuildError

MARK = "mounted-by-build_addon"


def folder() -> Path:
    """Return the folder ``sinew`` in site-packages that gets the links."""
    if sys.prefix == sys.base_prefix and not site.ENABLE_USER_SITE:
        raise BuildError(
            "this Python is not in a virtual environment and has no user folder.\n"
            "Use .venv/bin/python build_addon.py mount"
        )
    base = sysconfig.get_path("purelib") if sys.prefix != sys.base_prefix else site.getusersitepackages()
    return Path(base) / "sinew"


def make() -> int:
    """Link the package; return 0."""
    place = folder()
    if place.exists() and not (place / MARK).exists():
        raise BuildError(f"{place} exists and was not made by this command.\nUninstall it first (pip uninstall sinew).")
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    (place / MARK).write_text(f"{ROOT}\n")
    for path in PACKAGE.iterdir():
        if path.is_file():
            (place / path.name).symlink_to(path)
    for name in FOLDERS:
        (place / name).symlink_to(ROOT / name)
    print(f"sinew -> {ROOT}, in {place}")
    return 0


def remove() -> int:
    """Remove the links; return 0."""
    place = folder()
    if not (place / MARK).exists():
        raise BuildError(f"sinew is not mounted in {place.parent}.")
    shutil.rmtree(place)  # removes the links, not their targets
    print(f"removed {place}")
    return 0
