"""``build_addon.py manual``: the pictures of ``docs/manual`` and the README, photographs of the windowed Blender and
renders.
"""

from __future__ import annotations

import os
import shutil
import subprocess

from . import environments, testing
from .project import OUT, ROOT, BuildError

PICTURES = ROOT / "docs" / "manual" / "pictures"


def run(renders_alone: bool = False) -> int:
    """Photograph and cut, unless the renders alone are wanted; render; 0."""
    PICTURES.mkdir(exist_ok=True)
    if not renders_alone:
        os.environ["SINEW_MANUAL"] = "1"
        if testing.run(["gui"], ["-k", "manual"]) != 0:
            raise BuildError("the windowed Blender made no pictures; what it said stands above.")
        for picture in sorted((OUT / "manual").glob("*.png")):
            shutil.copyfile(picture, PICTURES / picture.name)
    python = environments.ensure("main")
    script = ROOT / "docs" / "manual" / "render_examples.py"
    if subprocess.run([str(python), str(script), str(PICTURES)], cwd=ROOT).returncode != 0:
        raise BuildError("the examples were not rendered; what went wrong stands above.")
    for picture in sorted(PICTURES.iterdir()):
        print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size / 1e3:.0f} kB")
    return 0
