"""Virtual environments in the repository, from the pins of ``pyproject.toml`` and ``wheels.lock``.

An environment is rebuilt if a pin changed or was removed; added pins are installed into it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from . import lock, project
from .project import ROOT, BuildError, EnvironmentPlan

STAMP = "sinew-requirements.txt"

# Libraries that the bpy wheels link to and a minimal Debian or Ubuntu lacks.
SYSTEM_PACKAGES = tuple(
    "libx11-6 libxrender1 libxfixes3 libxi6 libxkbcommon0 libsm6 libice6 libgl1 libegl1 libxxf86vm1".split()
)


def find_python(version: str) -> str | None:
    """Return an interpreter of a version (``"3.11"``) that can make virtual environments, or None."""
    candidates = [sys.executable]
    named = shutil.which(f"python{version}")
    pyenv_roots = [Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))]
    if named:
        candidates.append(named)
        pyenv_roots.append(Path(named).parent.parent)
    for root in pyenv_roots:
        candidates += sorted(str(path) for path in root.glob(f"versions/{version}*/bin/python{version}"))
    if uv := shutil.which("uv"):
        found = subprocess.run([uv, "python", "find", "--no-python-downloads", version], capture_output=True, text=True)
        candidates += found.stdout.split()
    probe = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    for candidate in candidates:
        try:
            said = subprocess.run([candidate, "-c", probe], capture_output=True, text=True, timeout=30)
        except OSError:
            continue  # not executable
        if said.stdout.strip() == version:
            return candidate
    return None


def folder(name: str) -> Path:
    """Return the folder of an environment, which may not exist."""
    return ROOT / (".venv" if name == "main" else f".venv-{name}")


def python_of(name: str) -> Path:
    """Return the interpreter of an environment, which may not exist."""
    return folder(name) / "bin" / "python"


def ensure(name: str) -> Path:
    """Create an environment if it does not exist, or update it if its pins have changed; return its interpreter."""
    plan = project.environment(name)
    if name == "main":
        plan = dataclasses.replace(plan, requirements=(*plan.requirements, *lock.pins(plan.python, sys.platform)))
    place = folder(name)
    wanted = [f"# python {plan.python}", *plan.requirements]
    stamp = place / STAMP
    with _lock(place):
        held = stamp.read_text().splitlines() if stamp.is_file() else []
        if not held or set(held) - set(wanted):
            _make(plan, place)
        elif added := [line for line in wanted if line not in held]:
            print(f"Adding to {place.name}: {', '.join(added)}", flush=True)
            _install(place, added)
        stamp.write_text("\n".join([*wanted, ""]))
    return python_of(name)


def _make(plan: EnvironmentPlan, place: Path) -> None:
    base = find_python(plan.python)
    if base is None:
        raise BuildError(
            f"{place.name} needs Python {plan.python} with the modules venv and ensurepip, which was not found.\n"
            f"Install it (Debian: apt-get install python{plan.python} python{plan.python}-venv; or pyenv, or uv)."
        )
    print(f"Making {place.name} (Python {plan.python}, {len(plan.requirements)} packages) ...", flush=True)
    run_quietly([base, "-m", "venv", "--clear", str(place)], f"{place.name} cannot be made")
    _install(place, plan.requirements)
    if any(requirement.startswith("bpy==") for requirement in plan.requirements):
        _check_bpy(str(place / "bin" / "python"))


def _install(place: Path, requirements: Sequence[str]) -> None:
    listing = place / "wanted.txt"
    listing.write_text("\n".join(lock.hashed(requirements)) + "\n")
    run_quietly(
        [
            str(place / "bin" / "python"),
            "-m",
            "pip",
            "install",
            "--disable-pip-version-check",
            "--no-deps",
            "--no-compile",  # Python compiles files when they are imported, and most never are
            "--require-hashes",
            "--only-binary",
            ":all:",
            "-r",
            str(listing),
        ],
        f"the packages of {place.name} cannot be installed (is the package index reachable?)",
    )


def _check_bpy(python: str) -> None:
    """Import bpy once; install the system libraries that it lacks, or raise BuildError with their names."""
    probe = [python, "-c", "import bpy"]
    result = subprocess.run(probe, capture_output=True, text=True)
    if result.returncode == 0:
        return
    install = ["apt-get", "install", "-y", "--no-install-recommends", *SYSTEM_PACKAGES]
    if ".so" in result.stderr and os.geteuid() == 0 and shutil.which("apt-get"):
        print("Installing the system libraries that bpy needs ...", flush=True)
        run_quietly(["apt-get", "update"], "the package lists cannot be read")
        run_quietly(install, "the system libraries cannot be installed")
        result = subprocess.run(probe, capture_output=True, text=True)
    if result.returncode != 0:
        raise BuildError(
            f"bpy cannot be imported:\n{result.stderr[-800:]}\nA library may be missing; Debian: {' '.join(install)}"
        )


def run_quietly(
    command: list[str], complaint: str, environment: dict[str, str] | None = None, folder: Path | None = None
) -> str:
    """Run a command in ``folder`` and return its output; if it fails, raise BuildError with ``complaint`` and the last
    lines.
    """
    result = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder)
    if result.returncode != 0:
        tail = "\n".join((result.stdout + result.stderr).strip().splitlines()[-15:])
        raise BuildError(f"{complaint}:\n  {' '.join(command)}\n{tail}")
    return result.stdout


@contextlib.contextmanager
def _lock(place: Path) -> Iterator[None]:
    """Lock the environment in the folder ``place`` against other processes within the context."""
    import fcntl  # Windows has none, and makes no environment

    name = hashlib.sha256(str(place).encode()).hexdigest()[:8]
    path = ROOT / "out" / f"lock-{name}"
    path.parent.mkdir(exist_ok=True)
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
