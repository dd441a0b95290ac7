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
extension_zip, platforms, project, wheel_check, wheels = (
    importlib.import_module(f"sinew_packaging.{n}")
    for n in ("extension_zip", "platforms", "project", "wheel_check", "wheels")
)

ROOT = Path(__file__).resolve().parents[2]
EVERY_ZIP = pytest.mark.parametrize(
    ("platform", "python"), [(name, python) for name, p in platforms.PLATFORMS.items() for python in p.pythons]
)
EVERY_PLATFORM = pytest.mark.parametrize("platform", platforms.PLATFORMS)


def manifest(pythons, platform):
    return tomllib.loads(extension_zip.manifest(wheels.select(list(pythons), platform), platform))


@EVERY_PLATFORM
def test_manifest_is_complete_and_within_the_platforms_limits(platform):
    said = manifest(["3.11", "3.13"], platform)
    assert said["platforms"] == [platform]
    assert said["id"] == "sinew" and said["name"] == "Sinew" and said["type"] == "add-on"
    assert said["license"] == ["SPDX:GPL-3.0-or-later"]
    assert said["blender_version_min"] == "4.2.0"
    assert said["version"] == project.version() and re.fullmatch(r"\d+\.\d+\.\d+", said["version"])
    for text in (said["tagline"], *said["permissions"].values()):
        assert len(text) <= 64 and text[-1].isalnum()
    assert "network" not in said["permissions"]
    assert "$" not in str(said)


@EVERY_ZIP
def test_lock_covers_every_bundled_requirement(platform, python):
    chosen = wheels.select([python], platform)
    wanted = project.bundled(python, platforms.named(platform).system)
    assert sorted(f"{w.project}=={w.version}" for w in chosen) == sorted(wanted)
    assert {"numba", "scipy", "cvxopt", "pytetwild", "tetgen"} <= {w.project for w in chosen}


@EVERY_ZIP
def test_locked_wheels_run_on_their_python_and_platform(platform, python):
    ours = int(python.replace(".", ""))
    for wheel in wheels.select([python], platform):
        tag, abi = wheel.tag.split("-")
        assert tag in (f"cp{ours}", "py3") or (abi == "abi3" and int(tag.removeprefix("cp")) <= ours), wheel.file
        tags = wheel.file.removesuffix(".whl").split("-")[-1].split(".")
        assert {"any", *platforms.named(platform).tags} & set(tags), wheel.file


def test_no_wheel_is_numpy():
    assert not [w.file for w in wheels.read_lock() if w.project.lower() == "numpy"]


def test_a_python_without_wheels_is_refused():
    with pytest.raises(project.BuildError, match="Choose one of"):
        extension_zip.build("3.9")
    with pytest.raises(project.BuildError, match="build_addon.py lock"):
        wheels.select(["3.9"], "linux-x64")
    with pytest.raises(project.BuildError, match="windows-x64, macos-arm64"):
        extension_zip.build(platform="amiga")


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
    """A lock of one small stand-in wheel, so that zips are made without downloads, and unchecked."""
    monkeypatch.setattr(wheel_check, "check", lambda *arguments: None)
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
