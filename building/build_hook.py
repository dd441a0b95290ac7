"""Build hook for wheels of the library: adds the files of its root to the folders that ``pyproject.toml`` names.

An editable one (``pip install -e .``) has none of its own: ``editable/sinew`` is found on the path, and mounts the
checkout.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = Path(__file__).resolve().parents[1] / "blender_addon" / "package"


class PackageRoot(BuildHookInterface):
    """Lifts ``blender_addon/package`` to the root of the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by Hatchling before a build; ``version`` is ``standard`` or ``editable``."""
        if version == "standard":
            files = (path for path in PACKAGE.iterdir() if path.is_file())
            build_data["force_include"].update({str(path): f"sinew/{path.name}" for path in files})
