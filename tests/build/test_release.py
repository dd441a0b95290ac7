"""The release: refused from a changed checkout, and an index, a bill of materials and notes that say what is in it."""

from __future__ import annotations

import hashlib
import importlib
import json
import re
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

import build_addon

from .test_zip import stand_in

build_addon.load_building()
bill_of_materials, command_line, environments, extension_zip, library, lock, make, notices, project, repository = (
    importlib.import_module(f"sinew_building.{name}")
    for name in (
        "release.bill_of_materials",
        "command_line",
        "environments",
        "extension_zip",
        "release.library",
        "lock",
        "release.make",
        "notices",
        "project",
        "release.repository",
    )  # fmt: skip
)

ROOT = Path(__file__).resolve().parents[2]


def test_a_changed_checkout_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(make, "ROOT", tmp_path)
    with pytest.raises(project.BuildError, match="not a git repository.*\n.*from a clone"):
        make.check_commit()
    (tmp_path / "kept.py").write_text("")
    author = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "."], [*author, "commit", "-qm", "Add"]):
        subprocess.run(["git", "-C", tmp_path, *command], check=True)
    make.check_commit()
    (tmp_path / "planted.py").write_text("")
    with pytest.raises(project.BuildError, match="not committed: planted.py.\nCommit them"):
        make.check_commit()


def test_without_a_network_an_earlier_release_stays(monkeypatch, tmp_path):
    """The address of the package index refuses every connection."""
    earlier = tmp_path / "release" / "NOTES.md"
    earlier.parent.mkdir()
    earlier.write_text("Earlier")
    monkeypatch.setattr(make, "FOLDER", earlier.parent)
    monkeypatch.setattr(make.wheels, "CACHE", tmp_path / "wheels")
    monkeypatch.setattr(make, "check_commit", lambda: None)
    monkeypatch.setattr(environments, "ensure", lambda name: Path(sys.prefix))
    settings = {"PIP_INDEX_URL": "http://127.0.0.1:9", "PIP_RETRIES": "0", "PIP_CONFIG_FILE": "/dev/null"}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(project.BuildError, match="wheels cannot be downloaded .is the package index reachable"):
        make.run()
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["NOTES.md"]
    assert earlier.read_text() == "Earlier"


def test_notes_are_the_topmost_section_and_a_tag_names_the_version():
    version = project.version()
    changelog = f"# Changelog\n\n## {version}\n\n### New\n- One\n\n## 0.0.1\n- Old\n"
    assert make.release_notes(changelog, f"v{version}") == f"# Sinew {version}\n\n### New\n- One\n"
    unreleased = changelog.replace(version, "Unreleased")
    assert "- One" in make.release_notes(unreleased, None)
    for text, tag, words in (
        (changelog, "v99.0.0", f"not of version {version}"),
        (unreleased, f"v{version}", f"“Unreleased”.\nName it “{version}”"),
        ("# Changelog\n", None, "no section with text"),
    ):
        with pytest.raises(project.BuildError, match=words):
            make.release_notes(text, tag)
    assert make.release_notes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), None).count("\n- ") > 20


def test_the_bill_of_materials_names_each_wheel_with_hash_and_licence(monkeypatch, tmp_path):
    facts = {"one": "License-Expression: MIT\n", "two": "Classifier: License :: OSI Approved :: BSD License\n"}
    bill = {"sboms/a.json": '{"components": [{"name": "libgmp"}]}', "LICENSE": "Terms"}
    paths = [stand_in(tmp_path / f"{name}-1.0-py3-none-any.whl", bill, facts[name]) for name in facts]
    rows = [lock.Wheel(p.name[:3], "1.0", p.name, "py3-none", "linux-x64", ("3.11",), "0" * 64) for p in paths]
    monkeypatch.setattr(bill_of_materials.wheels, "fetch", lambda _rows: paths)
    text = bill_of_materials.text(rows)
    said = json.loads(text)
    assert text == bill_of_materials.text(rows) and uuid.UUID(said["serialNumber"])
    assert said["metadata"]["component"]["version"] == project.version()
    one, two = said["components"]
    assert one["licenses"] == [{"expression": "MIT"}] and two["licenses"] == [{"license": {"name": "BSD License"}}]
    assert one["hashes"] == [{"alg": "SHA-256", "content": "0" * 64}] and one["components"][0]["name"] == "libgmp"
    assert said["dependencies"] == [{"ref": "sinew", "dependsOn": [path.name for path in paths]}]


def test_the_repository_lists_every_zip_as_blender_reads_it(monkeypatch, tmp_path):
    """Index and checks by the tool of the installed bpy."""
    monkeypatch.setattr(environments, "folder", lambda name: Path(sys.prefix))
    zips = []
    for python, tag in (("3.11", "cp311"), ("3.13", "cp313")):
        wheel = stand_in(tmp_path / f"thing-1.0-{tag}-{tag}-manylinux_2_28_x86_64.whl", {"LICENSE": "Terms"})
        row = lock.Wheel("thing", "1.0", wheel.name, f"{tag}-{tag}", "linux-x64", (python,), "")
        monkeypatch.setattr(lock, "select", lambda *_arguments, row=row: [row])
        monkeypatch.setattr(extension_zip.wheels, "fetch", lambda _rows, wheel=wheel: [wheel])
        monkeypatch.setattr(extension_zip.wheel_check, "check", lambda *_arguments: None)
        zips.append(extension_zip.build(python, folder=tmp_path / "repository"))
    repository.make(zips)
    entries = json.loads((tmp_path / "repository" / "index.json").read_text())["data"]
    assert [entry["archive_url"] for entry in entries] == [f"./{path.name}" for path in zips]
    assert [entry["python_versions"] for entry in entries] == [["3.11"], ["3.13"]]
    assert [entry["blender_version_min"] for entry in entries] == ["4.2.0", "4.3.0"]
    for entry, path in zip(entries, zips):
        assert entry["archive_hash"] == f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
        assert entry["website"] == project.read()["project"]["urls"]["Homepage"]
        assert set(entry["permissions"]) == {"files", "clipboard"}
    page = (tmp_path / "repository" / "index.html").read_text()
    assert page.count("?repository=.%2Findex.json&amp;blender_version_min=4.") == 2
    zips[1].write_bytes(b"damaged")
    with pytest.raises(project.BuildError, match="Blender refuses"):
        repository.make(zips)


def test_what_is_not_a_file_cannot_be_tried():
    with pytest.raises(project.BuildError, match="nothing.whl does not exist.\nName a wheel"):
        library.try_out(["nothing.whl"])


@pytest.mark.parametrize("page", [".github/workflows/sinew.yml", "docs/release.md", "CONTRIBUTING.md", "README.md"])
def test_commands_in_workflow_and_pages_exist(page):
    (commands,) = (action for action in command_line._parser()._actions if action.dest == "subcommand")
    named = set(re.findall(r"build_addon\.py ([a-z-]+)", (ROOT / page).read_text(encoding="utf-8")))
    assert named and named <= set(commands.choices)


def test_pictures_of_the_page_have_the_sizes_of_the_platform_and_few_bytes():
    from PIL import Image

    folder = ROOT / "docs" / "listing" / "pictures"
    sizes = {path.stem: Image.open(path).size for path in folder.iterdir()}
    assert sizes["icon"] == (256, 256) and sizes["featured"] == (1920, 1080)
    previews = [size for name, size in sizes.items() if name.startswith("preview-")]
    assert len(previews) == 6 and all(9 * width == 16 * height for width, height in previews)
    assert all(path.stat().st_size < 400_000 for path in folder.iterdir())
