"""One package name, however it is loaded: mounted in a process, linked into an environment, installed as a wheel."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# `python -m sinew` with an environment of its own over this one's packages.
ASK = "import sinew, sinew.core.foundation.errors as e; print(sinew.__file__); print(e.__name__)"


def run(*command, **options):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def project_version():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


@pytest.fixture
def environment(tmp_path):
    """An empty virtual environment that sees this one's packages, and its Python."""
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv")
    pth = tmp_path / "venv/lib/python{}.{}/site-packages/seen.pth".format(*sys.version_info[:2])
    pth.write_text("\n".join(path for path in sys.path if path.endswith("site-packages")) + "\n")
    return tmp_path / "venv/bin/python"


def test_mount_in_a_process_loads_nothing_heavy(tmp_path):
    code = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
import build_addon
build_addon.mount()
import sinew
print(len({{"bpy", "numpy"}} & set(sys.modules)))
"""
    assert run(sys.executable, "-c", code, cwd=tmp_path).strip() == "0"


def test_mount_links_the_checkout_into_an_environment(environment, tmp_path):
    run(environment, ROOT / "build_addon.py", "mount")
    file, name = run(environment, "-c", ASK, cwd=tmp_path).split()
    assert name == "sinew.core.foundation.errors" and Path(file).resolve() == ROOT / "blender_addon/package/__init__.py"
    for planted in ("argparse", "numpy", "pathlib"):  # beside a stranger's .blend
        (tmp_path / f"{planted}.py").write_text("print('planted')")
    said = run(environment, "-m", "sinew", "--help", cwd=tmp_path)
    assert "usage: sinew" in said and "planted" not in said
    (tmp_path / "sinew.py").write_text("print('planted')")
    assert "planted" not in run(environment, "-P", "-m", "sinew", "--help", cwd=tmp_path)
    assert run(environment, "-P", "-m", "sinew", "--version", cwd=tmp_path) == f"sinew {project_version()}\n"
    run(environment, ROOT / "build_addon.py", "mount", "--remove")
    assert not list((environment.parents[1]).rglob("site-packages/sinew"))
    assert (ROOT / "core/foundation/errors.py").is_file()


def test_pip_installs_a_working_library(environment, tmp_path):
    wheel_folder = tmp_path / "wheel"
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", wheel_folder, ROOT, env={**os.environ})
    (wheel,) = wheel_folder.glob("sinew-*.whl")
    run(sys.executable, "-m", "pip", "--python", environment, "install", "-q", "--no-deps", wheel)
    file, name = run(environment, "-c", ASK, cwd=tmp_path).split()
    assert name == "sinew.core.foundation.errors" and "site-packages" in file
    assert "usage" in run(environment.parent / "sinew", "--help", cwd=tmp_path).lower()
    installed = Path(file).parent
    assert (installed / "py.typed").is_file()
    told = "import sinew, importlib.metadata as m; print(sinew.__version__, m.version('sinew'))"
    package, metadata = run(environment, "-c", told, cwd=tmp_path).split()
    assert package == metadata == project_version()
    assert run(environment.parent / "sinew", "--version", cwd=tmp_path) == f"sinew {package}\n"
    for folder in ("core", "blender_addon", "operators", "ui"):
        ours = {p.relative_to(ROOT) for p in (ROOT / folder).rglob("*.py") if "packag" not in p.as_posix()}
        assert ours == {p.relative_to(installed) for p in (installed / folder).rglob("*.py")}


def test_pip_installs_a_checkout_that_is_edited(environment, tmp_path):
    """The front door opens from another folder."""
    run(sys.executable, "-m", "pip", "--python", environment, "install", "-q", "--no-deps", "-e", ROOT)
    file, name = run(environment, "-c", ASK, cwd=tmp_path).split()
    assert name == "sinew.core.foundation.errors" and Path(file) == ROOT / "blender_addon/package/__init__.py"
    assert "usage" in run(environment.parent / "sinew", "--help", cwd=tmp_path).lower()
    assert (
        run(environment, "-c", "import sinew as sw; print(sw.Body.__module__)", cwd=tmp_path).strip()
        == "sinew.core.jobs.job.body"
    )
