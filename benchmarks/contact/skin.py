"""Collision skin of the draft lattice: closedness, self-intersections, distance from the body, time."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ..bodies import has, suzanne
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row
from ..skin_measures import Measured, measured, recorded_surface
from ..thin_bodies import ball, hand, hollow_ball, plate, square

CELLS = 12, 20, 32
RECORDED = "arm_coarse arm_fine armadillo_coarse armadillo_fine beam_5k boat coarse_bunny gummy_bear virus".split()
LOST, NEAR = 0.005, 0.1
SECONDS, SHARE = 2.0, 0.5
"""Maximum time of a skin, s, and as a fraction of its lattice's."""

Made = Callable[[float], SurfaceMesh]
"""Function from the cell size of a lattice, m, to a surface of size 1 m; some ignore it."""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield one case per body."""
    made: dict[str, Made] = {name: _recorded(data, name) for name in RECORDED if data and has(data, name)}
    if suzanne(2.0) is not None:
        made.update(suzanne=lambda _cell: _suzanne(0), suzanne_smooth=lambda _cell: _suzanne(2))
    made.update(hand=lambda _cell: hand(), bowl=lambda _cell: ball(24, 0.5, 0.0), sheet=lambda _cell: square())
    for thick in (0.3, 1.0):
        made[f"plate_{thick:g}"] = lambda cell, t=thick: plate(t * cell)
        made[f"plate_{thick:g}_tilted"] = lambda cell, t=thick: plate(t * cell, tilted=True)
        made[f"hollow_{thick:g}"] = lambda cell, t=thick: hollow_ball(t * cell)
    for name, make in made.items():
        yield Case(f"skin_{name}", functools.partial(_rows, f"skin_{name}", make))


def _recorded(data: Path, name: str) -> Made:
    return lambda _cell: recorded_surface(data, name)


def _suzanne(subdivisions: int) -> SurfaceMesh:
    head = suzanne(2.0, subdivisions)
    assert head is not None
    return head


def _rows(case: str, make: Made) -> Iterator[Row]:
    measured(make(1.0 / 5.5), 6)  # compiles
    curves = []
    for cells_across in CELLS:
        m = measured(make(1.0 / (cells_across - 0.5)), cells_across)
        yield from _of_one(case, cells_across, m)
        sides = m.skin.rest_positions[m.skin.faces]
        lengths = np.sort(np.linalg.norm(sides - np.roll(sides, 1, axis=1), axis=2).ravel())
        lengths *= (cells_across - 0.5) / make(1.0 / (cells_across - 0.5)).size
        share = np.linspace(0.0, 1.0, len(lengths))
        curves.append(Curve(f"{cells_across} cells: {m.faces} faces", lengths[::20], share[::20]))
    draw("contact", case, [Plot("edges of the skin", "length, cells", "share that is shorter", curves)])


def _of_one(case: str, cells: int, m: Measured) -> Iterator[Row]:
    yield row(case, f"faces for {m.tets} tets, {cells} cells", m.faces)
    yield row(case, f"open edges, pinched vertices, {cells} cells", m.unpaired + m.pinched, at_most=0)
    yield row(case, f"volume, {cells} cells", m.volume, "cell^3", at_least=0.0)
    yield row(case, f"crossings, {cells} cells", m.crossings, at_most=0)
    yield row(case, f"touching at rest, 0.05 cell, {cells} cells", m.touching, at_most=0)
    yield row(case, f"lost, {cells} cells", m.lost, at_most=LOST)
    if not np.isnan(m.near):
        yield row(case, f"95 % of what is thick, {cells} cells", m.near, "cells", at_most=NEAR)
        yield row(case, f"farthest of it, {cells} cells", m.farthest, "cells")
    yield row(case, f"sums of what carries it off by, {cells} cells", m.uneven, at_most=1e-12)
    yield row(case, f"seconds of the lattice, {cells} cells", m.lattice_seconds, "s")
    yield row(case, f"seconds, {cells} cells", m.seconds, "s", at_most=max(SECONDS, SHARE * m.lattice_seconds))
