"""``build_addon.py assets``: makes the asset library of the extension's zip, in the oldest supported Blender."""

from __future__ import annotations

import subprocess

from .. import environments, extension_zip, profile, project
from ..project import OUT, ROOT, BuildError

ENVIRONMENT = "bpy-4.2"
"""Environment with the oldest Blender. Later versions read its files."""
FOLDER = ROOT / "blender_addon" / "assets"
SCRIPT = ROOT / "docs" / "asset_library" / "make_assets.py"


def run() -> int:
    """Build the extension, install it into an isolated profile, and make the assets there; return 0."""
    python = environments.ensure(ENVIRONMENT)
    archive = extension_zip.build(project.environment(ENVIRONMENT).python)
    variables = profile.install(ENVIRONMENT, archive, OUT / "profiles" / "assets")
    variables["SINEW_PACKAGE"] = profile.package_name()
    if subprocess.run([str(python), str(SCRIPT), str(FOLDER)], env=variables, cwd=OUT).returncode != 0:
        raise BuildError("the assets were not made; see the output above.")
    return 0
