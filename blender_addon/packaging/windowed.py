"""A windowed Blender for the tests: Debian trixie's, in a folder of the repository."""

from __future__ import annotations

import os
from pathlib import Path

from .project import ROOT, BuildError

FOLDER = ROOT / ".blender"


def find() -> Path | None:
    """The windowed Blender that ``SINEW_BLENDER`` names, else the one in ``.blender``, else None."""
    named = os.environ.get("SINEW_BLENDER")
    if named:
        if not Path(named).exists():
            raise BuildError(f"SINEW_BLENDER names {named}, which does not exist.")
        return Path(named)
    return FOLDER if (FOLDER / "complete").is_file() else None
