"""Isolated Blender profile: no user settings are read, and nothing is written outside one folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from . import project
from .environments import python_of
from .project import BuildError

REPOSITORY = "user_default"

# Runs in the Python of the tested environment. Success means that the package was imported under its extension name.
_INSTALL = """
import sys, bpy
package, archive = sys.argv[1:]
bpy.ops.extensions.package_install_files(filepath=archive, repo="user_default", enable_on_install=True)
if package not in bpy.context.preferences.addons:
    sys.exit(f"{package} was not enabled")
bpy.ops.wm.save_userpref()
print("installed", sys.modules[package].__file__)
"""


def package_name() -> str:
    """Return the dotted name of the installed extension."""
    return f"bl_ext.{REPOSITORY}.{project.extension()['id']}"


def variables(folder: Path) -> dict[str, str]:
    """Return the environment variables for a Blender with the profile in ``folder``. They are copied from this process,
    except the variables of Python, Blender and Sinew; the profile gets its own kernel cache.
    """
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "BLENDER_", "SINEW_"))}
    return {**kept, "BLENDER_USER_RESOURCES": str(folder), "SINEW_KERNEL_CACHE": str(folder / "kernels")}


def install(environment: str, archive: Path, folder: Path) -> dict[str, str]:
    """Install the zip ``archive`` into a new, empty Blender profile in ``folder``, and return the environment variables
    that select this profile. The bpy of ``environment`` does the installation.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    variables_ = variables(folder)
    command = [str(python_of(environment)), "-c", _INSTALL, package_name(), str(archive)]
    result = subprocess.run(command, capture_output=True, text=True, env=variables_, cwd=folder)
    if result.returncode != 0:
        raise BuildError(
            f"{archive.name} cannot be installed in {environment}:\n{(result.stdout + result.stderr)[-2000:]}"
        )
    return variables_
