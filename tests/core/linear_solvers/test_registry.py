"""Choice of the linear solver, with its reason."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from sinew.core.foundation.errors import SettingsError
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.geometry.tetrahedra.lattice import lattice_tets
from sinew.core.mechanics.assembly.elements import ElementNodes
from sinew.core.mechanics.assembly.sparsity import BlockSparsity
from sinew.core.numerics.linear_solvers import registry
from sinew.core.numerics.linear_solvers.cholmod import CholmodSolver
from sinew.core.numerics.linear_solvers.elastic_system import ElasticSystem
from sinew.core.numerics.linear_solvers.factor_size import entries_of, entries_of_compact, factor_bytes
from sinew.core.numerics.linear_solvers.registry import (
    DIRECT_SOLVERS,
    LINEAR_SOLVERS,
    Choice,
    choose,
    installed,
    remembered,
)

from .bars import bar

PLENTY = 10**12


@pytest.fixture(scope="module")
def body():
    return bar(1.0, cells=(30, 6, 6))


def without(*packages: str):
    """A stand-in for ``find_spec`` that does not see some packages."""
    real = importlib.util.find_spec

    return lambda name, *rest: None if name in packages else real(name, *rest)


def test_the_fastest_is_taken(monkeypatch, body):
    monkeypatch.setattr(importlib.util, "find_spec", without("pypardiso"))
    assert choose("automatic", body, PLENTY).name == "cholmod"
    monkeypatch.setattr(importlib.util, "find_spec", without("pypardiso", "cvxopt"))
    choice = choose("automatic", body, PLENTY)
    assert choice.name == "superlu"
    assert "installed; PARDISO would need the Python package pypardiso; CHOLMOD" in choice.reason


def test_conjugate_gradients_where_the_factor_does_not_fit(body):
    pattern = BlockSparsity(body.elements.nodes, len(body.rest_positions), body.pinned).pattern
    needed = factor_bytes(entries_of(pattern))
    choice = choose("automatic", body, int(needed))
    assert choice.name == "pcg"
    assert "free" in choice.reason
    # Counted where the cheap estimate, of a compact body, would refuse.
    assert factor_bytes(entries_of_compact(len(pattern.free))) > 2 * needed
    assert choose("automatic", body, int(2 * needed)).name in {solver.name for solver in DIRECT_SOLVERS}


@pytest.mark.parametrize("missing", ["", "pymetis"])
def test_the_estimate_is_for_a_compact_body(monkeypatch, missing):
    monkeypatch.setattr(importlib.util, "find_spec", without(missing))
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    surface = SurfaceMesh(corners, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]))
    mesh = lattice_tets(surface, 30)
    n = len(mesh.rest_positions)
    counted = entries_of(BlockSparsity(ElementNodes.of_tets(mesh.tets), n, np.array([], dtype=int)).pattern)
    assert counted < entries_of_compact(n) < 4 * counted


def test_without_metis_the_factor_in_its_order_is_counted(monkeypatch, body):
    """On Windows it had been counted for the natural order of the vertices."""
    monkeypatch.setattr(importlib.util, "find_spec", without("pymetis"))
    pattern = BlockSparsity(body.elements.nodes, len(body.rest_positions), body.pinned).pattern
    assert entries_of(pattern) == CholmodSolver(pattern).factor_entries
    monkeypatch.setattr(importlib.util, "find_spec", without("pymetis", "cvxopt"))
    assert entries_of(pattern) > 0


def test_a_missing_one_is_told_with_the_remedy(monkeypatch, body):
    monkeypatch.setattr(importlib.util, "find_spec", without("pypardiso"))
    with pytest.raises(SettingsError) as error:
        choose("pardiso", body)
    assert "PARDISO" in error.value.message
    assert "pypardiso" in error.value.remedy


def test_an_unknown_one_is_told(body):
    with pytest.raises(SettingsError, match="magic"):
        choose("magic", body)


def test_every_name_has_a_label_and_a_choice(body):
    for name, (label, description) in LINEAR_SOLVERS.items():
        assert label and description
        needs = next((solver for solver in DIRECT_SOLVERS if solver.name == name), None)
        if needs is None or installed(needs):
            assert choose(name, body, PLENTY).reason
    assert registry.AUTOMATIC in LINEAR_SOLVERS


def test_a_choice_is_remembered_where_it_can_be_made_again(monkeypatch):
    assert remembered("pcg", "little memory was free") == Choice("pcg", CholmodSolver, "little memory was free")
    monkeypatch.setattr(importlib.util, "find_spec", without("cvxopt"))
    assert remembered("cholmod", "as chosen") is None
    assert remembered("magic", "as chosen") is None


@pytest.mark.parametrize(
    ("name", "words"), [("cholmod", ("CHOLMOD", "minimum degree")), ("pcg", ("conjugate gradients", "groups"))]
)
def test_the_system_says_what_solves_it(name, words):
    text = ElasticSystem(bar(1e3), choose(name, bar(1e3))).choice
    for word in (*words, "as chosen", "MB"):
        assert word in text
