"""An update whose wheels changed asks for a restart; the extension comes from a repository, in a Blender of its own."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import bpy

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("blender_addon", "core", "operators", "ui")

SCRIPT = """
import subprocess
import sys
from pathlib import Path
import bpy

tool, folder, *zips = sys.argv[1:]
preferences = bpy.context.preferences
preferences.system.use_online_access = True  # Blender installs from no repository without, not even from a folder
address = Path(folder, "index.json").as_uri()
bpy.ops.preferences.extension_repo_add(name="Test", remote_url=address, type="REMOTE")
module = preferences.extensions.repos[-1].module
package, index = f"bl_ext.{module}.sinew", len(preferences.extensions.repos) - 1

def install(archive):
    # Publish a zip in the repository, and install it or update to it.
    for path in Path(folder).iterdir():
        path.unlink()
    Path(archive).rename(Path(folder, Path(archive).name))
    subprocess.run([sys.executable, tool, "server-generate", f"--repo-dir={folder}"], check=True)
    bpy.ops.extensions.repo_sync(repo_index=index)
    if package in sys.modules:
        bpy.ops.extensions.package_upgrade_all()
    else:
        bpy.ops.extensions.package_install(repo_index=index, pkg_id="sinew", enable_on_install=True)
    assert f"-{sys.modules[package].__version__}.zip" in archive, sys.modules[package].__version__
    return sys.modules[f"{package}.blender_addon.window.restart"].needed()

def button_says():
    if bpy.ops.sinew.enable.poll():
        return "may be pressed"
    try:
        bpy.ops.sinew.enable()
    except RuntimeError as error:
        return str(error).strip().splitlines()[-1]

first, same, changed = zips
bpy.ops.mesh.primitive_cube_add()
print("1:", install(first), "loaded" if "standin" in sys.modules else "not loaded")
import standin
print("2:", install(same), button_says())
print("3:", install(changed), "/", button_says())
bpy.ops.preferences.addon_disable(module=package)
bpy.ops.extensions.package_uninstall(repo_index=index, pkg_id="sinew")
print("4:", hasattr(bpy.types.Object, "sinew"), [name for name in dir(bpy.types) if "sinew" in name.lower()])
"""


def wheel(folder: Path, version: str) -> Path:
    """A wheel of one module that knows its version."""
    path = folder / f"standin-{version}-py3-none-any.whl"
    info = f"standin-{version}.dist-info"
    files = {
        "standin/__init__.py": f'__version__ = "{version}"\n',
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: standin\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = ""
    for name, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
        record += f"{name},sha256={digest},{len(text)}\n"
    files[f"{info}/RECORD"] = record + f"{info}/RECORD,,\n"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def extension(folder: Path, version: str, bundled: Path) -> str:
    """The extension's zip with no other wheel than this one."""
    manifest = (ROOT / "blender_addon" / "blender_manifest.toml").read_text()
    known = {
        "id": "sinew", "name": "Sinew", "version": version, "tagline": "A test", "maintainer": "Tests",
        "license": '"SPDX:GPL-3.0-or-later"', "copyright": '"2026 Tests"', "blender_version_min": "4.2.0", "website": "https://example.org",
        "wheels": f'"./wheels/{bundled.name}"',
    }  # fmt: skip
    manifest = re.sub(r"^platforms.*\n", "", manifest, flags=re.MULTILINE)
    path = folder / f"sinew-{version}.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("blender_manifest.toml", re.sub(r"\$(\w+)", lambda match: known[match[1]], manifest))
        archive.write(ROOT / "blender_addon" / "package" / "__init__.py", "__init__.py")
        for file in (file for name in FOLDERS for file in (ROOT / name).rglob("*.py")):
            archive.write(file, file.relative_to(ROOT).as_posix())
        archive.write(bundled, f"wheels/{bundled.name}")
    return str(path)


def test_an_update_with_other_wheels_asks_for_a_restart_and_nothing_stays_after_uninstalling(tmp_path):
    old, new = wheel(tmp_path, "1.0"), wheel(tmp_path, "1.1")
    zips = [extension(tmp_path, *each) for each in (("9.0.0", old), ("9.0.1", old), ("9.1.0", new))]
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "BLENDER_", "SINEW_"))}
    variables = {**kept, "BLENDER_USER_RESOURCES": str(tmp_path / "profile")}
    (tool,) = Path(bpy.utils.resource_path("LOCAL")).glob("scripts/addons_core/bl_pkg/cli/blender_ext.py")
    (tmp_path / "repository").mkdir()
    command = [sys.executable, "-c", SCRIPT, str(tool), str(tmp_path / "repository"), *zips]
    run = subprocess.run(command, capture_output=True, text=True, env=variables, cwd=tmp_path, timeout=120)
    said = dict(re.findall(r"^(\d): (.*)$", run.stdout, re.MULTILINE))
    words = "Restart Blender to finish the update: standin 1.0 is loaded, 1.1 installed"
    assert said.get("1") == " not loaded", (run.returncode, run.stdout, run.stderr)
    assert said["2"] == " may be pressed", (run.returncode, run.stdout, run.stderr)
    assert said["3"].startswith(f"{words} / ") and said["3"].endswith(words), (run.returncode, run.stdout, run.stderr)
    assert said["4"] == "False []", (run.returncode, run.stdout, run.stderr)
    assert not list((tmp_path / "profile").rglob("standin*")), "the wheel is still installed"
    assert not list((tmp_path / "profile" / "extensions").glob("*/sinew"))
