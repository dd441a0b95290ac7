"""Objects of a collection -> :class:`Collider`, sampled frame by frame in world space.

An object counts with its own mesh and with what it instances (Geometry Nodes, collection instances, instancing on faces
or particles): one collider for its mesh, one for all instances of each object.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...core.errors import ColliderError
from ...core.simulation.surroundings import Collider
from .. import linked
from ..mirror import clean
from ..solid import SOLID, can_collide
from .animation_in import Moment, Moved, Samples
from .mesh_in import scaled, transform, triangles_of, unit_scale, vertex_positions
from .stack import shown


@contextmanager
def collider_samplers(obj: Any, context: Any) -> Iterator[list[ColliderSampler]]:
    """One for each object that is in the way of ``obj``; within it, those that are hidden are evaluated too."""
    objects = collider_objects(obj)
    with shown(*objects), _in_view([o for o in objects if _may_instance(o)], context.view_layer):
        yield [ColliderSampler(collider, obj, context.scene) for collider in objects]


def collider_objects(obj: Any) -> list[Any]:
    """The objects that are in the way of ``obj``, by name; ColliderError when its collection holds none.

    Left out are the body itself and its bake. Of other bodies that are hidden by their bake, that is in the way.
    """
    collection = obj.sinew.collisions.collection
    if collection is None:
        return []
    own = _own(obj)
    solid = (_seen(o) for o in collection.all_objects if can_collide(o))
    objects = {o for o in solid if o is not None and o not in own}
    if not objects:
        raise ColliderError(
            f"The collection “{collection.name}” holds nothing to collide with.",
            "Put a mesh into it besides the body itself, or clear Colliders under Collisions.",
        )
    return sorted(objects, key=lambda o: o.name)


def _own(body: Any) -> tuple[Any, Any]:
    return body, body.sinew.bake.result


def has_own_mesh(collider: Any) -> bool:
    """Whether a collider is solid itself, beside what it instances."""
    return collider.type in SOLID and (collider.instance_type == "NONE" or collider.show_instancer_for_viewport)


def instances_of(collider: Any, left_out: Collection[Any], depsgraph: Any) -> Iterator[tuple[Any, Any]]:
    """What a collider in view instances: evaluated objects and their matrices to world space, each for a moment."""
    for instance in depsgraph.object_instances if _may_instance(collider) else ():
        if instance.is_instance and instance.parent is not None and instance.parent.original == collider:
            source = instance.object
            if source.type in SOLID and source.original not in left_out:
                yield source, instance.matrix_world


def distance_from(collider: Any, body: Any) -> float:
    """How far from a collider a body is kept, in Blender's units."""
    own = collider.sinew.collider
    return own.thickness if own.use_own else body.sinew.collisions.thickness


def _seen(obj: Any) -> Any | None:
    """The object, or the one that its bake has put in its place; None where the artist has taken that away."""
    record = obj.sinew.bake
    if not obj.sinew.enabled or not record.hides_original:
        return obj
    return record.result if record.result is not None and record.result.users_scene else None


def _may_instance(obj: Any) -> bool:
    return obj.instance_type != "NONE" or any(m.type in {"NODES", "PARTICLE_SYSTEM"} for m in obj.modifiers)


@contextmanager
def _in_view(objects: list[Any], view_layer: Any) -> Iterator[None]:
    """Within it, none of them is hidden by its eye in the Outliner: Blender lists no instances of what is."""
    hidden = [o for o in objects if linked.holds(view_layer.objects, o) and o.hide_get(view_layer=view_layer)]
    try:
        for obj in hidden:
            obj.hide_set(False, view_layer=view_layer)
        yield
    finally:
        for obj in hidden:
            with suppress(ReferenceError):  # deleted meanwhile
                obj.hide_set(True, view_layer=view_layer)


@dataclass
class _Piece:
    """Meshes at one frame: their vertices in world space (k,3), their triangles and their number of corners."""

    positions: list[np.ndarray] = field(default_factory=list)
    triangles: list[np.ndarray] = field(default_factory=list)
    corners: int = 0

    def add(self, mesh: Any, matrix: np.ndarray) -> None:
        before = sum(map(len, self.positions))
        self.positions.append(transform(matrix, vertex_positions(mesh)))
        self.triangles.append(triangles_of(mesh, np.linalg.det(matrix[:3, :3]) < 0.0) + before)
        self.corners += len(mesh.loops)


class _Gathered:
    """One collider in the making."""

    def __init__(self, name: str, piece: _Piece) -> None:
        self._name, self._corners = name, piece.corners
        self._triangles = np.concatenate(piece.triangles)
        self._first = self._last = np.concatenate(piece.positions)
        self._samples = Samples([self._first])

    def add(self, piece: _Piece | None, frame: float, between: bool) -> None:
        """The next frame, or moment between frames; ColliderError where it has another topology."""
        positions = np.concatenate(piece.positions) if piece is not None else np.empty((0, 3))
        corners = piece.corners if piece is not None else 0
        if (len(positions), corners) != (len(self._first), self._corners):
            raise ColliderError(
                f"The collider “{self._name}” changes its mesh: {len(self._first)} vertices at first, and "
                f"{len(positions)} at frame {frame:g}.",
                "Remove the modifier that does so from it, or apply that.",
            )
        # A collider that stands still is kept once, however long the bake is.
        self._last = self._last if np.array_equal(positions, self._last) else positions
        (self._samples.between if between else self._samples.at_frames).append(self._last)

    def collider(self, friction: float, thickness: float) -> Collider:
        samples = self._samples
        moved = any(positions is not self._first for positions in (*samples.at_frames, *samples.between))
        positions = samples.track() if moved else self._first[None]
        return Collider(self._name, self._triangles, positions, friction, thickness)


class ColliderSampler:
    """One object of the collection: its evaluated mesh and its instances at each frame."""

    def __init__(self, collider: Any, body: Any, scene: Any) -> None:
        surface = collider.sinew.collider
        self._collider, self._own = collider, _own(body)
        friction = surface.friction if surface.use_own else body.sinew.collisions.collider_friction
        self._friction = clean(friction)
        self._thickness = clean(distance_from(collider, body)) * unit_scale(scene)
        self._gathered: dict[str, _Gathered] | None = None

    def take(self, moment: Moment) -> None:
        """One frame."""
        if self._gathered is not None:
            self._add(moment, between=False)
            return
        pieces = self._pieces(moment)
        if not pieces:
            raise ColliderError(
                f"The collider “{self._collider.name}” has no faces at frame {moment.frame}.",
                "Give it faces, or take it out.",
            )
        self._gathered = {key: _Gathered(key, piece) for key, piece in pieces.items()}

    def follows(self, moved: Moved) -> bool:
        """Whether it moves; of one that instances, what it instances may."""
        if _may_instance(self._collider):
            return bool(moved.places or moved.shapes)
        return self._collider.session_uid in moved.places | moved.shapes

    def take_between(self, moment: Moment) -> None:
        """One moment between frames."""
        self._add(moment, between=True)

    def _add(self, moment: Moment, between: bool) -> None:
        pieces = self._pieces(moment)
        late = pieces.keys() - self._gathered.keys()
        if late:
            raise ColliderError(
                f"The collider “{sorted(late)[0]}” is there from frame {moment.frame:g} only.",
                "Let it be there from the first frame, out of reach of the body.",
            )
        for key, gathered in self._gathered.items():
            gathered.add(pieces.get(key), moment.frame, between)

    def _pieces(self, moment: Moment) -> dict[str, _Piece]:
        pieces: dict[str, _Piece] = {}
        depsgraph = moment.context.evaluated_depsgraph_get()
        self._take_own_mesh(pieces, depsgraph, moment)
        for source, matrix in instances_of(self._collider, self._own, depsgraph):
            # Geometry Nodes give what is no object its instancer's name.
            _add_mesh(pieces, f"{self._collider.name} > {source.name}", source, matrix, moment)
        return pieces

    def _take_own_mesh(self, pieces: dict[str, _Piece], depsgraph: Any, moment: Moment) -> None:
        collider = self._collider
        evaluated = collider.evaluated_get(depsgraph)
        if not evaluated.is_evaluated:
            raise ColliderError(
                f"The collider “{collider.name}” is not part of the view layer.",
                "Enable its collection in the Outliner.",
            )
        if has_own_mesh(collider):
            _add_mesh(pieces, collider.name, evaluated, evaluated.matrix_world, moment)

    def colliders(self) -> list[Collider]:
        """What was gathered."""
        gathered = self._gathered or {}
        return [gathered[key].collider(self._friction, self._thickness) for key in sorted(gathered)]


def _add_mesh(pieces: dict[str, _Piece], key: str, evaluated: Any, matrix: Any, moment: Moment) -> None:
    mesh = evaluated.to_mesh()
    try:
        if mesh is not None and len(mesh.polygons) > 0:
            pieces.setdefault(key, _Piece()).add(mesh, scaled(matrix, moment.context.scene))
    finally:
        evaluated.to_mesh_clear()
