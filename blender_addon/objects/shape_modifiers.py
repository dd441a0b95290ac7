"""Modifiers such as Mirror or Remesh that change the shape of the body, although the simulation ignores them.

The simulation ignores modifiers after the position in the modifier stack at which the body is simulated.
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
"""Prefixes of the types of geometry nodes that keep the shape of their input."""


def shape_left_out(obj: Any) -> list[Any]:
    """Return the modifiers that change the shape of the body after the simulated position in the modifier stack.

    Modifiers shown only in renders count, too. The list is empty if the artist has set Simulate to the mesh itself.
    """
    return [] if obj.sinew.simulate_at == "MESH" else [m for m in shown_after(obj, in_renders=True) if _makes(m)]


def shape_warning(obj: Any) -> str:
    """Return a warning about modifiers that change the shape, but are ignored by the simulation. Otherwise the text is
    empty.
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
    """Set Simulate to After Modifier, with the last modifier that changes the shape. Without such a modifier, do
    nothing.
    """
    found = shape_left_out(obj)
    if found:
        obj.sinew.simulate_at, obj.sinew.simulate_after = "MODIFIER", found[-1].name


def _makes(modifier: Any) -> bool:
    if modifier.type == "NODES":
        return modifier.node_group is not None and _group_makes(modifier.node_group, set())
    return modifier.type in MAKING


def _group_makes(group: Any, seen: set[Any]) -> bool:
    """Return True if a node that may change the shape leads to the geometry output of a node group."""
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
