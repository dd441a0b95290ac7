"""``build_addon.py demo [headline|live]``: runs a scene of ``docs/demo`` with the installed extension."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from . import environments, extension_zip, profile
from .project import OUT, ROOT, BuildError

SCENES = {
    "headline": "A head of flesh and bone, shaken and baked",
    "live": "A creature in real time, thrown about by a scripted mouse",
}


ENVIRONMENT = "bpy-4.2"
"""Name of the demo scenes' environment, which contains bpy and few other packages. The remaining packages come with the
extension's zip, as for a user.
"""


def run(scene: str = "headline") -> int:
    """Build the extension, install it into an isolated profile, and run the script of a ``scene`` there; return 0. The
    script's only argument is its output folder under ``out``.
    """
    start = time.monotonic()
    target = OUT / ("demo" if scene == "headline" else f"demo-{scene}")
    target.mkdir(parents=True, exist_ok=True)
    python = environments.ensure(ENVIRONMENT)
    print("Building the extension ...", flush=True)
    # The wheels for one Python suffice, and halve the size of the zip.
    archive = extension_zip.build("3.11")
    variables = profile.install(ENVIRONMENT, archive, OUT / "profiles" / "demo")
    variables["SINEW_PACKAGE"] = profile.package_name()
    print(f"Running the scene: {SCENES[scene]} ...", flush=True)
    code = subprocess.run(
        [str(python), str(ROOT / "docs" / "demo" / f"{scene}.py"), str(target)], env=variables, cwd=target
    ).returncode
    if code != 0:
        raise BuildError(f"the scene “{scene}” failed with exit code {code}.")
    print(f"\nIn {target}:")
    for path in sorted(
        path for path in target.rglob("*") if path.is_file() and len(path.relative_to(target).parts) == 1
    ):
        print(f"  {path.name:28} {path.stat().st_size / 1e6:8.2f} MB")
    print(f"{time.monotonic() - start:.0f} s in all")
    _show(target / f"{scene}.gif")
    return 0


def _show(picture: Path) -> None:
    """Open the picture if there is a terminal and a desktop."""
    opener = shutil.which("xdg-open")
    if sys.stdout.isatty() and os.environ.get("DISPLAY") and opener:
        subprocess.Popen([opener, str(picture)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
