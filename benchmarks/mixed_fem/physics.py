"""Cantilever compared with Timoshenko's beam theory, and with scikit-fem on the same mesh."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import expm
from scipy.optimize import brentq
from scipy.sparse.linalg import eigsh, splu

from ...core.mechanics.assembly.sparsity import BlockSparsity
from ...core.methods.model.model import Model, build_model
from ..bodies import block, held_end
from ..measures import step
from ..pictures import Curve, Plot, Snapshot, draw
from ..registry import Case, Row, row

LENGTH, WIDTH, HEIGHT = 1.0, 0.1, 0.12
STIFFNESS, RATIO, DENSITY = 1e6, 0.3, 1e3
LIGHT = 1e-3
"""Gravity, m/s², that bends the beam so little that theory holds."""
ACROSS = (2, 4, 8)
"""Cells across the three meshes; ten times as many along."""
STATIC = 1e4
"""Length of a step, s, with inertia of 1e-9 of the stiffness."""
MODES = 4


def cases(data: Path | None) -> Iterator[Case]:
    """Yield theory with extrapolation, and an independent code."""
    yield Case("cantilever", _cantilever)
    yield Case("scikit_fem", _scikit_fem)


def _body(across: int, energy: str = "stable_neo_hookean") -> Model:
    mesh = block((10 * across, across, across), (LENGTH, WIDTH, HEIGHT))
    return build_model(mesh, STIFFNESS, RATIO, DENSITY, energy, pinned=held_end(mesh))


def _hang(model: Model, solver: str) -> np.ndarray:
    """Return the static displacement under light gravity along -z, by a solver's own long steps, (n,3), m."""
    start = state = model.rest_state()
    for _ in range(2):
        state = model.state_at(state.positions)
        state, _report = step(model, state, solver, 50, STATIC, (0.0, 0.0, -LIGHT), tolerance=1e-15)
    return state.positions - start.positions


def _matrices(model: Model) -> tuple[sp.csc_matrix, sp.csc_matrix]:
    """Return stiffness at rest (N/m) and mass (kg) over the free coordinates."""
    elastic, n = model.elastic, len(model.mesh.rest_positions)
    tangent = elastic.tangent(elastic.deformation(model.mesh.rest_positions))
    sparsity = BlockSparsity(model.elements.nodes, n, model.pinned)
    pattern = sparsity.pattern
    values = np.empty(len(pattern.row_indices))
    sparsity.fill(model.stiffness(tangent, 0.0), values)
    shape = (pattern.size, pattern.size)
    lower = sp.csc_matrix((values, pattern.row_indices, pattern.column_starts), shape=shape)
    mass = model.mass[sparsity.free][:, sparsity.free]
    return (lower + sp.tril(lower, -1).T).tocsc(), sp.kron(mass, sp.identity(3)).tocsc()


def _frequencies(K: sp.csc_matrix, M: sp.csc_matrix) -> np.ndarray:
    """Return the lowest frequencies, Hz."""
    values = eigsh(K, MODES, M, sigma=0.0, v0=np.ones(K.shape[0]), return_eigenvectors=False)
    return np.sqrt(np.sort(values)) / (2 * math.pi)


class Timoshenko:
    """Cantilever of length L whose cross-section has height h in the plane of bending (Timoshenko 1921).

    Shear coefficient ``10 (1 + nu) / (12 + 11 nu)`` of a rectangle (Cowper 1966).
    """

    def __init__(self, width: float, height: float) -> None:
        kappa = 10 * (1 + RATIO) / (12 + 11 * RATIO)
        self.area = width * height
        self.inertia = width * height**3 / 12
        self.bending = STIFFNESS * self.inertia
        self.shear = kappa * STIFFNESS / (2 * (1 + RATIO)) * self.area

    def tip(self) -> float:
        """Return the deflection of the tip under its own weight in light gravity, m."""
        load = DENSITY * self.area * LIGHT
        return load * LENGTH**4 / (8 * self.bending) + load * LENGTH**2 / (2 * self.shear)

    def _free_end(self, frequency: float) -> float:
        """Return the determinant of moment and shear at the tip by those at the clamp; zero at a natural frequency."""
        w2 = (2 * math.pi * frequency) ** 2
        # Deflection, rotation, moment, shear force: their derivatives along the beam.
        A = np.array(
            [
                [0, 1, 0, 1 / self.shear],
                [0, 0, 1 / self.bending, 0],
                [0, -DENSITY * self.inertia * w2, 0, -1],
                [-DENSITY * self.area * w2, 0, 0, 0],
            ]
        )
        return float(np.linalg.det(expm(A * LENGTH)[2:, 2:]))

    def frequencies(self, count: int) -> list[float]:
        """Return the lowest frequencies, Hz."""
        # Euler-Bernoulli's first one; the spacing of later roots is larger.
        unit = 3.516 / (2 * math.pi * LENGTH**2) * math.sqrt(self.bending / (DENSITY * self.area))
        grid = np.linspace(0.5, 25.0, 400) * unit
        signs = np.array([self._free_end(f) for f in grid])
        found = [brentq(self._free_end, a, b) for a, b, x, y in zip(grid, grid[1:], signs, signs[1:]) if x * y < 0]
        return found[:count]


def _extrapolated(coarse: float, middle: float, fine: float) -> float:
    """Return Richardson's limit of values at cells h, h/2, h/4 with an error ``a h² + b h⁴``, as of linear tets."""
    first, second = middle + (middle - coarse) / 3, fine + (fine - middle) / 3
    return second + (second - first) / 15


def _cantilever() -> Iterable[Row]:
    upright, flat = Timoshenko(WIDTH, HEIGHT), Timoshenko(HEIGHT, WIDTH)
    theory = np.array([upright.tip(), *sorted(upright.frequencies(2) + flat.frequencies(2))])
    measured = []
    for across in ACROSS:
        model = _body(across)
        tip = np.abs(model.mesh.rest_positions[:, 0] - LENGTH) < 1e-9
        displacement = _hang(model, "mixed_fem")
        measured.append([-displacement[tip, 2].mean(), *_frequencies(*_matrices(model))])
    measured = np.array(measured)
    names = ["tip", *(f"frequency {k + 1}" for k in range(MODES))]
    curves = []
    for k, name in enumerate(names):
        limit = _extrapolated(*measured[:, k])
        unit = "m" if k == 0 else "Hz"
        for across, value in zip(ACROSS, measured[:, k]):
            yield row("cantilever", f"{name}, {across} cells across", value, unit)
        yield row("cantilever", f"{name}, extrapolated", limit, unit)
        yield row("cantilever", f"{name}, Timoshenko", theory[k], unit)
        yield row("cantilever", f"{name}, |ratio - 1|", abs(limit / theory[k] - 1), "", at_most=0.03)
        curves.append(Curve(name, [1 / a for a in ACROSS] + [0.0], [*(measured[:, k] / theory[k]), limit / theory[k]]))
    magnified = model.mesh.rest_positions + 0.2 * LENGTH / theory[0] * displacement
    panels = [
        Plot("by Timoshenko's theory, nu = 0.3", "1 / cells across", "value / theory", curves),
        Snapshot("bent by its weight, magnified", magnified, model.mesh.tets),
    ]
    draw("mixed-fem", "cantilever", panels)


def _scikit_fem() -> Iterable[Row]:
    """Compare with scikit-fem's assembly of the same linear tets: statics by Newton FEM's linear energy, and modes."""
    try:
        skfem = importlib.import_module("skfem")
    except ImportError:
        yield row("scikit_fem", "not installed: pip install scikit-fem", math.nan)
        return
    model = _body(4, "linear")
    K, M, f = _by_scikit_fem(skfem, model)
    theirs = np.zeros_like(model.mesh.rest_positions)
    free = np.setdiff1d(np.arange(len(theirs)), model.pinned)
    theirs[free] = splu(K).solve(f).reshape(-1, 3)
    # Mixed FEM uses the corotated form of the linear energy, which differs by the square of the rotation.
    ours = _hang(model, "newton")
    difference = np.abs(ours - theirs).max() / np.abs(theirs).max()
    yield row("scikit_fem", "static: |u - u_skfem| / |u_skfem|", difference, "", at_most=1e-6)
    mine, his = _frequencies(*_matrices(model)), _frequencies(K, M)
    for k in range(MODES):
        yield row("scikit_fem", f"frequency {k + 1}", mine[k], "Hz")
        yield row("scikit_fem", f"frequency {k + 1}: |ratio - 1|", abs(mine[k] / his[k] - 1), "", at_most=1e-6)
    scale = 0.2 * LENGTH / np.abs(theirs).max()
    shots = [
        Snapshot(name, model.mesh.rest_positions + scale * u, model.mesh.tets)
        for name, u in (("ours, magnified", ours), ("scikit-fem's, magnified", theirs))
    ]
    draw("mixed-fem", "scikit_fem", shots)


def _by_scikit_fem(skfem: Any, model: Model) -> tuple[sp.csc_matrix, sp.csc_matrix, np.ndarray]:
    """Return stiffness, mass and weight of the same body over the free coordinates."""
    elasticity = importlib.import_module("skfem.models.elasticity")
    mesh = skfem.MeshTet(model.mesh.rest_positions.T.copy(), model.mesh.tets.T.astype(np.int64).copy())
    basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTetP1()))
    K = elasticity.linear_elasticity(*elasticity.lame_parameters(STIFFNESS, RATIO)).assemble(basis)
    M = skfem.BilinearForm(lambda u, v, w: DENSITY * (u[0] * v[0] + u[1] * v[1] + u[2] * v[2])).assemble(basis)
    f = skfem.LinearForm(lambda v, w: -DENSITY * LIGHT * v[2]).assemble(basis)
    free = np.setdiff1d(np.arange(len(model.mesh.rest_positions)), model.pinned)
    kept = basis.nodal_dofs[:, free].T.ravel()
    return K.tocsc()[kept][:, kept], M.tocsc()[kept][:, kept], f[kept]
