"""Child processes: the Python that runs them, their environment, and cleanup of the temporary files they leave.

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
"""Flag for the creation of a child process without a console window on Windows; 0 on other systems."""
LEAST = 19
"""Lowest priority (niceness), except on Windows."""


def worker_command(python: str, folder: Path, task: str, *more: str) -> list[str]:
    """Return the command line that runs the worker in a child process.

    ``python``: path of the Python executable.
    ``folder``: folder of the frame store.
    ``task``, ``more``: name of the task and its further arguments.

    The worker imports this package under the package's name in this process. The worker exits when this process ends.
    """
    package = __name__.rpartition(".core.")[0]
    return [python, str(WORKER), package, str(PACKAGE_FOLDER), str(os.getpid()), str(folder), task, *more]


def python_name() -> str:
    """Return the file name of the executable of this Python version, such as ``python3.11``."""
    return f"python{sys.version_info[0]}.{sys.version_info[1]}"


def python_executable(preferred: str = "") -> str:
    """Return the path of a Python executable for child processes, or "" without one.

    ``preferred`` is returned if it is a Python. ``sys.executable`` is only a candidate, since it may be Blender.
    """
    name = python_name()
    own = [Path(sys.prefix) / "bin" / name, Path(sys.prefix) / "bin" / "python.exe"]
    candidates = [preferred, sys.executable, *map(str, own), shutil.which(name) or ""]
    for candidate in candidates:
        if candidate and Path(candidate).is_file() and Path(candidate).name.lower().startswith("python"):
            return candidate
    return ""


def child_environment() -> dict[str, str]:
    """Return the environment variables of a child process.

    The child imports libraries from the same folders as this process, and writes no byte code.
    """
    libraries = [p for p in sys.path if Path(p).name in {"site-packages", "dist-packages"} and Path(p).is_dir()]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(libraries),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONSAFEPATH": "1",
        "PYTHONUNBUFFERED": "1",
    }


def give_way() -> None:
    """Give this process the lowest scheduling priority."""
    import psutil  # imported late, since it slows Blender's start

    psutil.Process().nice(psutil.IDLE_PRIORITY_CLASS if os.name == "nt" else LEAST)


def ended_words(code: int) -> str:
    """Return how a process ended, as text: "by signal 9" for the exit code -9, "with code 1" for 1."""
    return f"by signal {-code}" if code < 0 else f"with code {code}"


def sweep(pid: int) -> None:
    """Delete the temporary folders of a killed child with the process id ``pid``."""
    for left in Path(tempfile.gettempdir()).glob(f"{temporary_mark(pid)}*"):
        shutil.rmtree(left, ignore_errors=True)


def sweep_dead() -> None:
    """Delete the temporary folders of all ended processes of Sinew on this computer."""
    named = re.compile(temporary_mark(r"(\d+)"))
    for left in Path(tempfile.gettempdir()).glob("sinew-*"):
        if (found := named.match(left.name)) and not is_alive(int(found.group(1))):
            shutil.rmtree(left, ignore_errors=True)


def is_alive(pid: int) -> bool:
    """Return True if a process with this id runs on this computer. A zombie does not count as running."""
    import psutil  # imported late, since it slows Blender's start

    try:
        return psutil.Process(pid).status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.AccessDenied:  # another user's process
        return True
    except psutil.NoSuchProcess:
        return False
