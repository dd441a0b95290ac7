"""The extension zip and the lock that it is filled from."""

from __future__ import annotations

import importlib
import re
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest

import build_addon

build_addon.load_building()
environments, extension_zip, lock, notices, platforms, project, wheel_check, wheels = (
    importlib.import_module(f"sinew_building.{n}")
    for n in ("environments", "extension_zip", "lock", "notices", "platforms", "project", "wheel_check", "wheels")
)

ROOT = Path(__file__).resolve().parents[2]
TEST_PINS = project.read()["tool"]["sinew"]["requirements"]["test"]
EVERY_ZIP = pytest.mark.parametrize(
    ("platform", "python"), [(name, python) for name, p in platforms.PLATFORMS.items() for python in p.pythons]
)
EVERY_PLATFORM = pytest.mark.parametrize("platform", platforms.PLATFORMS)


def manifest(pythons, platform, tetgen=False):
    return tomllib.loads(extension_zip.manifest(lock.select(list(pythons), platform, tetgen), platform))


@EVERY_PLATFORM
def test_manifest_is_complete_and_within_the_platforms_limits(platform):
    said = manifest(["3.11", "3.13"], platform)
    assert said["platforms"] == [platform]
    assert said["id"] == "sinew" and said["name"] == "Sinew" and said["type"] == "add-on"
    assert said["blender_version_min"] == "4.2.0"
    assert said["version"] == project.version() and re.fullmatch(r"\d+\.\d+\.\d+", said["version"])
    for text in (said["tagline"], *said["permissions"].values()):
        assert len(text) <= 64 and text[-1].isalnum()
    assert "network" not in said["permissions"]
    assert "$" not in str(said)


def test_only_what_git_tracks_is_in_the_zip(monkeypatch, tmp_path, capsys):
    """A copy of the repository's shape, with a file that nobody committed, and without git at last."""
    for name in (
        "blender_addon/package/__init__.py",
        "core/a.py",
        "core/data/b.json",
        "ui/c.py",
        "LICENSE",
        "README.md",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(extension_zip, "ROOT", tmp_path)
    monkeypatch.setattr(extension_zip, "PACKAGE", tmp_path / "blender_addon" / "package")
    wanted = {"__init__.py", "core/a.py", "core/data/b.json", "ui/c.py", "LICENSE", "README.md"}
    assert set(extension_zip.sources()) == wanted and "no git repository" in capsys.readouterr().err
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", "-C", tmp_path, *command], check=True)
    (tmp_path / "core" / "planted.py").write_text("")
    (tmp_path / "blender_addon" / "package" / "planted.py").write_text("")
    assert set(extension_zip.sources()) == wanted and not capsys.readouterr().err
    (tmp_path / "core" / "a.py").unlink()
    with pytest.raises(project.BuildError, match="a.py is tracked by git, but does not exist"):
        extension_zip.sources()
    for target in (tmp_path / "LICENSE", tmp_path / "core" / "data" / "b.json"):
        (tmp_path / "core" / "a.py").unlink(missing_ok=True)
        (tmp_path / "core" / "a.py").symlink_to(target)
        with pytest.raises(project.BuildError, match="a.py is a symbolic link"):
            extension_zip.sources()
    (tmp_path / "core" / "a.py").unlink()
    (tmp_path / "core" / "a.py").write_text("")
    (tmp_path / "core" / "data").rename(tmp_path / "elsewhere")
    (tmp_path / "core" / "data").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(project.BuildError, match="b.json is a symbolic link"):
        extension_zip.sources()


@pytest.mark.parametrize("name", project.environment_names())
def test_every_pin_of_an_environment_has_a_hash(name):
    plan = project.environment(name)
    lines = lock.hashed([*plan.requirements, *(lock.pins(plan.python, "linux") if name == "main" else ())])
    assert all(re.fullmatch(r"[\w.-]+==\S+( --hash=sha256:[0-9a-f]{64})+", line) for line in lines)


def test_environments_take_nothing_without_its_hash(monkeypatch, tmp_path):
    said = []
    monkeypatch.setattr(environments, "run_quietly", lambda command, _complaint: said.append(command))
    environments._install(tmp_path, ["pytest==" + next(r for r in TEST_PINS if r.startswith("pytest=="))[8:]])
    assert "--require-hashes" in said[0] and "--hash=sha256:" in (tmp_path / "wanted.txt").read_text()
    with pytest.raises(project.BuildError, match="no hash of pytest==0.0.1.\nRun: python build_addon.py lock"):
        environments._install(tmp_path, ["pytest==0.0.1"])


@EVERY_ZIP
def test_lock_covers_every_bundled_requirement(platform, python):
    wanted = project.bundled(python, platforms.named(platform).system)
    chosen = {w.project: w for w in lock.select([python], platform)}
    assert set(chosen) == set(wanted) >= {"numba", "llvmlite", "scipy", "cvxopt", "pytetwild", "tetgen"}
    assert all(project.is_within(chosen[name].version, bounds) for name, bounds in wanted.items())


@EVERY_PLATFORM
def test_tetgen_and_its_licence_are_in_the_zip_of_that_name_alone(platform):
    """The extension platform lists no AGPL."""
    usual, other = manifest(["3.11", "3.13"], platform), manifest(["3.11", "3.13"], platform, tetgen=True)
    assert usual["license"] == ["SPDX:GPL-3.0-or-later"]
    assert other["license"] == ["SPDX:GPL-3.0-or-later", "SPDX:AGPL-3.0-or-later"]
    more = set(other["wheels"]) - set(usual["wheels"])
    assert more and all("/tetgen-" in name for name in more) and not set(usual["wheels"]) - set(other["wheels"])
    assert "tetgen" not in str(usual).lower() and other["version"] == usual["version"]
    assert extension_zip.zip_path(None, platform, True).stem == extension_zip.zip_path(None, platform).stem + "-tetgen"


def test_the_manifest_credits_every_project_that_is_bundled():
    credited = set(project.extension()["copyright"]) - {"sinew"}
    assert credited == {wheel.project for wheel in lock.read()}
    for line in manifest(["3.11"], "linux-x64", tetgen=True)["copyright"]:
        assert re.fullmatch(r"\d{4}(-\d{4})? .+", line)


@EVERY_ZIP
def test_locked_wheels_run_on_their_python_and_platform(platform, python):
    ours = int(python.replace(".", ""))
    for wheel in lock.select([python], platform):
        tag, abi = wheel.tag.split("-")
        assert tag in (f"cp{ours}", "py3") or (abi == "abi3" and int(tag.removeprefix("cp")) <= ours), wheel.file
        tags = wheel.file.removesuffix(".whl").split("-")[-1].split(".")
        assert {"any", *platforms.named(platform).tags} & set(tags), wheel.file


def test_no_wheel_is_numpy():
    assert not [w.file for w in lock.read() if w.project.lower() == "numpy"]


def test_a_python_without_wheels_is_refused():
    with pytest.raises(project.BuildError, match="Choose one of"):
        extension_zip.build("3.9")
    with pytest.raises(project.BuildError, match="build_addon.py lock"):
        lock.select(["3.9"], "linux-x64")
    with pytest.raises(project.BuildError, match="windows-x64, macos-arm64"):
        extension_zip.build(platform="amiga")


def test_sources_mirror_the_repository():
    sources = extension_zip.sources()
    assert {
        "__init__.py",
        "LICENSE",
        "README.md",
        "core/foundation/kernels/jit.py",
        "blender_addon/__init__.py",
    } <= set(sources)
    assert not [
        name for name in sources if name.startswith(("blender_addon/pack", "tests", "benchmarks")) or "pycache" in name
    ]
    templates = {"openjd/template.yaml", "openjd_wedge/template.yaml"}
    templates |= {"flamenco/sinew_bake_render.js", "flamenco/sinew_wedge.js"}
    assert {f"blender_addon/command/farm_files/{name}" for name in templates} <= set(sources)
    for folder in extension_zip.FOLDERS:
        modules = {
            p.relative_to(ROOT).as_posix() for p in (ROOT / folder).rglob("*.py") if "packag" not in p.as_posix()
        }
        assert modules <= set(sources)


def stand_in(path, texts=(), metadata=""):
    """A wheel with these files beside its metadata."""
    name, version, *_ = path.name.split("-")
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}-{version}.dist-info/METADATA", f"Name: {name}\nVersion: {version}\n{metadata}")
        for file, text in dict(texts).items():
            wheel.writestr(f"{name}-{version}.dist-info/{file}", text)
    return path


def test_notices_hold_every_wheels_terms_once(tmp_path):
    bill = '{"components": [{"name": "one"}, {"name": "libgmp"}]}'
    facts = "License-Expression: MIT\nProject-URL: Homepage, https://one.example\n"
    wheels_ = [
        stand_in(tmp_path / "one-1.0-cp311-x.whl", {"LICENSE": "Terms A", "sboms/a.json": bill}, facts),
        stand_in(tmp_path / "one-1.0-cp313-x.whl", {"LICENSE": "Terms A", "licenses/NOTICE": "Terms B"}, facts),
        stand_in(tmp_path / "two-2.0-py3-none-any.whl", {"COPYING": "Terms A"}, "License: whatever\n"),
        stand_in(tmp_path / "pymetis-3.0-py3-none-any.whl"),
    ]
    said = notices.third_party(wheels_)
    assert [line[3:] for line in said.splitlines() if line[:3] == "## "] == ["one 1.0", "pymetis 3.0", "two 2.0"]
    assert said.count("Terms A") == said.count("Terms B") == 1 and "University of Minnesota" in said
    for words in ("Licence: MIT", "Home: https://one.example", "Carries: libgmp", "same text as of one 1.0, above"):
        assert words in said
    with pytest.raises(project.BuildError, match="contains no licence text.*\n.*LICENSE.three"):
        notices.third_party([stand_in(tmp_path / "three-1.0-py3-none-any.whl")])


def test_a_locked_version_beyond_its_range_is_refused_with_the_command(monkeypatch):
    monkeypatch.setattr(project, "bundled", lambda *_: {"numba": ">=99.1"})
    with pytest.raises(project.BuildError, match="asks for >=99.1.*\n.*lock numba==VERSION"):
        lock.select(["3.11"], "linux-x64")


def test_lock_moves_what_is_named_and_keeps_the_rest(monkeypatch):
    asked, written = {}, []
    monkeypatch.setattr(wheels, "_download", lambda lines, python, name, place: asked.update({(name, python): lines}))
    monkeypatch.setattr(lock, "write", written.extend)
    with pytest.raises(project.BuildError, match="No range"):
        wheels.write_lock(["scipy==1.99.0"])  # a stand-in that downloads nothing
    before = {w.project: w.version for w in lock.select(["3.11"], "linux-x64")}
    for (_, python), lines in asked.items():
        assert ("scipy==1.99.0" in lines) == (python != "3.11") and f"numba=={before['numba']}" in lines
    assert len(asked) == sum(len(p.pythons) for p in platforms.PLATFORMS.values()) and not written
    for bad in ("scipy", "scipy>=1"):
        with pytest.raises(project.BuildError, match="NAME==VERSION"):
            wheels.write_lock([bad])


@pytest.fixture
def one_wheel(monkeypatch, tmp_path):
    """A lock of one small stand-in wheel, so that zips are made without downloads, and unchecked."""
    monkeypatch.setattr(wheel_check, "check", lambda *arguments: None)
    monkeypatch.setattr(wheels, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(extension_zip, "DIST", tmp_path / "dist")
    (tmp_path / "cache").mkdir()
    path = tmp_path / "cache" / "thing-1.0-py3-none-any.whl"
    stand_in(path, {"licenses/LICENSE": "Terms of thing"})
    wheel = lock.Wheel(
        "thing", "1.0", path.name, "py3-none", "linux-x64", ("3.11", "3.13", "3.14"), wheels.sha256(path)
    )
    monkeypatch.setattr(lock, "select", lambda pythons, platform, tetgen: [wheel])
    return path


def test_the_same_input_gives_the_same_zip(one_wheel):
    path = extension_zip.build("3.11")
    first = path.read_bytes()
    path.unlink()
    assert extension_zip.build("3.11").read_bytes() == first
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert archive.read("wheels/thing-1.0-py3-none-any.whl") == one_wheel.read_bytes()
        assert "Terms of thing" in archive.read("THIRD_PARTY.md").decode()
        said = tomllib.loads(archive.read("blender_manifest.toml").decode())
        assert said["wheels"] == ["./wheels/thing-1.0-py3-none-any.whl"]
        assert archive.read("__init__.py") == (ROOT / "blender_addon/package/__init__.py").read_bytes()


def test_an_altered_wheel_never_enters_a_zip(one_wheel, monkeypatch):
    one_wheel.write_bytes(b"something else")
    monkeypatch.setattr(wheels, "_download", lambda *arguments: None)
    with pytest.raises(project.BuildError, match="does not match its SHA-256"):
        extension_zip.build("3.11")
