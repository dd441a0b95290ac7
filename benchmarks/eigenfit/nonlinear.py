"""Nonlinear bodies at two resolutions: bars and the papers' bodies, bent, stretched, of several materials."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from ...core.geometry.mesh.tet_mesh import TetMesh
from ...core.methods.model.model import Model
from ..bodies import has, held_end, load, mirrored_block
from ..creatures import crab, sweet, swordsman
from ..registry import Case
from ..resolutions import Field, Pair, Specimen, lowest_end, pair_of, pushed

COARSE, FINE = (12, 3, 3), (32, 8, 8)
"""Cells of a bar of 4 x 1 x 1."""
CREATURES = 0.08, 0.05
"""Cell sizes of creatures built in code, m."""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield bars, then figures of [EigenFit19], with its shared bodies if available, otherwise similar ones."""
    yield _case("bar_30_percent", bar, 0.16, 1 / 30)
    for contrast, part in ((30.0, 1 / 7), (100.0, 1 / 7), (1e4, 1 / 4)):
        yield _case(f"bar_contrast_{contrast:g}", partial(bar, slabs(contrast)), 0.12, part)
    yield _case("bar_bent", bar, 0.54, 1 / 10, lambda at: np.tile([0.0, 0.3, 1.0], (len(at), 1)))
    yield _case("bar_pulled", bar, 0.6, 1.0, lambda at: np.tile([1.0, 0.0, 0.02], (len(at), 1)))
    for energy in ("arap", "corotated"):
        yield _case(f"bar_{energy}", partial(bar, energy=energy), 0.16)
    if has(data, "armadillo_fine"):
        yield _case("fig_8_armadillo_arap", partial(shared, data, "armadillo", energy="arap"), 0.1)
        yield _case("armadillo_corotated", partial(shared, data, "armadillo", energy="corotated"), 0.1)
    yield _case("fig_10_swordsman_arap", partial(creature, _figure, 1.0, "arap"), 0.1)
    if has(data, "arm_fine"):
        yield _case("fig_11_arm", partial(shared, data, "arm", elbow), 0.1)
    yield _case("fig_12_crab_arap", partial(creature, crab, 50.0, "arap"), 0.1)
    yield _case("fig_13_sweet", partial(creature, _held_sweet, 1e4), 0.1)
    yield _case("fig_14_bar_twisted_far", bar, 1.2, field=screw)


def _case(
    name: str, make: Callable[[], Pair], amplitude: float, part: float | None = None, field: Field | None = None
) -> Case:
    return Case(name, lambda: pushed(name, make(), amplitude, part, field=field))


def bar(relative: Field | None = None, energy: str = "stable_neo_hookean", ratio: float = 0.45) -> Pair:
    """Return a bar held at one end."""
    meshes = bars()
    return pair_of(*(Specimen(mesh, _stiffness(mesh, relative), held_end(mesh)) for mesh in meshes), energy, ratio)


def bars() -> list[TetMesh]:
    """Return bars of 1 m with 540 and 10,240 tets."""
    return [mirrored_block(cells, (1.0, 0.25, 0.25)) for cells in (COARSE, FINE)]


def _stiffness(mesh: TetMesh, relative: Field | None) -> np.ndarray | float:
    return 1.0 if relative is None else relative(mesh.rest_positions[mesh.tets].mean(axis=1))


def slabs(contrast: float) -> Field:
    """Return the relative stiffness of four slabs along the bar, alternately 1 and ``contrast``."""
    return lambda at: np.where(np.floor(4.0 * at[:, 0]) % 2 == 1, contrast, 1.0)


def shared(data: Path, name: str, relative: Field | None = None, energy: str = "stable_neo_hookean") -> Pair:
    """Return a body of [EigenFit19], held in the first tenth along its longest side."""
    bodies = [load(data, f"{name}_{each}") for each in ("coarse", "fine")]
    meshes = [TetMesh(each["vertices"], each["tets"]) for each in bodies]
    return pair_of(*(Specimen(mesh, _stiffness(mesh, relative), lowest_end(mesh)) for mesh in meshes), energy)


def elbow(at: np.ndarray) -> np.ndarray:
    """Return a relative stiffness of 100 except in the middle third along the longest side."""
    along = at[:, np.argmax(np.ptp(at, axis=0))]
    return np.where(np.abs((along - along.min()) / np.ptp(along) - 0.5) < 1 / 6, 1.0, 100.0)


def creature(make: Callable[[float], Model], contrast: float, energy: str = "stable_neo_hookean") -> Pair:
    """Return a body built in code, its stiffer parts ``contrast`` times as stiff as the softest."""

    def specimen(model: Model) -> Specimen:
        E = model.elastic.youngs_modulus
        return Specimen(model.mesh, np.where(E > 1.001 * E.min(), contrast, 1.0), model.pinned)

    return pair_of(*(specimen(make(cell)) for cell in CREATURES), energy)


def _figure(cell: float) -> Model:
    return swordsman(cell).model


def _held_sweet(cell: float) -> Model:
    model = sweet(cell)
    return replace(model, pinned=lowest_end(model.mesh))


def screw(at: np.ndarray) -> np.ndarray:
    """Return accelerations that twist a bar along x, and bend it."""
    middle = np.array([0.0, 0.125, 0.125])
    return np.cross([4.0, 0.0, 0.0], (at - middle) * [0.0, 1.0, 1.0]) * at[:, :1] + [0.0, 0.0, 0.3]
