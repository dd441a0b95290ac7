"""Vertices picked one by one into groups of pins, springs and dynamic nodes, and found again after an edit of the mesh.

Of each group that holds nothing but full weights the rest positions are kept. Edits that change the number of vertices
blur such a group (a subdivide gives the new neighbours parts of the weight) or lose it (a remesh): then only full
weights count, and a picked place that has lost its vertex takes the nearest one. That is done before a job is made and
before more is picked, for a group with parts of weights is taken for a painted one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.foundation.errors import SpringError
from ..blend_data.item_lists import active_item
from ..objects import linked
from .mesh_in import vectors_of, vertex_positions
from .weights_in import group_weights

TARGETS = (
    ("PINS", "Pins", "Vertices that are held", "PINNED", 0),
    ("SPRING", "Active Spring", "Vertices that the active spring pulls", "FORCE_HARMONIC", 1),
    ("NODES", "Dynamic Nodes", "Vertices that carry the body's motion, for solvers that take them", "HANDLE_FREE", 2),
)
OWN_GROUPS = {"PINS": ("pin_group", "Pins"), "NODES": ("node_group", "Nodes")}
"""Property of the body's settings with the name of a target's vertex group, and the name that one is made with."""
FULL = 0.999
"""A weight that counts as 1, for all that numbers of 32 bits and eight do to it."""
STAYED = 1e-5
"""Part of the mesh's size within which a vertex is still at its place."""


def group_of(obj: Any, target: str, make: bool = False) -> Any | None:
    """The vertex group of the body's PINS or NODES, or of its active SPRING, made where there is none and that is asked
    for. SpringError without a spring.
    """
    settings = obj.sinew
    if target in OWN_GROUPS:
        owner, (name, wanted) = settings, OWN_GROUPS[target]
    elif (owner := active_item(settings, "spring")) is not None:
        name, wanted = "vertex_group", owner.name
    else:
        raise SpringError("There is no spring to pick vertices for.", "Add one under Springs.")
    group = obj.vertex_groups.get(getattr(owner, name))
    if group is None and make:
        group = obj.vertex_groups.new(name=wanted)
        setattr(owner, name, group.name)
    return group


def holds(obj: Any, group: Any | None, vertex: int) -> bool:
    """Return True if a vertex has a weight in a group."""
    elements = obj.data.vertices[vertex].groups if group is not None else ()
    return any(element.group == group.index and element.weight > 0.0 for element in elements)


def change(obj: Any, group: Any, vertices: list[int], add: bool) -> None:
    """Put vertices into a group with full weight, or take them out, and note the picks; those from before an edit of
    the mesh are put right first, which ``pick_warning`` says. Not in Edit Mode.
    """
    words = mend(obj)
    if add:
        group.add(vertices, 1.0, "REPLACE")
    else:
        group.remove(vertices)
    note(obj, group.name)
    obj.sinew.pick_warning = words


def refill(obj: Any, group: Any, vertices: list[int]) -> None:
    """Make these vertices all that a group holds, and note the picks. Not in Edit Mode."""
    group.remove(list(range(len(obj.data.vertices))))
    note(obj, group.name)  # else an edit of the mesh would bring the old ones back
    change(obj, group, vertices, add=True)


def note(obj: Any, name: str) -> None:
    """Remember the rest positions of a group's vertices; not of one with other than full weights, which is painted."""
    weights = group_weights(obj, obj.data, [name])[:, 0]
    picks = obj.sinew.picks
    index = next((k for k, found in enumerate(picks) if found.group == name), -1)
    if not ((weights == 0.0) | (weights >= FULL)).all() or not weights.any():
        if index >= 0:
            picks.remove(index)
        return
    record = picks[index] if index >= 0 else picks.add()
    places = vertex_positions(obj.data)[weights > 0.0]
    record.group, record.vertices = name, len(weights)
    record.rest_positions.clear()
    for _ in places:
        record.rest_positions.add()
    record.rest_positions.foreach_set("rest", places.astype(np.float32).ravel())


def mend(obj: Any) -> str:
    """Put picked groups right after an edit that changed the number of vertices. What was done, in words, or ""; it
    is kept in ``pick_warning`` for the panel.
    """
    if linked.has_linked_mesh(obj):
        return ""  # its groups are mended in its own file
    picks, said = obj.sinew.picks, []
    for index in reversed(range(len(picks))):
        record = picks[index]
        group = obj.vertex_groups.get(record.group) or _renamed(obj, record)
        if group is None:
            picks.remove(index)
            continue
        record.group = group.name
        if record.vertices == len(obj.data.vertices):
            note(obj, group.name)  # Blender's own buttons, or an undo in Edit Mode, may have changed the group alone
        elif len(obj.data.vertices):
            said.append(_mended(obj, group, record))
    words = " ".join(reversed(said)).strip()
    if words:
        obj.sinew.pick_warning = words
    return words


def _renamed(obj: Any, record: Any) -> Any | None:
    """The group that a record means, where none has its name any more: Blender tells nobody of a new name, so it is the
    one whose full weights lie just where the picks were.
    """
    known = {other.group for other in obj.sinew.picks}
    names = [group.name for group in obj.vertex_groups if group.name not in known]
    weights, positions = group_weights(obj, obj.data, names), vertex_positions(obj.data)
    noted = {tuple(place) for place in vectors_of(record.rest_positions, "rest")}
    for name, column in zip(names, weights.T, strict=True):
        if {tuple(place) for place in positions[column >= FULL]} == noted:
            return obj.vertex_groups[name]
    return None


def _mended(obj: Any, group: Any, record: Any) -> str:
    from scipy.spatial import cKDTree  # which Blender's start does not wait for

    places, positions = vectors_of(record.rest_positions, "rest"), vertex_positions(obj.data)
    weights = group_weights(obj, obj.data, [group.name])[:, 0]
    full, parts = np.flatnonzero(weights >= FULL), np.flatnonzero((weights > 0.0) & (weights < FULL))
    lost = _lost(places, positions[full], STAYED * float(np.ptp(positions, axis=0).max()))
    if len(parts):
        group.remove(parts.tolist())
    if len(lost):
        found = np.unique(cKDTree(positions).query(places[lost])[1])
        group.add(found.tolist(), 1.0, "REPLACE")
    name = group.name
    note(obj, name)
    words = []
    if len(lost):
        words.append(f"{len(lost)} of {len(places)} picked vertices were lost and taken again from the nearest ones")
    if len(parts):
        words.append(f"{len(parts)} new vertices that had a part of the weight are left out")
    return f"“{name}” after the edit of the mesh: {', '.join(words)}." if words else ""


def _lost(places: np.ndarray, full: np.ndarray, near: float) -> np.ndarray:
    """Which of the places (p,3) have lost their vertex, where those at ``full`` (f,3) have kept their weight.

    Each of these that is not ``near`` a place was moved, and stands for one of the places without a vertex. So nothing
    is lost where they suffice; else it is what none of them is nearest to.
    """
    from scipy.spatial import cKDTree

    if not len(full):
        return np.arange(len(places))
    left = np.flatnonzero(cKDTree(full).query(places)[0] > near)
    moved = full[cKDTree(places).query(full)[0] > near]
    if len(moved) >= len(left):
        return left[:0]
    return np.delete(left, np.unique(cKDTree(places[left]).query(moved)[1])) if len(moved) else left
