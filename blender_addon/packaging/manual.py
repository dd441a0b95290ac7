"""``build_addon.py manual``: the pictures of ``docs/manual``, photographs of the windowed Blender and renders."""

from __future__ import annotations

import os
import shutil
import subprocess

from . import environments, testing
from .project import OUT, ROOT, BuildError

PICTURES = ROOT / "docs" / "manual" / "pictures"


def run() -> int:
    """Photograph, cut, render; 0."""
    os.environ["SINEW_MANUAL"] = "1"
    if testing.run(["gui"], ["-k", "manual"]) != 0:
        raise BuildError("the windowed Blender made no pictures; what it said stands above.")
    PICTURES.mkdir(exist_ok=True)
    for picture in sorted((OUT / "manual").glob("*.png")):
        shutil.copyfile(picture, PICTURES / picture.name)
    python = environments.ensure("main")
    script = ROOT / "docs" / "manual" / "render_examples.py"
    if subprocess.run([str(python), str(script), str(PICTURES)], cwd=ROOT).returncode != 0:
        raise BuildError("the examples were not rendered; what went wrong stands above.")
    for picture in sorted(PICTURES.glob("*.png")):
        print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size / 1e3:.0f} kB")
    return 0
