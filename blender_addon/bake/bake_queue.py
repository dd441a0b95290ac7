"""Which bodies of a scene are baked in one run, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..objects.contact_groups import groups_of_all
from ..objects.linked import own_bodies
from . import baking


def bodies_of(scene: Any) -> list[Any]:
    """The bodies of a scene, in the order in which they can be baked."""
    return in_order(own_bodies(scene))


def in_order(bodies: Iterable[Any]) -> list[Any]:
    """Bodies that others run into, or hang on, come before those; else, and around a circle, the order stays."""
    return _ordered(list(bodies), _met_by)


def groups_in_order(bodies: Iterable[Any], context: Any) -> list[list[Any]]:
    """Return the contact groups of bodies, ordered as by :func:`in_order`: colliders of a group come before it."""
    groups = groups_of_all(bodies, context)

    def before(group: list[Any]) -> list[list[Any]]:
        met = [other for obj in group for other in _met_by(obj)]
        return [each for each in groups if each is not group and any(other in each for other in met)]

    return _ordered(groups, before)


def _ordered(left: list[Any], before: Callable[[Any], list[Any]]) -> list[Any]:
    left, ordered = list(left), []
    while left:
        free = (each for each in left if not any(other in left for other in before(each)))
        ordered.append(next(free, left[0]))
        left.remove(ordered[-1])
    return ordered


def _met_by(obj: Any) -> list[Any]:
    """The other objects whose shape a body goes by: its colliders, and the one that it is parented to a vertex of."""
    collection = obj.sinew.collisions.collection
    met = list(collection.all_objects) if collection is not None else []
    met += [obj.parent] if obj.parent_type in ("VERTEX", "VERTEX_3") else []
    return [other for other in met if other is not None and other != obj]


def unfinished(bodies: Iterable[Any]) -> list[Any]:
    """Bodies whose bake is not complete, or not what the result shows."""
    return [obj for obj in bodies if obj.sinew.bake.status != "DONE" or baking.astray_words(obj)]
