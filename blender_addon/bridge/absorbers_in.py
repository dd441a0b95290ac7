"""Objects with a Collision modifier -> :class:`Absorber`, sampled frame by frame: they take from the force fields with
Absorption that are behind them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import FieldError
from ...core.simulation.absorber import Absorber
from ..field_weights import is_enabled
from ..mirror import clean
from .animation_in import Moment
from .mesh_in import scaled, transform, triangles_of, vertex_positions


def absorber_samplers(body: Any, context: Any) -> list[AbsorberSampler]:
    """One for each object of the view layer that can absorb fields on their way to a body: all that collide but the
    body and its bake.
    """
    own = body, body.sinew.bake.result
    colliding = (o for o in context.view_layer.objects if o not in own and _collision(o) is not None)
    return [AbsorberSampler(obj) for obj in sorted(colliding, key=lambda o: o.name)]


def _collision(obj: Any) -> Any:
    """Its Collision modifier, or None."""
    return next((m for m in obj.modifiers if m.type == "COLLISION"), None) if obj.type == "MESH" else None


class AbsorberSampler:
    """One object: its evaluated mesh and its absorption at each frame."""

    def __init__(self, obj: Any) -> None:
        self.object = obj
        self._absorption: list[float] = []
        self._positions: list[np.ndarray | None] = []
        self._triangles = np.empty((0, 3), dtype=np.int32)

    def take(self, moment: Moment) -> None:
        """One frame; FieldError where its mesh changes while it absorbs."""
        absorption = self._absorption_now(moment)
        positions = self._mesh_now(moment) if absorption > 0.0 else None
        self._absorption.append(0.0 if positions is None else absorption)
        self._positions.append(positions)

    def _absorption_now(self, moment: Moment) -> float:
        settings, modifier = self.object.collision, _collision(self.object)
        acts = modifier is not None and modifier.show_viewport and settings.use
        return clean(settings.absorption) if acts and is_enabled(self.object, moment.context.view_layer) else 0.0

    def _mesh_now(self, moment: Moment) -> np.ndarray | None:
        """Positions (k,3) m; None without faces."""
        evaluated = self.object.evaluated_get(moment.context.evaluated_depsgraph_get())
        mesh = evaluated.to_mesh()
        try:
            if mesh is None or len(mesh.polygons) == 0:
                return None
            positions = transform(scaled(evaluated.matrix_world, moment.context.scene), vertex_positions(mesh))
            triangles = triangles_of(mesh, mirrored=False)
        finally:
            evaluated.to_mesh_clear()
        if len(self._triangles) == 0:
            self._triangles = triangles
        elif not np.array_equal(triangles, self._triangles):
            raise FieldError(
                f"“{self.object.name}”, which absorbs force fields, changes its mesh at frame {moment.frame}.",
                "Remove the modifier that does so from it, or set its Field Absorption (Physics > Collision) to 0.",
            )
        return positions

    def acts(self) -> bool:
        """Whether it absorbed at any frame."""
        return any(self._absorption)

    def absorber(self) -> Absorber:
        """What was gathered of one that acts; where it does not, its place does not matter."""
        last = next(positions for positions in self._positions if positions is not None)
        placed = []
        for positions in self._positions:
            last = last if positions is None else positions
            placed.append(last)
        return Absorber(self.object.name, self._triangles, np.array(placed), np.array(self._absorption))
