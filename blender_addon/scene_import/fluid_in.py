"""Velocities of a fluid domain at grid points, for force fields of the type Fluid Flow.

Blender's domains provide a velocity per cell. ``docs/design/forces.md`` compares the resulting force with the force on
Blender's particles.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...core.foundation.errors import FieldError
from ...core.mechanics.forces.field_samples import FieldSamples
from ..properties.field_weights import fluid_domain
from .animation_in import EvaluatedFrame
from .field_probe import knots
from .mesh_in import transform, unit_scale, vertex_positions

CELLS_A_SECOND = 2.5
"""Cells per second at a solver velocity of 1. The size of a cell is the domain's longest side over its resolution."""

MOST_CELLS = 64
"""Maximum number of cells along the longest side. Finer domains are averaged over blocks of cells."""


class FluidGrid(NamedTuple):
    """Flow of a fluid domain at one frame, on (a,b,c) cells. Lengths are in Blender units.

    Attributes
    ----------
    values : the solver's velocity and the density of each cell, (a,b,c,4)
    corner : lower corner of the domain, (3,), in object coordinates
    cell : size of a cell, (3,), in object coordinates
    matrix : matrix (4,4) from object coordinates to world space
    length : size of a cell in world space
    """

    values: np.ndarray
    corner: np.ndarray
    cell: np.ndarray
    matrix: np.ndarray
    length: float

    @property
    def box(self) -> np.ndarray:
        """Lower and upper corner of the domain's bounding box in world space, (2,3) in Blender units."""
        cells = np.array(list(np.ndindex(2, 2, 2))) * self.values.shape[:3]
        corners = transform(self.matrix, self.corner + cells * self.cell)
        return np.array([corners.min(axis=0), corners.max(axis=0)])

    def at(self, points: np.ndarray) -> np.ndarray:
        """Return the flow at points in world space, (p,4).

        The first three columns are density times velocity, in Blender units per second. The last column is density.
        Values are trilinearly interpolated between cell centres, and 0 outside the domain. As in Blender, the object's
        matrix changes the direction of a velocity but not the magnitude.

        ``points`` (p,3): positions in world space, in Blender units.
        """
        cells = (transform(np.linalg.inv(self.matrix), points) - self.corner) / self.cell
        sides = np.array(self.values.shape[:3])
        inside = ((cells >= 0.0) & (cells <= sides)).all(axis=1, keepdims=True)
        # A domain one cell thick is constant across its thickness.
        values = self.values
        for axis in np.flatnonzero(sides == 1):
            values = np.repeat(values, 2, axis=axis)
        found = FieldSamples(np.full(3, 0.5), np.maximum(sides - 0.5, 1.5), values).at(cells) * inside
        raw, density = found[:, :3], found[:, 3:]
        turned = raw @ self.matrix[:3, :3].T
        length = np.linalg.norm(turned, axis=1, keepdims=True)
        direction = turned / np.where(length > 0.0, length, 1.0)
        speed = CELLS_A_SECOND * self.length * np.linalg.norm(raw, axis=1, keepdims=True)
        return np.hstack([density * speed * direction, density])


class FluidSampler:
    """Sampler of the fluid domain of a Fluid Flow field.

    Raises FieldError if a frame is not cached. Blender would simulate an uncached frame now, and later read the frame
    from a cache that does not keep all cells. The flow would then differ, and the bake would appear out of date.
    """

    def __init__(self, field: Any, frames: tuple[int, int]) -> None:
        self._field = field
        missing = _uncached(field.field.source_object, *frames)
        if missing:
            raise FieldError(
                f"“{field.field.source_object.name}”, from which the force field “{field.name}” takes its flow, has no "
                f"cached fluid at frame {missing[0]}.",
                "Bake it (Physics > Fluid > Cache), or play the animation once if its cache is a Replay; or set Fluid "
                "Flow under Field Weights to 0.",
            )

    def grid_at(self, moment: EvaluatedFrame) -> FluidGrid | None:
        """Return the domain's flow at the current frame, or None without fluid."""
        return _grid(self._field, moment.context.evaluated_depsgraph_get())

    def samples(
        self, grids: Sequence[FluidGrid | None], low: np.ndarray, high: np.ndarray, scene: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the flow of the domain on a grid in a box.

        The results are the box's lower corner (3,), m, the upper corner (3,), m, and samples (f,a,b,c,4). A sample has
        density times velocity, and density (:meth:`FluidGrid.at`). The box is the overlap of the domain and the region
        in which the body moves, enlarged by a margin. Without an overlap, the box is the region itself. Raises
        FieldError if no frame has flow.

        ``grids``: the domain's flow at each frame, or None for a frame without fluid.
        ``low``, ``high`` (3,), m: corners of the region in which the body moves.
        """
        flowing = [grid for grid in grids if grid is not None and grid.values[..., :3].any()]
        if not flowing:
            raise FieldError(
                f"The force field “{self._field.name}” takes its flow from “{self._field.field.source_object.name}”, "
                "which has no flow at these frames.",
                "Enable the domain and its modifier in viewports, and check that its cache is complete; or set Fluid "
                "Flow "
                "under Field Weights to 0.",
            )
        unit = unit_scale(scene)
        boxes = np.array([grid.box for grid in flowing]) * unit
        least, most = np.maximum(low, boxes[:, 0].min(axis=0)), np.minimum(high, boxes[:, 1].max(axis=0))
        if (least < most).all():
            # With a margin, the outermost grid points are outside the domain, where the flow is 0. Beyond the box, the
            # samples at its boundary are used.
            room = 0.1 * float((most - least).max())
            low, high = least - room, most + room
        points = knots(low, high) / unit
        flat = points.reshape(-1, 3)
        still = np.zeros((*points.shape[:3], 4))
        samples = [still if grid is None else grid.at(flat).reshape(still.shape) for grid in grids]
        return low, high, np.array(samples)


def _uncached(source: Any, first: int, last: int) -> list[int]:
    """Return the frames from ``first`` to ``last`` whose cache file is missing."""
    settings = fluid_domain(source).domain_settings
    folder = Path(bpy.path.abspath(settings.cache_directory, library=source.library)) / "data"
    found = (re.match(r"fluid_data_(\d+)\.", path.name) for path in folder.glob("fluid_data_*"))
    cached, offset = {int(match.group(1)) for match in found if match is not None}, settings.cache_frame_offset
    needed = range(max(first - offset, settings.cache_frame_start), min(last - offset, settings.cache_frame_end) + 1)
    return [number + offset for number in needed if number not in cached]


def _grid(field: Any, depsgraph: Any) -> FluidGrid | None:
    """Return the flow of a field's fluid domain at the current frame, or None without fluid."""
    source = field.field.source_object
    evaluated = source.evaluated_get(depsgraph)
    modifier = fluid_domain(evaluated)
    if modifier is None:
        return None
    settings = modifier.domain_settings
    sides = np.array(settings.domain_resolution)
    velocities = _read(settings.velocity_grid)
    if len(velocities) != 3 * sides.prod() or sides.min() < 1:
        return None
    shape = *(int(n) for n in sides[::-1]), 1
    density = np.ones(shape, dtype=np.float16)
    if field.field.use_smoke_density:
        density = _densities(field, settings, shape)
    values = np.concatenate([velocities.reshape(*shape[:3], 3), density], axis=-1).transpose(2, 1, 0, 3)
    corner, cell = np.array(settings.start_point, dtype=float), np.array(settings.cell_size, dtype=float)
    size = cell * sides
    if settings.domain_type == "GAS" and settings.use_adaptive_domain:
        # Only the part with smoke has cells; the evaluated mesh is its bounding box.
        corner, size = vertex_positions(evaluated.data).min(axis=0), np.ptp(vertex_positions(source.data), axis=0)
    length = float((size * np.abs(evaluated.scale)).max()) / settings.resolution_max
    values, count = _averaged(values)
    return FluidGrid(values, corner, cell * count, np.array(evaluated.matrix_world, dtype=float), length)


def _densities(field: Any, settings: Any, shape: tuple[int, ...]) -> np.ndarray:
    densities = _read(settings.density_grid)
    if len(densities) != np.prod(shape):
        raise FieldError(
            f"The force field “{field.name}” uses Smoke Density, but the cells of the fluid's flow have no density.",
            "Switch off Smoke Density in the field, or Noise in the domain; a liquid has no smoke.",
        )
    return densities.reshape(shape)


def _read(grid: Any) -> np.ndarray:
    """Return the values of a Blender grid in half precision, the precision of Blender's disk cache."""
    flat = np.empty(len(grid), dtype=np.float32)
    if len(flat):
        grid.foreach_get(flat)
    return flat.astype(np.float16)


def _averaged(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Return averages of ``values`` over cubic blocks of cells, and the side of a block in cells."""
    count = -(-max(values.shape[:3]) // MOST_CELLS)
    if count == 1:
        return values, 1
    room = [(0, -side % count) for side in values.shape[:3]]
    a, b, c = (-(-side // count) for side in values.shape[:3])
    blocks = np.pad(values, [*room, (0, 0)], mode="edge").reshape(a, count, b, count, c, count, -1)
    return blocks.mean(axis=(1, 3, 5), dtype=np.float64).astype(np.float16), count
