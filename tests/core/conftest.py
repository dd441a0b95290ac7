"""Finite differences of potentials of a step, for the tests of everything that is one; bodies; the reference bodies."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.simulation.preparation import mesher_process

from .surfaces import BODIES, box, sphere

PAIRS = [(a, b) for a in range(4) for b in range(a + 1)]


class Differences:
    """Checks of a potential's derivatives."""

    @staticmethod
    def numeric_gradient(potential, x: np.ndarray, delta: float) -> np.ndarray:
        """Central differences of the value, (n,3)."""
        out = np.empty_like(x)
        for index in np.ndindex(x.shape):
            shift = np.zeros_like(x)
            shift[index] = delta
            out[index] = (potential.value(x + shift) - potential.value(x - shift)) / (2.0 * delta)
        return out

    @staticmethod
    def numeric_hessian(potential, x: np.ndarray, delta: float) -> np.ndarray:
        """Central differences of the gradient, (3n,3n)."""
        columns = []
        for index in np.ndindex(x.shape):
            shift = np.zeros_like(x)
            shift[index] = delta
            columns.append((potential.gradient(x + shift) - potential.gradient(x - shift)).ravel() / (2.0 * delta))
        return np.array(columns).T

    @staticmethod
    def dense_stiffness(potential, x: np.ndarray, tets: np.ndarray, scale: float = 1.0) -> np.ndarray:
        """The element blocks that a potential adds, summed into a dense matrix, (3n,3n)."""
        blocks = np.zeros((10 * len(tets), 3, 3))
        potential.add_stiffness(x, scale, blocks)
        out = np.zeros((len(x), 3, len(x), 3))
        for tet, element in zip(tets, blocks.reshape(-1, 10, 3, 3)):
            for (a, b), K in zip(PAIRS, element):
                out[tet[a], :, tet[b]] += K
                if a != b:
                    out[tet[b], :, tet[a]] += K.T
        return out.reshape(3 * len(x), -1)


@pytest.fixture
def differences() -> Differences:
    """Finite differences of a potential, and its stiffness as a dense matrix."""
    return Differences()


@pytest.fixture(scope="session")
def make_sphere():
    return sphere


@pytest.fixture(scope="session")
def make_box():
    return box


@pytest.fixture(params=sorted(BODIES))
def body(request: pytest.FixtureRequest) -> SurfaceMesh:
    """Each body in turn."""
    return BODIES[request.param]()


@pytest.fixture(scope="session")
def make_body():
    return lambda name: BODIES[name]()


@pytest.fixture(scope="session")
def reference_bodies() -> Path:
    """Folder of reference bodies; the test is skipped where there is none."""
    beside = Path(__file__).resolve().parents[2].parent / "shared" / "data"
    folder = Path(os.environ.get("SINEW_DATA", beside))
    if not (folder / "coarse_bunny.npz").is_file():
        pytest.skip("the reference bodies are not here")
    return folder


@pytest.fixture
def tetrahedra_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other people's code makes tetrahedra in this process: a child for each box takes longer than its bake."""
    monkeypatch.setattr(mesher_process, "_may_end", True)
