"""Children of this process: which Python runs them, where it finds the libraries, and what one that was killed leaves.

The worker (``core/worker.py``) runs in a child, since a crash of compiled code must not take the caller along.
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
"""Windows would open one for each child of a program that has none."""
LEAST = 19
"""The lowest priority but on Windows."""


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
    """A Python of this version to run a child with, ``preferred`` first; "" when there is none. Within Blender the
    running program may be Blender.
    """
    name = python_name()
    own = [Path(sys.prefix) / "bin" / name, Path(sys.prefix) / "bin" / "python.exe"]
    candidates = [preferred, sys.executable, *map(str, own), shutil.which(name) or ""]
    for candidate in candidates:
        if candidate and Path(candidate).is_file() and Path(candidate).name.lower().startswith("python"):
            return candidate
    return ""


def child_environment() -> dict[str, str]:
    """The environment of a child: it finds the libraries where this process finds them, and writes no byte code."""
    libraries = [p for p in sys.path if Path(p).name in {"site-packages", "dist-packages"} and Path(p).is_dir()]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(libraries),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONSAFEPATH": "1",
        "PYTHONUNBUFFERED": "1",
    }


def give_way() -> None:
    """Let all other processes go before this one."""
    import psutil  # a compiled library, which Blender's start should not wait for

    psutil.Process().nice(psutil.IDLE_PRIORITY_CLASS if os.name == "nt" else LEAST)


def ended_words(code: int) -> str:
    """How a process ended, by its exit code."""
    return f"by signal {-code}" if code < 0 else f"with code {code}"


def sweep(pid: int) -> None:
    """Remove what a child that was ended amid its work has left in the temporary folder."""
    for left in Path(tempfile.gettempdir()).glob(f"{temporary_mark(pid)}*"):
        shutil.rmtree(left, ignore_errors=True)


def sweep_dead() -> None:
    """Remove what children have left that ended together with their parent, so that nobody swept for them."""
    named = re.compile(temporary_mark(r"(\d+)"))
    for left in Path(tempfile.gettempdir()).glob("sinew-*"):
        if (found := named.match(left.name)) and not is_alive(int(found.group(1))):
            shutil.rmtree(left, ignore_errors=True)


def is_alive(pid: int) -> bool:
    """Return True if a process is at work on this computer. One that has ended is not, though nobody may have asked
    how: in a container without an init it may stay so.
    """
    import psutil  # a compiled library, which Blender's start should not wait for

    try:
        return psutil.Process(pid).status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.AccessDenied:  # another user's
        return True
    except psutil.NoSuchProcess:
        return False
