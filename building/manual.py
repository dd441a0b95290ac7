"""``build_addon.py manual``: makes the pictures of manual and README, screenshots of a windowed Blender and renders."""

from __future__ import annotations

import os
import shutil
import subprocess

from . import environments, testing
from .project import OUT, ROOT, BuildError

PICTURES = ROOT / "docs" / "manual" / "pictures"


def run(renders_alone: bool = False) -> int:
    """Make the screenshots and the renders of the manual, or only the renders if ``renders_alone``; return 0."""
    PICTURES.mkdir(exist_ok=True)
    if not renders_alone:
        os.environ["SINEW_MANUAL"] = "1"
        if testing.run(["gui"], ["-k", "manual"]) != 0:
            raise BuildError("the windowed Blender made no pictures; see its output above.")
        for picture in sorted((OUT / "manual").glob("*.png")):
            shutil.copyfile(picture, PICTURES / picture.name)
    python = environments.ensure("main")
    script = ROOT / "docs" / "manual" / "render_examples.py"
    if subprocess.run([str(python), str(script), str(PICTURES)], cwd=ROOT).returncode != 0:
        raise BuildError("the examples were not rendered; see the output above.")
    for picture in sorted(PICTURES.iterdir()):
        print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size / 1e3:.0f} kB")
    return 0
