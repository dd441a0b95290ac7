"""Objects of a collection -> :class:`Collider`, sampled frame by frame in world space."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...core.errors import ColliderError
from ...core.simulation.surroundings import Collider
from ..mirror import clean
from .animation_in import Moment
from .mesh_in import object_to_world, transform, triangles_of, unit_scale, vertex_positions
from .stack import shown

SOLID = frozenset({"MESH", "CURVE", "SURFACE", "META", "FONT"})
"""Kinds of objects that Blender makes meshes of."""


@contextmanager
def collider_samplers(obj: Any, context: Any) -> Iterator[list[ColliderSampler]]:
    """One for each object that is in the way of ``obj``; within it, those that are hidden are evaluated too."""
    objects = collider_objects(obj)
    with shown(*objects):
        yield [ColliderSampler(collider, obj, context.scene) for collider in objects]


def collider_objects(obj: Any) -> list[Any]:
    """The objects that are in the way of ``obj``, by name; ColliderError when its collection holds none.

    Left out are the body itself, its bake, and other bodies that are hidden since their bake stands in for them.
    """
    collection = obj.sinew.collisions.collection
    if collection is None:
        return []
    own = (obj, obj.sinew.bake.result)
    objects = [o for o in collection.all_objects if o.type in SOLID and o not in own and not _is_replaced(o)]
    if not objects:
        raise ColliderError(
            f"The collection “{collection.name}” holds nothing to collide with.",
            "Put a mesh into it besides the body itself, or clear Colliders under Collisions.",
        )
    return sorted(objects, key=lambda o: o.name)


def _is_replaced(obj: Any) -> bool:
    return obj.sinew.enabled and obj.sinew.bake.hides_original


class ColliderSampler:
    """One collider: its evaluated mesh at each frame."""

    def __init__(self, collider: Any, body: Any, scene: Any) -> None:
        collisions = body.sinew.collisions
        self._collider = collider
        self._friction = clean(collisions.collider_friction)
        self._thickness = clean(collisions.thickness) * unit_scale(scene)
        self._triangles = np.empty((0, 3), dtype=np.int32)
        self._corners = 0
        self._positions: list[np.ndarray] = []

    def take(self, moment: Moment) -> None:
        """One frame."""
        name = self._collider.name
        evaluated = self._collider.evaluated_get(moment.context.evaluated_depsgraph_get())
        if not evaluated.is_evaluated:
            raise ColliderError(
                f"The collider “{name}” is not part of the view layer.", "Enable its collection in the Outliner."
            )
        mesh = evaluated.to_mesh()
        try:
            if mesh is None or len(mesh.polygons) == 0:
                raise ColliderError(
                    f"The collider “{name}” has no faces at frame {moment.frame}.", "Give it faces, or take it out."
                )
            matrix = object_to_world(evaluated, moment.context.scene)
            positions = transform(matrix, vertex_positions(mesh))
            if not self._positions:
                self._triangles = triangles_of(mesh, np.linalg.det(matrix[:3, :3]) < 0.0)
                self._corners = len(mesh.loops)
            elif (len(positions), len(mesh.loops)) != (len(self._positions[0]), self._corners):
                raise ColliderError(
                    f"The collider “{name}” changes its mesh: {len(self._positions[0])} vertices at first, and "
                    f"{len(positions)} at frame {moment.frame}.",
                    "Remove the modifier that does so from it, or apply that.",
                )
        finally:
            evaluated.to_mesh_clear()
        # A collider that stands still is kept once, however long the bake is.
        still = bool(self._positions) and np.array_equal(positions, self._positions[-1])
        self._positions.append(self._positions[-1] if still else positions)

    def collider(self) -> Collider:
        """What was gathered."""
        moved = any(positions is not self._positions[0] for positions in self._positions)
        positions = np.array(self._positions if moved else self._positions[:1])
        return Collider(self._collider.name, self._triangles, positions, self._friction, self._thickness)
