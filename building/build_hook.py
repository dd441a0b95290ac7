"""Build hook for the library's wheel: adds the files of ``blender_addon/package`` to the root of the package ``sinew``.
The folders of the package are named in ``pyproject.toml``.

An editable wheel (``pip install -e .``) gets no files: it puts ``editable/sinew`` on the path, which imports this
checkout.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = Path(__file__).resolve().parents[1] / "blender_addon" / "package"


class PackageRoot(BuildHookInterface):
    """Hatchling hook that adds the files of ``blender_addon/package`` to the root of the package ``sinew``."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files before a build (called by Hatchling). ``version`` is ``standard`` or ``editable``; the latter
        adds none.
        """
        if version == "standard":
            files = (path for path in PACKAGE.iterdir() if path.is_file())
            build_data["force_include"].update({str(path): f"sinew/{path.name}" for path in files})
