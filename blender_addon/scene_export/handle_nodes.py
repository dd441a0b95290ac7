"""Node group that displaces a mesh by handles: ``sum_k w_k (c @ H_k)`` added to its positions.

H_k (4,3) are the vertices 4k to 4k+3 of the handle mesh, w_k is a float attribute (w_0 = 1), and c are the homogeneous
coordinates ``[(p - centre) / size, 1]`` of the position p. A repeat zone sums up ``w_k H_k``, so that the group has the
same number of nodes for any number of handles. The sum begins with the last handle: low modes are largest, and
the terms added last are rounded least often. Products use Multiply Add nodes: matrices with Transform Point take four
times as long in Blender 4.5.
"""

from __future__ import annotations

from typing import Any

from ..blend_data.node_trees import NodeBuilder, modifier_group

ATTRIBUTE = "Sinew Weight "
"""Prefix of the names of the weight attributes, before the index of the handle."""
ROWS = ("Along X", "Along Y", "Along Z", "Shift")
SOURCE = "Handles"
"""Name of the node with the object that is sampled."""


def handle_group(name: str, handles: Any, count: int, centre: tuple[float, float, float], size: float) -> Any:
    """Return a new Geometry Nodes group that displaces a mesh by skinning handles.

    ``handles``: object whose mesh stores the handles. ``count``: number of weight attributes, without the constant
    weight w_0 = 1. The handle matrices act on the homogeneous coordinates ``[(p - centre) / size, 1]`` of the position
    p.
    """
    group, entry, leave = modifier_group(name)
    tree = NodeBuilder(group)
    source = tree.node("GeometryNodeObjectInfo", Object=handles)
    source.name = source.label = SOURCE
    mesh, position = source.outputs["Geometry"], tree.node("GeometryNodeInputPosition").outputs["Position"]

    def rows(first: Any) -> list[Any]:
        """Return four sockets, the rows of a handle's (4,3) matrix, stored as vertices from the index ``first``."""
        return [tree.sample(mesh, "FLOAT_VECTOR", position, tree.math("ADD", first, float(i))) for i in range(4)]

    begin, end = tree.node("GeometryNodeRepeatInput"), tree.node("GeometryNodeRepeatOutput")
    begin.pair_with_output(end)
    end.repeat_items.clear()
    end.repeat_items.new("INT", "Handle")
    for name in ROWS:
        end.repeat_items.new("VECTOR", name)
    tree.fill(begin, Iterations=count, Handle=count)
    handle = begin.outputs["Handle"]
    number = tree.node("FunctionNodeValueToString", Value=handle).outputs["String"]
    attribute = tree.node("FunctionNodeReplaceString", String=f"{ATTRIBUTE}#", Find="#", Replace=number)
    weight = tree.node("GeometryNodeInputNamedAttribute", Name=attribute.outputs["String"]).outputs["Attribute"]
    wide = tree.node("ShaderNodeCombineXYZ", X=weight, Y=weight, Z=weight).outputs["Vector"]
    moved = rows(tree.math("MULTIPLY", handle, 4.0))
    sums = {
        name: tree.vector("MULTIPLY_ADD", wide, row, begin.outputs[name]) for name, row in zip(ROWS, moved, strict=True)
    }
    tree.fill(end, Handle=tree.math("SUBTRACT", handle, 1.0), **sums)
    whole = [tree.vector("ADD", end.outputs[name], row) for name, row in zip(ROWS, rows(0.0), strict=True)]
    centred = tree.vector("SUBTRACT", position, centre)
    scaled = tree.node("ShaderNodeSeparateXYZ", Vector=tree.vector("DIVIDE", centred, (size,) * 3)).outputs
    offset = whole[3]
    for row, coordinate in zip(whole, scaled):
        offset = tree.vector("MULTIPLY_ADD", row, coordinate, offset)
    placed = tree.node("GeometryNodeSetPosition", Geometry=entry.outputs["Geometry"], Offset=offset)
    tree.fill(leave, Geometry=placed.outputs["Geometry"])
    tree.arrange()
    return group


def handles_of(group: Any) -> Any | None:
    """Return the handle object of a node group, or None if the group has none."""
    node = group.nodes.get(SOURCE) if group is not None else None
    return node.inputs["Object"].default_value if node is not None and "Object" in node.inputs else None
