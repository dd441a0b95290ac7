"""Windowed Blenders of Debian releases for the tests, each in a folder of the repository.

A Blender needs the host's /dev and /proc in its folder. Both are mounted there in a separate mount namespace that only
the Blender's process sees. Other processes see empty folders, so deleting the repository deletes nothing of the host.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from .environments import run_quietly
from .project import ROOT, BuildError

FOLDERS = {"trixie": ROOT / ".blender", "sid": ROOT / ".blender-sid"}
"""Folder of each Debian release, with the Blender of that release. The release trixie has Blender 4.3, which most
windowed tests use; sid has the newest Blender.
"""

RELEASE = "trixie"

PACKAGES = ("blender", "xvfb", "xauth", "xdotool", "libgl1-mesa-dri", "libegl1", "python3-numpy", "python3-requests",
            "python3-zstandard", "libgl1", "libglx-mesa0", "libxcb-glx0", "libxxf86vm1", "python3-cattr")  # fmt: skip
"""Debian packages; the last five are missing from the dependencies of sid's Blender."""

# $1 is the root folder; pairs "source target" follow, then "--" and the command. No exec:
# the shell stays process 1, since an X server does not signal its readiness to process 1.
_ENTER = """
root=$1; shift
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
while [ "$1" != -- ]; do
    mkdir -p "$root$2"
    mount --bind "$1" "$root$2"
    shift 2
done
shift
chroot "$root" "$@" || exit $?
"""


def find(release: str = RELEASE) -> Path | None:
    """Return the Debian root folder with a release's windowed Blender, or None if it is not installed.

    For trixie, the environment variable ``SINEW_BLENDER`` names a Blender executable or Debian root folder to return
    instead. Raise BuildError if that path does not exist.
    """
    named = os.environ.get("SINEW_BLENDER") if release == RELEASE else None
    if named:
        if not Path(named).exists():
            raise BuildError(f"SINEW_BLENDER names {named}, which does not exist.")
        return Path(named).resolve()
    folder = FOLDERS[release]
    return folder / "root" if (folder / "complete").is_file() else None


def python_of(root: Path) -> str:
    """Return the Python version of the Blender in a Debian root folder, such as ``3.14``."""
    command = ["python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    return run_quietly(enter(root, command), "the Python of this Debian does not start").strip()


def enter(root: Path, command: list[str], binds: Mapping[Path, str] = {}, network: bool = False) -> list[str]:
    """Return the command line that runs ``command`` inside the Debian root folder ``root``.

    ``binds`` maps host folders to the paths inside ``root`` at which they appear. Processes and mounts end with the
    command, which has network access only with ``network``.
    """
    pairs = [str(item) for pair in binds.items() for item in pair]
    isolation = ["--mount", "--propagation", "private", "--pid", "--fork", "--kill-child"]
    if not network:
        isolation.append("--net")
    return ["unshare", *isolation, "--", "sh", "-ec", _ENTER, "enter", str(root), *pairs, "--", *command]


def get(release: str = RELEASE) -> None:
    """Install the windowed Blender of a release into its folder, if missing."""
    folder = FOLDERS[release]
    if (folder / "complete").is_file():
        print(f"Already there: {(folder / 'complete').read_text().strip()}")
        return
    if os.geteuid() != 0:
        raise BuildError("get-blender needs root (it makes a Debian root folder and enters it).\nRun it with sudo.")
    if not shutil.which("unshare"):
        raise BuildError("get-blender needs the command unshare.\nInstall util-linux.")
    _install_debootstrap()
    _forget_unfinished(folder)
    root = folder / "root"
    folder.mkdir(exist_ok=True)
    print(f"Installing Debian {release} and its Blender into {folder.name} (about two minutes) ...", flush=True)
    private = ["unshare", "--mount", "--propagation", "private", "--"]
    run_quietly(
        [*private, "debootstrap", "--variant=minbase", release, str(root)], "the Debian root folder cannot be made"
    )
    variables = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    apt = ["apt-get", "-o", "Acquire::Check-Valid-Until=false"]  # sid's package lists expire after a week
    for step in (["update"], ["install", "-y", "--no-install-recommends", *PACKAGES], ["clean"]):
        run_quietly(enter(root, [*apt, *step], network=True), "Blender cannot be installed", variables)
    said = run_quietly(enter(root, ["blender", "--version"]), "the installed Blender does not start")
    (folder / "complete").write_text(said.splitlines()[0] + "\n")
    print(f"Ready: {said.splitlines()[0]}")


def _install_debootstrap() -> None:
    if shutil.which("debootstrap"):
        return
    if not shutil.which("apt-get"):
        raise BuildError("get-blender needs debootstrap.\nInstall it with your system's package manager.")
    run_quietly(["apt-get", "update"], "the package lists cannot be read")
    run_quietly(
        ["apt-get", "install", "-y", "--no-install-recommends", "debootstrap"], "debootstrap cannot be installed"
    )


def _forget_unfinished(folder: Path) -> None:
    """Delete the files of an interrupted installation. Raise BuildError if something is mounted inside ``folder``,
    since the deletion would reach the host's files through that mount.
    """
    mounted = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    inside = [place for place in mounted if place == str(folder) or place.startswith(f"{folder}/")]
    if inside:
        raise BuildError(f"something is mounted inside {folder.name}: {', '.join(inside)}.\nUnmount it first (umount).")
    if folder.exists():
        subprocess.run(["rm", "-rf", "--one-file-system", str(folder)], check=True)
