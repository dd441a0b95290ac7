"""Sampling of the colliders of a body in world space.

An object's own mesh becomes one :class:`Collider`. The object may also instance other objects: by Geometry Nodes,
collection instances, instancing on faces, or particles. Each of these objects becomes a further collider, which merges
all instances of the object.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...core.foundation.errors import ColliderError
from ...core.foundation.schema.tracks import interleave
from ...core.jobs.job.environment import Collider
from ..objects import linked
from ..objects.collider_objects import SOLID, can_collide
from ..objects.contact_groups import contact_partners, group_of, tie_partners
from ..objects.linked import out_of_view
from ..objects.modifier_stack import shown
from ..properties.mirror import clean
from .animation_in import EvaluatedFrame, MovedObjects, Track
from .mesh_in import changed_mesh, columns_of, mesh_of, scaled, transform, triangles_of, unit_scale, vertex_positions


@contextmanager
def collider_samplers(obj: Any, context: Any, seen: Seen, alone: bool = False) -> Iterator[list[ColliderSampler]]:
    """Yield one sampler per collider of the body ``obj``.

    Hidden colliders are enabled within the context. Bodies with the same colliders share samplers through the cache
    ``seen``. With ``alone``, the other bodies with which ``obj`` collides become colliders too.
    """
    objects = collider_objects(obj, context, alone)
    with shown(*objects), _in_view([o for o in objects if _may_instance(o)], context.view_layer):
        yield [seen.setdefault(s.seen_as, s) for s in (ColliderSampler(each, obj) for each in objects)]


def collider_objects(obj: Any, context: Any, alone: bool = False) -> list[Any]:
    """Return the collider objects of the body ``obj``, sorted by name.

    The body itself and the result of the body's bake are excluded. Contact partners, the other bodies with which
    ``obj`` collides, are included only if ``obj`` is simulated ``alone``. If a bake hides an object, the result of the
    bake replaces the object. Raises ColliderError if the body's collection of colliders contains no usable mesh.
    """
    collection, tied = obj.sinew.collisions.collection, _tied_colliders(obj, context, alone)
    if collection is None and not alone:
        return tied
    met, own = contact_partners(obj, context), _own(obj)
    listed = [] if collection is None else [o for o in collection.all_objects if can_collide(o)]
    solid = (seen_of(o) for o in ({*listed, *met} if alone else set(listed).difference(met)))
    objects = {o for o in solid if o is not None and o not in own} | set(tied)
    if collection is not None and not objects and not any(o in met for o in listed):
        raise ColliderError(
            f"The collection “{collection.name}” has no mesh to collide with.",
            "Add to the collection a mesh other than the body, or clear Colliders under Collisions.",
        )
    return sorted(objects, key=lambda o: o.name)


def _tied_colliders(obj: Any, context: Any, alone: bool) -> list[Any]:
    """Return the objects to which a body is tied and that are not simulated with it, sorted by name."""
    fellows = [] if alone else group_of(obj, context)
    found = (seen_of(each) for each in tie_partners(obj) if each not in fellows and can_collide(each))
    return sorted((each for each in found if each is not None), key=lambda o: o.name)


def _own(body: Any) -> tuple[Any, Any]:
    return body, body.sinew.bake.result


def has_own_mesh(collider: Any) -> bool:
    """Return True if a collider object is itself visible as a mesh."""
    return collider.type in SOLID and (collider.instance_type == "NONE" or collider.show_instancer_for_viewport)


def instances_of(collider: Any, left_out: Collection[Any], depsgraph: Any) -> Iterator[tuple[Any, np.ndarray]]:
    """Yield the instances that a visible collider makes.

    An instance is a pair: the evaluated object, and the instance's matrix (4,4) to world space. The evaluated object is
    valid until the next pair. Instances of the objects ``left_out`` are skipped.
    """
    if not _may_instance(collider):
        return
    instances = depsgraph.object_instances
    # Read first: if the iteration starts with an instance, Blender frees its matrix before it yields the instance.
    matrices = columns_of(instances, "matrix_world", 16, np.float32).reshape(-1, 4, 4).transpose(0, 2, 1)
    for instance, matrix in zip(instances, matrices):
        if instance.is_instance and instance.parent is not None and instance.parent.original == collider:
            source = instance.object
            if source.type in SOLID and source.original not in left_out:
                yield source, matrix


def distance_from(collider: Any, body: Any) -> float:
    """Return the contact distance between a collider and a body, in Blender units.

    The collider's own distance has priority over the body's distance.
    """
    own = collider.sinew.collider
    return own.thickness if own.use_own else body.sinew.collisions.thickness


def seen_of(obj: Any) -> Any | None:
    """Return the object that represents ``obj`` as a collider.

    If the bake of ``obj`` hides ``obj``, the duplicate that displays the bake is returned. Otherwise ``obj`` is
    returned. The result is None if the duplicate was deleted.
    """
    record = obj.sinew.bake
    if not obj.sinew.enabled or not record.hides_original:
        return obj
    return record.result if record.result is not None and record.result.users_scene else None


def _may_instance(obj: Any) -> bool:
    return obj.instance_type != "NONE" or any(m.type in {"NODES", "PARTICLE_SYSTEM"} for m in obj.modifiers)


@contextmanager
def _in_view(objects: list[Any], view_layer: Any) -> Iterator[None]:
    """Unhide ``objects`` in the Outliner within the context, since Blender lists no instances of hidden objects."""
    hidden = [o for o in objects if linked.is_in(view_layer, o) and o.hide_get(view_layer=view_layer)]
    try:
        for obj in hidden:
            obj.hide_set(False, view_layer=view_layer)
        yield
    finally:
        for obj in hidden:
            with suppress(ReferenceError):  # deleted meanwhile
                obj.hide_set(True, view_layer=view_layer)


class Piece(NamedTuple):
    """Mesh at a frame, merged from one or several meshes.

    ``positions`` (k,3), m: vertex positions in world space.
    ``triangles`` (t,3): vertex indices.
    ``corners`` (c,1): vertex index of each face corner. Meshes with equal ``corners`` count as meshes of equal
        topology.
    """

    positions: np.ndarray
    triangles: np.ndarray
    corners: np.ndarray

    @classmethod
    def of(cls, mesh: Any, matrix: np.ndarray) -> Piece:
        """Return the piece of a single mesh.

        ``matrix`` (4,4): matrix from mesh coordinates to world space in metres.
        """
        triangles = triangles_of(mesh, np.linalg.det(matrix[:3, :3]) < 0.0)
        corners = columns_of(mesh.loops, "vertex_index", 1, np.int32)
        return cls(transform(matrix, vertex_positions(mesh)), triangles, corners)

    @classmethod
    def merged(cls, pieces: Sequence[Piece]) -> Piece:
        """Return several pieces merged into one."""
        positions, triangles, corners = zip(*pieces, strict=True)
        before = np.cumsum([0, *map(len, positions)]).tolist()
        parts = [[array + k for array, k in zip(arrays, before)] for arrays in (triangles, corners)]
        return cls(*map(np.concatenate, (positions, *parts)))


NOTHING = Piece(np.empty((0, 3)), np.empty((0, 3), dtype=np.int32), np.empty((0, 1), dtype=np.int32))


def pieces_at(moment: EvaluatedFrame, parts: Iterable[tuple[str, Any, Any]]) -> dict[str, Piece]:
    """Return one merged mesh per name.

    Objects of the same name are merged. Objects without faces are skipped.

    ``parts``: names, evaluated objects, and the objects' matrices to world space in Blender units.
    """
    found: dict[str, list[Piece]] = {}
    for name, evaluated, matrix in parts:
        with mesh_of(evaluated) as mesh:
            if mesh is not None and len(mesh.polygons) > 0:
                found.setdefault(name, []).append(Piece.of(mesh, scaled(matrix, moment.context.scene)))
    return {name: Piece.merged(pieces) for name, pieces in found.items()}


class ColliderSampler:
    """Sampler of the evaluated meshes of a collider object and of its instances."""

    def __init__(self, collider: Any, body: Any) -> None:
        self._collider = collider
        self._left_out = _own(body) if _may_instance(collider) else ()
        self._first: dict[str, Piece] = {}
        self._last: dict[str, np.ndarray] = {}
        self._track = Track(self._positions_at, self._moves)
        self.tracks = (self._track,)

    @property
    def seen_as(self) -> tuple[Any, ...]:
        """Key of the sampler. Bodies with equal keys can share the sampler."""
        return self._collider, *self._left_out

    def _moves(self, moved: MovedObjects) -> bool:
        """Return True if the collider or, for an instancer, any object in the scene moves."""
        if _may_instance(self._collider):
            return bool(moved.transforms or moved.shapes)
        return self._collider.session_uid in moved.transforms | moved.shapes

    def _positions_at(self, moment: EvaluatedFrame) -> dict[str, np.ndarray]:
        """Return the vertex positions of the collider's meshes by collider name, (k,3) m."""
        pieces = pieces_at(moment, self._parts(moment.context.evaluated_depsgraph_get()))
        self._first = self._first or pieces
        if not self._first:
            raise _refusal(
                self._collider.name,
                f"has no faces at frame {moment.frame}",
                "Add faces, or remove it from the colliders.",
            )
        if late := pieces.keys() - self._first.keys():
            when = f"does not exist before frame {moment.frame:g}"
            raise _refusal(min(late), when, "Create it at the first frame, far from the body, and move it in later.")
        for name, first in self._first.items():
            positions, _triangles, corners = pieces.get(name, NOTHING)
            if (len(positions), len(corners)) != (len(first.positions), len(first.corners)):
                raise _refusal(name, *changed_mesh(len(first.positions), len(positions), moment.frame))
            # The positions of a still collider are stored once.
            if not np.array_equal(positions, self._last.get(name)):
                self._last[name] = positions
        return dict(self._last)

    def _parts(self, depsgraph: Any) -> Iterator[tuple[str, Any, Any]]:
        collider = self._collider
        evaluated = collider.evaluated_get(depsgraph)
        if not evaluated.is_evaluated:
            raise out_of_view(f"The collider “{collider.name}”", ColliderError)
        if has_own_mesh(collider):
            yield collider.name, evaluated, evaluated.matrix_world
        for source, matrix in instances_of(collider, self._left_out, depsgraph):
            # Geometry instances of Geometry Nodes, which are not objects, have their instancer's name.
            yield f"{collider.name} > {source.name}", source, matrix

    def colliders(self, body: Any, scene: Any) -> list[Collider]:
        """Return the sampled colliders, with the body's friction and contact distance.

        A collider's own friction and contact distance have priority.
        """
        own = self._collider.sinew.collider
        friction = clean(own.friction if own.use_own else body.sinew.collisions.collider_friction)
        thickness = clean(distance_from(self._collider, body)) * unit_scale(scene)
        return [
            Collider(name, self._first[name].triangles, positions, friction=friction, thickness=thickness)
            for name, positions in self._positions.items()
        ]

    @cached_property
    def _positions(self) -> dict[str, np.ndarray]:
        """Sampled positions by collider name, (samples,k,3) m."""
        return {name: self._positions_of(name) for name in sorted(self._first)}

    def _positions_of(self, name: str) -> np.ndarray:
        whole, between = (
            [found[name] for found in gathered] for gathered in (self._track.at_frames, self._track.between)
        )
        if all(positions is whole[0] for positions in (*whole, *between)):
            whole, between = whole[:1], []
        return interleave(np.array(whole), between)


Seen = dict[tuple[Any, ...], ColliderSampler]
"""Cache of samplers by :attr:`ColliderSampler.seen_as`. Bodies with equal keys for a collider share the sampler."""


def _refusal(name: str, problem: str, remedy: str) -> ColliderError:
    return ColliderError(f"The collider “{name}” {problem}.", remedy)
