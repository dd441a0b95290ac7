"""Objects with a Collision modifier -> :class:`Absorber`, sampled frame by frame: they take from the force fields with
Absorption that are behind them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core.errors import FieldError
from ...core.simulation.absorber import Absorber
from ..field_weights import is_enabled
from ..mirror import clean
from ..solid import shows_collection
from .animation_in import Moment
from .colliders_in import instances_of
from .mesh_in import scaled, transform, triangles_of, vertex_positions


def absorber_samplers(body: Any, context: Any) -> list[AbsorberSampler]:
    """One for each object of the view layer that can absorb fields on their way to a body: all that collide but the
    body and its bake. One, too, for each such object that an instance of a collection shows.
    """
    own, seen = (body, body.sinew.bake.result), context.view_layer.objects
    samplers = [AbsorberSampler(obj) for obj in seen if obj not in own and _collision(obj) is not None]
    for instancer in (obj for obj in seen if shows_collection(obj)):
        instanced = (obj for obj in _within(instancer) if obj not in own and _collision(obj) is not None)
        samplers += [AbsorberSampler(obj, instancer) for obj in instanced]
    return sorted(samplers, key=lambda sampler: sampler.name)


def _within(instancer: Any) -> set[Any]:
    """All objects of the collection that an object shows, and of those that they show."""
    objects = set(instancer.instance_collection.all_objects)
    return objects.union(*(_within(obj) for obj in objects if shows_collection(obj)))


def _collision(obj: Any) -> Any:
    """Its Collision modifier, or None."""
    return next((m for m in obj.modifiers if m.type == "COLLISION"), None) if obj.type == "MESH" else None


class AbsorberSampler:
    """One object, or all its instances by one object: its evaluated mesh and its absorption at each frame. Blender's
    particles feel an instance where the object itself is; here it absorbs where it is seen.
    """

    def __init__(self, obj: Any, instancer: Any | None = None) -> None:
        self.object, self._instancer = obj, instancer
        self.name = obj.name if instancer is None else f"{instancer.name} > {obj.name}"
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
        acts = modifier is not None and modifier.show_viewport and settings.use and not self.object.hide_viewport
        shown = self._instancer or self.object
        return clean(settings.absorption) if acts and is_enabled(shown, moment.context.view_layer) else 0.0

    def _mesh_now(self, moment: Moment) -> np.ndarray | None:
        """Positions (k,3) m; None without faces."""
        places, faces, before = [], [], 0
        for evaluated, matrix in self._parts(moment.context.evaluated_depsgraph_get()):
            mesh = evaluated.to_mesh()
            try:
                if mesh is not None and len(mesh.polygons) > 0:
                    places.append(transform(scaled(matrix, moment.context.scene), vertex_positions(mesh)))
                    faces.append(triangles_of(mesh, mirrored=False) + before)
                    before += len(places[-1])
            finally:
                evaluated.to_mesh_clear()
        if not places:
            return None
        positions, triangles = np.concatenate(places), np.concatenate(faces)
        if len(self._triangles) == 0:
            self._triangles = triangles
        elif not np.array_equal(triangles, self._triangles):
            raise FieldError(
                f"“{self.object.name}”, which absorbs force fields, changes its mesh at frame {moment.frame}.",
                "Remove the modifier that does so from it, or set its Field Absorption (Physics > Collision) to 0.",
            )
        return positions

    def _parts(self, depsgraph: Any) -> Iterator[tuple[Any, Any]]:
        """Evaluated objects and their matrices to world space, each for a moment."""
        if self._instancer is None:
            evaluated = self.object.evaluated_get(depsgraph)
            yield evaluated, evaluated.matrix_world
            return
        for source, matrix in instances_of(self._instancer, (), depsgraph):
            if source.original == self.object:
                yield source, matrix

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
        return Absorber(self.name, self._triangles, np.array(placed), np.array(self._absorption))
