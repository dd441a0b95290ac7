"""Names of the extension in Blender: its ID, its Python package and its sidebar tab."""

from __future__ import annotations

ADDON_ID = "sinew"
PACKAGE = __package__.rpartition(".blender_addon")[0]
"""Name of the package: ``bl_ext.<repository>.sinew`` as an extension, else ``sinew``."""
CATEGORY = "Sinew"
"""Name of Sinew's tab in the sidebar."""
