"""Child processes: their Python, their environment, and cleanup after killed ones.

The worker (``core/worker.py``) runs in a child, since a crash of compiled code must not end the caller.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .foreign_module import temporary_mark

PACKAGE_FOLDER = Path(__file__).resolve().parents[3]
WORKER = PACKAGE_FOLDER / "core" / "worker.py"
NO_CONSOLE = getattr(subprocess, "CREATE_NO_WINDOW", 0)
"""Windows would otherwise open a console for each child of a program without one."""
LEAST = 19
"""Lowest priority (niceness), except on Windows."""


def worker_command(python: str, folder: Path, task: str, *more: str) -> list[str]:
    """Return the command that starts the worker on a task of a store. The worker imports this package under its present
    name, and ends with this process.
    """
    package = __name__.rpartition(".core.")[0]
    return [python, str(WORKER), package, str(PACKAGE_FOLDER), str(os.getpid()), str(folder), task, *more]


def python_name() -> str:
    """Return the name of this version's Python executable."""
    return f"python{sys.version_info[0]}.{sys.version_info[1]}"


def python_executable(preferred: str = "") -> str:
    """Return a Python of this version to run a child, ``preferred`` if possible; "" if there is none. In Blender,
    ``sys.executable`` may be Blender.
    """
    name = python_name()
    own = [Path(sys.prefix) / "bin" / name, Path(sys.prefix) / "bin" / "python.exe"]
    candidates = [preferred, sys.executable, *map(str, own), shutil.which(name) or ""]
    for candidate in candidates:
        if candidate and Path(candidate).is_file() and Path(candidate).name.lower().startswith("python"):
            return candidate
    return ""


def child_environment() -> dict[str, str]:
    """Return the environment of a child: it imports libraries from this process's paths, and writes no byte code."""
    libraries = [p for p in sys.path if Path(p).name in {"site-packages", "dist-packages"} and Path(p).is_dir()]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(libraries),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONSAFEPATH": "1",
        "PYTHONUNBUFFERED": "1",
    }


def give_way() -> None:
    """Set the lowest priority for this process."""
    import psutil  # imported late, since it slows Blender's start

    psutil.Process().nice(psutil.IDLE_PRIORITY_CLASS if os.name == "nt" else LEAST)


def ended_words(code: int) -> str:
    """Return words for an exit code."""
    return f"by signal {-code}" if code < 0 else f"with code {code}"


def sweep(pid: int) -> None:
    """Remove the temporary folders of a child that was killed."""
    for left in Path(tempfile.gettempdir()).glob(f"{temporary_mark(pid)}*"):
        shutil.rmtree(left, ignore_errors=True)


def sweep_dead() -> None:
    """Remove the temporary folders of children that ended together with their parent."""
    named = re.compile(temporary_mark(r"(\d+)"))
    for left in Path(tempfile.gettempdir()).glob("sinew-*"):
        if (found := named.match(left.name)) and not is_alive(int(found.group(1))):
            shutil.rmtree(left, ignore_errors=True)


def is_alive(pid: int) -> bool:
    """Return True if a process is running on this computer; False for zombies, which remain in containers without an
    init.
    """
    import psutil  # imported late, since it slows Blender's start

    try:
        return psutil.Process(pid).status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.AccessDenied:  # another user's process
        return True
    except psutil.NoSuchProcess:
        return False
