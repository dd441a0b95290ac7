"""Build hook for wheels of the library: adds the files of the package root to the folders named in ``pyproject.toml``.

An editable wheel (``pip install -e .``) gets no files: ``editable/sinew`` is on the path, and mounts the checkout.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = Path(__file__).resolve().parents[1] / "blender_addon" / "package"


class PackageRoot(BuildHookInterface):
    """Hatchling hook that puts ``blender_addon/package`` at the root of the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files before a build (called by Hatchling); ``version`` is ``standard`` or ``editable``."""
        if version == "standard":
            files = (path for path in PACKAGE.iterdir() if path.is_file())
            build_data["force_include"].update({str(path): f"sinew/{path.name}" for path in files})
