"""Gives the tests the package under the name ``sinew``.

Normally the repository itself is mounted. With ``SINEW_PACKAGE`` (a dotted name such as
``bl_ext.user_default.sinew``) the package is the extension that an isolated Blender profile has installed, and
``sinew...`` names the very same modules, so that no file is ever loaded under two names.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from copy import copy
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = os.environ.get("SINEW_PACKAGE", "sinew")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # So are the jobs of a shell that run in the background, and all that tests start and interrupt would be.
    signal.signal(signal.SIGINT, signal.default_int_handler)


class _Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Answers ``import sinew.x`` with the module of the installed extension."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] != "sinew":
            return None
        # An absent module must look absent (ModuleNotFoundError of the alias's own name).
        try:
            found = importlib.util.find_spec(PACKAGE + name[len("sinew") :])
        except ModuleNotFoundError:
            return None
        return importlib.machinery.ModuleSpec(name, self) if found else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(PACKAGE + spec.name[len("sinew") :])
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has just put the alias's spec on the module: give it its own back.
        alias = module.__spec__
        if alias is not None and alias.loader is self:
            module.__spec__ = alias.loader_state


def _mount_repository() -> None:
    spec = importlib.util.spec_from_file_location("build_addon", REPOSITORY / "build_addon.py")
    assert spec and spec.loader
    build_addon = importlib.util.module_from_spec(spec)
    sys.modules["build_addon"] = build_addon
    spec.loader.exec_module(build_addon)
    build_addon.mount()


def _enable_installed_extension() -> None:
    import bpy

    if PACKAGE not in bpy.context.preferences.addons:
        bpy.ops.preferences.addon_enable(module=PACKAGE)
    sys.meta_path.insert(0, _Alias())
    importlib.import_module("sinew")


if PACKAGE == "sinew":
    _mount_repository()
else:
    _enable_installed_extension()


@pytest.fixture(scope="session")
def sinew_package() -> str:
    """The dotted name under which the package is loaded: ``sinew``, or the installed extension's."""
    return PACKAGE


@pytest.fixture
def mount_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Makes a small file system, by its size (``4m``). Mode bits would not stop a superuser, but who is none cannot
    mount.
    """
    folder, mounted = tmp_path / "disk", []

    def mount(size: str) -> Path:
        folder.mkdir()
        if os.name == "nt" or not shutil.which("mount"):
            pytest.skip("there is no mount command")
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder]
        said = subprocess.run(command, capture_output=True, text=True)
        if said.returncode:
            pytest.skip(f"a file system cannot be mounted: {said.stderr.strip()}")
        mounted.append(folder)
        return folder

    yield mount
    for each in mounted:
        subprocess.run(["umount", each], check=True)


@pytest.fixture
def takes_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Newton takes dynamic nodes."""
    from sinew.core.foundation.schema.solver_kinds import SOLVER_KINDS

    kind = copy(SOLVER_KINDS["newton"])
    object.__setattr__(kind, "takes_nodes", True)
    monkeypatch.setitem(SOLVER_KINDS, "newton", kind)
