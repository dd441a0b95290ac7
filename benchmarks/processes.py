"""Separate processes: functions whose memory or first start is measured, and peers' scripts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / "benchmarks" / "children"

_PROGRAM = """
import importlib, importlib.util, json, sys
spec = importlib.util.spec_from_file_location("build_addon", sys.argv[1])
build_addon = importlib.util.module_from_spec(spec)
sys.modules["build_addon"] = build_addon
spec.loader.exec_module(build_addon)
build_addon.mount()
function = getattr(importlib.import_module(sys.argv[2]), sys.argv[3])
print(json.dumps(function(*json.loads(sys.argv[4]))))
"""


def fresh(function: Callable[..., Any], *arguments: Any, variables: dict[str, str] | None = None) -> Any:
    """Return the result of a benchmark's public function in a new process; arguments and result are JSON.

    ``variables``: environment variables of the process beside those of this one.
    """
    entry = ROOT / "build_addon.py"
    command = [sys.executable, "-c", _PROGRAM, str(entry), function.__module__, function.__name__]
    environment = {**os.environ, **(variables or {})}
    done = subprocess.run([*command, json.dumps(arguments)], capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        raise RuntimeError(f"{function.__name__} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def python_with(module: str) -> str | None:
    """Return the Python of the peers' environment if it has this module: SINEW_PEERS, or ``.venv-peers``."""
    # Absolute, since children start in other folders; unresolved, since an environment's Python is a link.
    python = os.path.abspath(os.environ.get("SINEW_PEERS") or ROOT / ".venv-peers" / "bin" / "python")
    if not os.path.isfile(python) or not os.access(python, os.X_OK):
        return None
    found = subprocess.run([python, "-c", f"import importlib.util as u; exit(u.find_spec({module!r}) is None)"])
    return python if found.returncode == 0 else None


def ask(
    python: str, script: str, question: dict[str, np.ndarray | float | int], blas_threads: int | None = None
) -> dict[str, np.ndarray]:
    """Run a peer's script of ``children`` on arrays, with its default number of BLAS threads or ``blas_threads``;
    return its output arrays.
    """
    threads = {} if blas_threads is None else {"OPENBLAS_NUM_THREADS": str(blas_threads)}
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in.npz"), Path(folder, "out.npz")
        np.savez(source, **question)
        command = [python, "-W", "ignore", str(SCRIPTS / script), str(source), str(target)]
        done = subprocess.run(command, cwd=folder, env=os.environ | threads, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{script} failed:\n{done.stderr[-2000:]}")
        with np.load(target, allow_pickle=False) as archive:
            return {key: archive[key] for key in archive.files}
