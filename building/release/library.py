"""The library's wheel and source archive: built, checked, and tried in empty environments."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from .. import environments
from ..project import ROOT, BuildError

SURFACE = Path("docs", "scenes", "bar.obj")
"""Surface that the lines of the README read."""


def build(folder: Path) -> None:
    """Write the wheel and the source archive into ``folder``, and check that PyPI can show their description."""
    python = str(environments.python_of("release"))
    command = [python, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", str(folder)]
    environments.run_quietly(command, "the library cannot be built", folder=ROOT)
    files = sorted(str(path) for path in folder.iterdir())
    environments.run_quietly([python, "-m", "twine", "check", "--strict", *files], "twine refuses the library")


def try_out(files: list[str]) -> int:
    """Install each wheel or source archive in an empty environment, run the lines of the README there, and return 0.
    Raise BuildError if they fail.
    """
    for file in files:
        path = Path(file).resolve()
        if not path.is_file():
            raise BuildError(f"{file} does not exist.\nName a wheel or a source archive; release makes both.")
        with tempfile.TemporaryDirectory() as folder:
            print(f"{path.name}: {_run_readme(path, Path(folder))}", flush=True)
    return 0


def _run_readme(path: Path, folder: Path) -> str:
    """Install ``path`` in a new environment in ``folder``, run the README's lines, and return the last line printed."""
    environments.run_quietly([sys.executable, "-m", "venv", str(folder / "venv")], "no environment can be made")
    python = str(folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    install = [python, "-m", "pip", "install", "--disable-pip-version-check", f"{path}[pictures]"]
    environments.run_quietly(install, f"{path.name} cannot be installed")
    (script,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    (folder / "readme.py").write_text(script, encoding="utf-8")
    (folder / SURFACE).parent.mkdir(parents=True)
    shutil.copy(ROOT / SURFACE, folder / SURFACE)
    output = environments.run_quietly([python, "readme.py"], "the lines of the README fail", folder=folder).splitlines()
    if not output or not output[-1].startswith("100%") or not (folder / "bar.png").is_file():
        raise BuildError(f"The lines of the README printed {output[-1:]} and left no picture.")
    return output[-1]
