"""Picked vertices of pins, springs and dynamic nodes, and their repair after an edit of the mesh.

Dynamic nodes are the vertices whose motion the ConJac solvers integrate in time.

A vertex group is picked, not painted, if all its weights are full. The rest positions of a picked group's vertices are
stored. An edit of the topology can give partial weights to new vertices (Subdivide) or remove the group's vertices
(Remesh). The repair keeps only full weights, and replaces each lost vertex by the vertex nearest to its stored
position. Repairs precede jobs and picking, which would otherwise treat a group with partial weights as painted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.foundation.errors import SpringError
from ..blend_data.item_lists import active_item
from ..objects import linked
from .mesh_in import vectors_of, vertex_positions
from .weights_in import check_no_attribute, group_weights

TARGETS = (
    ("PINS", "Pins", "Vertices that are held at their animated positions", "PINNED", 0),
    ("SPRING", "Active Spring", "Vertices that the active spring pulls", "FORCE_HARMONIC", 1),
    (
        "NODES",
        "Dynamic Nodes",
        "Vertices that carry the body's motion, for solvers with dynamic nodes",
        "HANDLE_FREE",
        2,
    ),
    ("ORIGIN", "Origin", "Vertices where the active material's muscle begins", "TRIA_LEFT_BAR", 3),
    ("INSERTION", "Insertion", "Vertices where the active material's muscle ends", "TRIA_RIGHT_BAR", 4),
)
OWN_GROUPS = {"PINS": ("pin_group", "Pins"), "NODES": ("node_group", "Nodes")}
"""Two names per target: the body's setting that stores the vertex group, and the name given to a new group."""
ENDS = {"ORIGIN": "origin_group", "INSERTION": "insertion_group"}
"""Setting of a muscle that stores the vertex group of each of its ends."""
FULL = 0.999
"""Smallest weight that counts as 1, since weights are stored with 32 or 8 bits."""
STAYED = 1e-5
"""Largest displacement, relative to the mesh's size, of a vertex that counts as unmoved."""


def group_of(obj: Any, target: str, make: bool = False) -> Any | None:
    """Return the vertex group of a ``target``, or None.

    The target is PINS, NODES, SPRING for the body's active spring, or ORIGIN or INSERTION for the muscle of the active
    material. With ``make``, a missing group is created. Raises SpringError for SPRING if the body has no spring, and
    SettingsError if an attribute replaces the group to create.
    """
    settings = obj.sinew
    if target in OWN_GROUPS:
        owner, (name, wanted) = settings, OWN_GROUPS[target]
    elif target in ENDS and (material := active_item(settings, "material")) is not None:
        owner, name, wanted = material.muscle, ENDS[target], f"{material.name} {target.title()}"
    elif (owner := active_item(settings, "spring")) is not None:
        name, wanted = "vertex_group", owner.name
    else:
        raise SpringError("There is no spring to pick vertices for.", "Add one under Springs.")
    group = obj.vertex_groups.get(getattr(owner, name))
    if group is None and make:
        check_no_attribute(obj, getattr(owner, name))
        group = obj.vertex_groups.new(name=wanted)
        setattr(owner, name, group.name)
    return group


def holds(obj: Any, group: Any | None, vertex: int) -> bool:
    """Return True if the vertex with index ``vertex`` has a positive weight in a group."""
    elements = obj.data.vertices[vertex].groups if group is not None else ()
    return any(element.group == group.index and element.weight > 0.0 for element in elements)


def change(obj: Any, group: Any, vertices: list[int], add: bool) -> None:
    """Add vertices to a group with full weight, or remove vertices from the group.

    The picks are recorded. Picked vertices that an edit of the mesh has lost are replaced before the change, and
    ``pick_warning`` reports the replacement. Not callable in Edit Mode.

    ``add``: True to add, False to remove.
    """
    words = mend(obj)
    if add:
        group.add(vertices, 1.0, "REPLACE")
    else:
        group.remove(vertices)
    note(obj, group.name)
    obj.sinew.pick_warning = words


def refill(obj: Any, group: Any, vertices: list[int]) -> None:
    """Replace all vertices of a group, and record the picks.

    Not callable in Edit Mode.
    """
    group.remove(list(range(len(obj.data.vertices))))
    note(obj, group.name)  # otherwise an edit of the mesh would restore the old picks
    change(obj, group, vertices, add=True)


def note(obj: Any, name: str) -> None:
    """Record the rest positions of the vertices in the group ``name``.

    An empty group, or a group with partial weights (painted), loses its record.
    """
    weights = group_weights(obj, obj.data, [name])[:, 0]
    picks = obj.sinew.picks
    index = next((k for k, found in enumerate(picks) if found.group == name), -1)
    if not ((weights == 0.0) | (weights >= FULL)).all() or not weights.any():
        if index >= 0:
            picks.remove(index)
        return
    record = picks[index] if index >= 0 else picks.add()
    rest = vertex_positions(obj.data)[weights > 0.0]
    record.group, record.vertices = name, len(weights)
    record.rest_positions.clear()
    for _ in rest:
        record.rest_positions.add()
    record.rest_positions.foreach_set("rest", rest.astype(np.float32).ravel())


def mend(obj: Any) -> str:
    """Repair the groups of picked vertices after an edit of the mesh.

    Only an edit that changes the number of vertices makes a repair necessary. Returns a message about the repair, or
    "". The message is also stored in ``pick_warning`` for the panel.
    """
    if linked.has_linked_mesh(obj):
        return ""  # repaired in its own file
    picks, said = obj.sinew.picks, []
    for index in reversed(range(len(picks))):
        record = picks[index]
        group = obj.vertex_groups.get(record.group) or _renamed(obj, record)
        if group is None:
            picks.remove(index)
            continue
        record.group = group.name
        if record.vertices == len(obj.data.vertices):
            note(obj, group.name)  # Blender's buttons, or an undo in Edit Mode, may have changed the group alone
        elif len(obj.data.vertices):
            said.append(_mended(obj, group, record))
    words = " ".join(reversed(said)).strip()
    if words:
        obj.sinew.pick_warning = words
    return words


def _renamed(obj: Any, record: Any) -> Any | None:
    """Return the vertex group that the user has renamed since the ``record``, or None.

    Blender does not report new names. The vertices with full weight in the renamed group are at the recorded positions.
    """
    known = {other.group for other in obj.sinew.picks}
    names = [group.name for group in obj.vertex_groups if group.name not in known]
    weights, positions = group_weights(obj, obj.data, names), vertex_positions(obj.data)
    noted = {tuple(vertex) for vertex in vectors_of(record.rest_positions, "rest")}
    for name, column in zip(names, weights.T, strict=True):
        if {tuple(vertex) for vertex in positions[column >= FULL]} == noted:
            return obj.vertex_groups[name]
    return None


def _mended(obj: Any, group: Any, record: Any) -> str:
    from scipy.spatial import cKDTree  # deferred, since it would delay Blender's start

    rest, positions = vectors_of(record.rest_positions, "rest"), vertex_positions(obj.data)
    weights = group_weights(obj, obj.data, [group.name])[:, 0]
    full, parts = np.flatnonzero(weights >= FULL), np.flatnonzero((weights > 0.0) & (weights < FULL))
    lost = _lost(rest, positions[full], STAYED * float(np.ptp(positions, axis=0).max()))
    if len(parts):
        group.remove(parts.tolist())
    if len(lost):
        found = np.unique(cKDTree(positions).query(rest[lost])[1])
        group.add(found.tolist(), 1.0, "REPLACE")
    name = group.name
    note(obj, name)
    words = []
    if len(lost):
        words.append(f"{len(lost)} of {len(rest)} picked vertices were lost and replaced by the nearest ones")
    if len(parts):
        words.append(f"{len(parts)} new vertices with a partial weight are left out")
    return f"“{name}” after the edit of the mesh: {', '.join(words)}." if words else ""


def _lost(rest: np.ndarray, full: np.ndarray, near: float) -> np.ndarray:
    """Return the indices of the picked positions ``rest`` (p,3) whose vertex was lost by an edit.

    Each moved vertex is assumed to come from the nearest picked position that has no vertex any more.
    """
    from scipy.spatial import cKDTree

    if not len(full):
        return np.arange(len(rest))
    left = np.flatnonzero(cKDTree(full).query(rest)[0] > near)
    moved = full[cKDTree(rest).query(full)[0] > near]
    if len(moved) >= len(left):
        return left[:0]
    return np.delete(left, np.unique(cKDTree(rest[left]).query(moved)[1])) if len(moved) else left
