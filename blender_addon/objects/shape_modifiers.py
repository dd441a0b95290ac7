"""Modifiers that change the shape of the body (Mirror, Solidify, Remesh ...) but come after the position in the
modifier stack at which the body is simulated. The simulation ignores the change.
"""

from __future__ import annotations

from typing import Any

from .modifier_stack import shown_after

MAKING = frozenset({
    "ARRAY", "BOOLEAN", "BUILD", "EXPLODE", "MASK", "MESH_TO_VOLUME", "MIRROR", "OCEAN", "PARTICLE_INSTANCE", "REMESH",
    "SCREW", "SKIN", "SOLIDIFY", "VOLUME_TO_MESH", "WELD", "WIREFRAME",
})  # fmt: skip
KEEPING = (
    "GeometryNodeSet", "GeometryNodeStoreNamedAttribute", "GeometryNodeRemoveAttribute", "GeometryNodeCaptureAttribute",
    "GeometryNodeSubdivisionSurface", "GeometryNodeSubdivideMesh", "GeometryNodeTriangulate", "GeometryNodeFlipFaces",
    "GeometryNodeSwitch", "GeometryNodeIndexSwitch", "GeometryNodeMenuSwitch", "GeometryNodeRepeat",
    "GeometryNodeSimulation", "GeometryNodeForeach", "GeometryNodeWarning", "NodeGroupInput", "NodeReroute",
)  # fmt: skip
"""Prefixes of the types of geometry nodes that do not change the shape of their input."""


def shape_left_out(obj: Any) -> list[Any]:
    """Return the modifiers that change the shape of the body in viewports or renders, but come after the position in
    the modifier stack at which the body is simulated. Return an empty list if the artist has set Simulate to the mesh
    itself.
    """
    return [] if obj.sinew.simulate_at == "MESH" else [m for m in shown_after(obj, in_renders=True) if _makes(m)]


def shape_warning(obj: Any) -> str:
    """Return a warning about modifiers that change the shape of the body, but come after the position in the modifier
    stack at which the body is simulated. Return "" without such a modifier.
    """
    found = shape_left_out(obj)
    if not found:
        return ""
    names = " and ".join(f"“{modifier.name}”" for modifier in found)
    verb = (
        "comes after the simulated shape, so the simulation ignores it"
        if len(found) == 1
        else ("come after the simulated shape, so the simulation ignores them")
    )
    return f"{names} {verb}: set Simulate to After Modifier “{found[-1].name}”, or apply it."


def simulate_after_all(obj: Any) -> None:
    """Set Simulate to After Modifier, and choose the last modifier that the simulation ignores although it changes the
    body's shape (:func:`shape_left_out`). Do nothing if there is no such modifier.
    """
    found = shape_left_out(obj)
    if found:
        obj.sinew.simulate_at, obj.sinew.simulate_after = "MODIFIER", found[-1].name


def _makes(modifier: Any) -> bool:
    if modifier.type == "NODES":
        return modifier.node_group is not None and _group_makes(modifier.node_group, set())
    return modifier.type in MAKING


def _group_makes(group: Any, seen: set[Any]) -> bool:
    """Return True if a node that may change the shape is connected to the geometry output of the node group ``group``.
    ``seen`` is the set of node groups that were already checked. The function adds ``group`` to ``seen``, and returns
    False if ``group`` was in ``seen`` before.
    """
    if group in seen:
        return False
    seen.add(group)
    ahead = [node for node in group.nodes if node.type == "GROUP_OUTPUT" and node.is_active_output]
    passed: set[Any] = set()
    while ahead:
        node = ahead.pop()
        if node in passed or node.mute:
            continue
        passed.add(node)
        if node.type == "GROUP":
            if node.node_tree is not None and _group_makes(node.node_tree, seen):
                return True
        elif node.type != "GROUP_OUTPUT" and not node.bl_idname.startswith(KEEPING):
            return True
        sockets = [socket for socket in node.inputs if socket.type == "GEOMETRY"]
        ahead += [link.from_node for socket in sockets for link in socket.links if not link.is_muted]
    return False
