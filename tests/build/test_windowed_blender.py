"""Entering the Debian root folder leaves no mount behind, even when the command fails."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import build_addon

build_addon.load_building()
windowed, project = (importlib.import_module(f"sinew_building.{name}") for name in ("windowed", "project"))

needs_root = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="needs root and unshare")


def mounts_under(folder):
    return [line for line in Path("/proc/self/mounts").read_text().splitlines() if str(folder) in line]


@needs_root
def test_mounts_end_with_the_command(tmp_path):
    root, given = tmp_path / "root", tmp_path / "given"
    for folder in (root / "proc", root / "dev", given):
        folder.mkdir(parents=True)
    # An empty root holds no command at all: chroot fails after everything was mounted.
    result = subprocess.run(windowed.enter(root, ["/nothing"], {given: "/here"}), capture_output=True, text=True)
    assert result.returncode == 127 and "nothing" in result.stderr
    assert (root / "here").is_dir()
    assert mounts_under(tmp_path) == []


def test_a_named_blender_must_exist(monkeypatch):
    monkeypatch.setenv("SINEW_BLENDER", "/nowhere/blender")
    with pytest.raises(project.BuildError, match="SINEW_BLENDER"):
        windowed.find()


def test_an_unfinished_install_is_not_used(monkeypatch, tmp_path):
    monkeypatch.setitem(windowed.FOLDERS, "sid", tmp_path)
    assert windowed.find("sid") is None
    (tmp_path / "complete").write_text("Blender 4.3.2\n")
    assert windowed.find("sid") == tmp_path / "root"
