"""``build_addon.py manual``, ``listing`` and ``gallery``: pictures of manual, README and the extension's page, which
are screenshots of a windowed Blender and renders, and clips and baked .blend files for the site.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from . import environments, testing
from .project import OUT, ROOT, BuildError

PICTURES = ROOT / "docs" / "manual" / "pictures"
LISTING = ROOT / "docs" / "listing"
GALLERY = OUT / "gallery"


def run(renders_alone: bool = False) -> int:
    """Make the screenshots and the renders of the manual, or only the renders if ``renders_alone``; return 0."""
    PICTURES.mkdir(exist_ok=True)
    if not renders_alone:
        os.environ["SINEW_MANUAL"] = "1"
        if testing.run(["gui"], ["-k", "manual"]) != 0:
            raise BuildError("the windowed Blender made no pictures; see its output above.")
        for picture in sorted((OUT / "manual").glob("*.png")):
            shutil.copyfile(picture, PICTURES / picture.name)
    return _render(ROOT / "docs" / "manual" / "render_examples.py", PICTURES, [])


def listing(names: list[str]) -> int:
    """Render the pictures of the extension's page, or only those with these names; return 0."""
    return _render(LISTING / "render.py", LISTING / "pictures", names)


def gallery(names: list[str]) -> int:
    """Render the clips and save the baked .blend files of the examples, or only of those with these names; return 0."""
    return _render(ROOT / "docs" / "manual" / "render_gallery.py", GALLERY, names)


def _render(script: Path, folder: Path, names: list[str]) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    python = environments.ensure("main")
    if subprocess.run([str(python), str(script), str(folder), *names], cwd=ROOT).returncode != 0:
        raise BuildError("the examples were not rendered; see the output above.")
    for picture in sorted(folder.iterdir()):
        print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size / 1e3:.0f} kB")
    return 0
