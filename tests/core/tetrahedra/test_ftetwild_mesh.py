"""fTetWild's tets follow the surface, and the caller notices nothing of its manners."""

from __future__ import annotations

import os
import re
import sys
from importlib.machinery import PathFinder

import numpy as np
import pytest
from sinew.core.foundation.errors import MeshError
from sinew.core.foundation.schema.settings import ResolutionSettings
from sinew.core.geometry.mesh.quality import mesh_quality
from sinew.core.geometry.mesh.topology import used_vertices
from sinew.core.geometry.tetrahedra.ftetwild_mesh import robust_tets
from sinew.core.geometry.tetrahedra.tetgen_mesh import clean_tets
from sinew.core.geometry.tetrahedra.tetrahedralize import tetrahedralize

installed = pytest.mark.skipif(PathFinder.find_spec("pytetwild") is None, reason="fTetWild is not installed")


@installed
@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_tets_follow_the_surface_and_leave_nothing_behind(make_box, scale, capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mesh = tetrahedralize(make_box((scale, scale, 0.5 * scale)), ResolutionSettings("robust", 4))
    assert mesh.volumes.sum() == pytest.approx(0.5 * scale**3, rel=0.02)
    assert (mesh.volumes > 0.0).all()
    assert np.array_equal(used_vertices(mesh.tets), np.arange(len(mesh.rest_positions)))
    assert mesh_quality(mesh).components == 1
    assert capfd.readouterr().out == ""
    assert os.getcwd() == str(tmp_path) and not list(tmp_path.iterdir())
    assert "pyvista" not in sys.modules and "pytetwild" not in sys.modules


@installed
def test_a_sheet_encloses_nothing(make_body):
    with pytest.raises(MeshError, match="encloses nothing") as caught:
        robust_tets(make_body("flat_sheet"), 4)
    assert "Draft" in caught.value.remedy


@pytest.mark.parametrize(
    ("make", "module", "words"),
    [(robust_tets, "pytetwild.PyfTetWildWrapper", "Draft"), (clean_tets, "tetgen._tetgen", r"-tetgen .*Draft")],
)
def test_without_the_module_is_told_how_to_get_it_and_the_draft_is_proposed(make_box, monkeypatch, make, module, words):
    monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setattr(PathFinder, "find_spec", lambda *_: None)
    with pytest.raises(MeshError, match="not installed") as caught:
        make(make_box(), 4)
    assert re.search(words, caught.value.remedy)


def test_libraries_beside_the_package_are_shown_to_windows(make_box, tmp_path, monkeypatch):
    """The wheel for Windows has them there; the package's Python layer, which would register them, is not loaded."""
    (tmp_path / "pytetwild").mkdir()
    (tmp_path / "pytetwild" / "__init__.py").write_text("raise AssertionError")
    (tmp_path / "pytetwild" / "PyfTetWildWrapper.py").write_text("raise ImportError('that far')")
    (tmp_path / "pytetwild.libs").mkdir()
    shown = []
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "pytetwild.PyfTetWildWrapper", raising=False)
    monkeypatch.setattr(os, "add_dll_directory", shown.append, raising=False)
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(MeshError, match="that far"):
        robust_tets(make_box(), 4)
    assert shown == [str(tmp_path / "pytetwild.libs")]
