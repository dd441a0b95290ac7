"""The extension zip and the lock that it is filled from."""

from __future__ import annotations

import importlib
import re
import tomllib
import zipfile
from pathlib import Path

import pytest

import build_addon

build_addon.load_packaging()
extension_zip, project, wheels = (
    importlib.import_module(f"sinew_packaging.{n}") for n in ("extension_zip", "project", "wheels")
)

ROOT = Path(__file__).resolve().parents[2]
EVERY_PYTHON = pytest.mark.parametrize("python", wheels.LOCKED_PYTHONS)


def manifest(pythons):
    return tomllib.loads(extension_zip.manifest(wheels.select(list(pythons), "linux-x64"), "linux-x64"))


def test_manifest_is_complete_and_within_the_platforms_limits():
    said = manifest(["3.11", "3.13"])
    assert said["id"] == "sinew" and said["name"] == "Sinew" and said["type"] == "add-on"
    assert said["license"] == ["SPDX:GPL-3.0-or-later"]
    assert said["blender_version_min"] == "4.2.0"
    assert said["version"] == project.version() and re.fullmatch(r"\d+\.\d+\.\d+", said["version"])
    for text in (said["tagline"], *said["permissions"].values()):
        assert len(text) <= 64 and text[-1].isalnum()
    assert "network" not in said["permissions"]
    assert "$" not in str(said)


@EVERY_PYTHON
def test_lock_covers_every_bundled_requirement(python):
    chosen = wheels.select([python], "linux-x64")
    assert sorted(f"{w.project}=={w.version}" for w in chosen) == sorted(project.bundled(python))


@EVERY_PYTHON
def test_lock_tags_run_on_their_python(python):
    ours = int(python.replace(".", ""))
    for wheel in wheels.select([python], "linux-x64"):
        tag, abi = wheel.tag.split("-")
        assert tag in (f"cp{ours}", "py3") or (abi == "abi3" and int(tag.removeprefix("cp")) <= ours), wheel.file


def test_no_wheel_is_numpy():
    assert not [w.file for w in wheels.read_lock() if w.project.lower() == "numpy"]


def test_a_python_without_wheels_is_refused():
    with pytest.raises(project.BuildError, match="Choose one of"):
        extension_zip.build("3.9")
    with pytest.raises(project.BuildError, match="build_addon.py lock"):
        wheels.select(["3.9"], "linux-x64")


def test_sources_mirror_the_repository():
    sources = extension_zip.sources()
    assert {"__init__.py", "LICENSE", "README.md", "core/jit.py", "blender_addon/__init__.py"} <= set(sources)
    assert not [
        name for name in sources if name.startswith(("blender_addon/pack", "tests", "benchmarks")) or "pycache" in name
    ]
    templates = {"openjd/template.yaml", "flamenco/sinew_bake_render.js"}
    assert {f"blender_addon/command/farm_files/{name}" for name in templates} <= set(sources)
    for folder in extension_zip.FOLDERS:
        modules = {
            p.relative_to(ROOT).as_posix() for p in (ROOT / folder).rglob("*.py") if "packag" not in p.as_posix()
        }
        assert modules <= set(sources)


@pytest.fixture
def one_wheel(monkeypatch, tmp_path):
    """A lock of one small stand-in wheel, so that zips are made without downloads."""
    monkeypatch.setattr(wheels, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(extension_zip, "DIST", tmp_path / "dist")
    (tmp_path / "cache").mkdir()
    path = tmp_path / "cache" / "thing-1.0-py3-none-any.whl"
    path.write_bytes(b"bytes of a wheel")
    wheel = wheels.Wheel(
        "thing", "1.0", path.name, "py3-none", "linux-x64", ("3.11", "3.13", "3.14"), wheels.sha256(path)
    )
    monkeypatch.setattr(wheels, "select", lambda pythons, platform: [wheel])
    return path


def test_the_same_input_gives_the_same_zip(one_wheel):
    path = extension_zip.build("3.11")
    first = path.read_bytes()
    path.unlink()
    assert extension_zip.build("3.11").read_bytes() == first
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert archive.read("wheels/thing-1.0-py3-none-any.whl") == b"bytes of a wheel"
        said = tomllib.loads(archive.read("blender_manifest.toml").decode())
        assert said["wheels"] == ["./wheels/thing-1.0-py3-none-any.whl"]
        assert archive.read("__init__.py") == (ROOT / "blender_addon/package/__init__.py").read_bytes()


def test_an_altered_wheel_never_enters_a_zip(one_wheel, monkeypatch):
    one_wheel.write_bytes(b"something else")
    monkeypatch.setattr(wheels, "_download", lambda *arguments: None)
    with pytest.raises(project.BuildError, match="does not match its SHA-256"):
        extension_zip.build("3.11")
