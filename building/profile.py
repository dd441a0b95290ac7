"""Isolated Blender profile: no user settings are read, and nothing is written outside one folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import project
from .environments import python_of
from .project import BuildError

REPOSITORY = "user_default"

# Replaces the profile's local repository by one with an index, as the published one has. Its folder stays, so that
# Blender finds the extension with factory settings too. Runs in the Python of the tested environment. Success means
# that the package was imported under its extension name.
_INSTALL = """
import subprocess, sys, bpy
from pathlib import Path
name, package, folder = sys.argv[1:]
(tool,) = Path(bpy.utils.resource_path("LOCAL")).glob("scripts/addons_core/bl_pkg/cli/blender_ext.py")
subprocess.run([sys.executable, str(tool), "server-generate", f"--repo-dir={folder}"], check=True)
preferences = bpy.context.preferences
preferences.system.use_online_access = True  # Blender installs from no repository without, not even from a folder
repositories = preferences.extensions.repos
bpy.ops.preferences.extension_repo_remove(index=[each.module for each in repositories].index(name))
bpy.ops.preferences.extension_repo_add(name=name, remote_url=Path(folder, "index.json").as_uri(), type="REMOTE")
index = len(repositories) - 1
bpy.ops.extensions.repo_sync(repo_index=index)
bpy.ops.extensions.package_install(repo_index=index, pkg_id=package.rpartition(".")[2], enable_on_install=True)
if package not in preferences.addons:
    sys.exit(f"{package} was not enabled")
preferences.system.use_online_access = False
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
    """Install the zip ``archive`` into a new, empty Blender profile in ``folder``, from a repository of this zip alone,
    and return the environment variables that select this profile. The bpy of ``environment`` does the installation.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    variables_ = variables(folder)
    with tempfile.TemporaryDirectory(dir=folder) as repository:
        shutil.copy(archive, repository)
        command = [str(python_of(environment)), "-c", _INSTALL, REPOSITORY, package_name(), repository]
        result = subprocess.run(command, capture_output=True, text=True, env=variables_, cwd=folder)
    if result.returncode != 0:
        raise BuildError(
            f"{archive.name} cannot be installed in {environment}:\n{(result.stdout + result.stderr)[-2000:]}"
        )
    return variables_
