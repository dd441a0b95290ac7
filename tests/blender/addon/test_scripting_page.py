"""The page for scripts in Blender: its tables are what is registered, its script runs, and the library's examples run
with the Python and the packages that Blender has.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
LIBRARY = ROOT / "docs" / "library"


def test_the_tables_are_what_is_registered():
    spec = importlib.util.spec_from_file_location("make_pages", LIBRARY / "make_pages.py")
    pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pages)
    text = pages.page("scripting.md", pages.scripting())
    assert (LIBRARY / "scripting.md").read_text(encoding="utf-8") == text, "run docs/library/make_pages.py"


def test_the_script_runs(saved, evaluated):
    (script,) = re.findall(r"```python\n(.*?)```", (LIBRARY / "scripting.md").read_text(encoding="utf-8"), re.S)
    names: dict = {}
    exec(compile(script, "scripting.md", "exec"), names)  # noqa: S102 - our own page, as a reader would run it
    obj = names["obj"]
    assert obj.sinew.bake.status == "DONE" and obj.sinew.bake.frames == 12
    first, last = evaluated(obj, 1), evaluated(obj, 12)
    held = first[:, 2] > 1.0
    assert np.abs(last - first)[held].max() < 1e-5 and (first - last)[~held, 2].min() > 1e-3


@pytest.mark.parametrize("name", ["two_materials", "own_tets_and_energy", "modes_and_spectrum", "stop_and_resume"])
def test_examples_run_where_the_extension_is_installed(sinew_package, name, tmp_path):
    if sinew_package == "sinew":
        pytest.skip("tests/build/test_library.py runs them here, from a wheel")
    path = os.pathsep.join([str(ROOT / "building" / "editable"), *sys.path])
    command = [sys.executable, str(LIBRARY / "examples" / f"{name}.py")]
    said = subprocess.run(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    assert said.returncode == 0 and said.stdout.strip(), said.stderr
