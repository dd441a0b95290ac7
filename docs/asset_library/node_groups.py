"""Node groups that paint maps: each stores a float attribute of the points, 0 to 1, which Sinew's weights name."""

from __future__ import annotations

from typing import Any

import bpy

FLOAT, VECTOR, OBJECT, STRING, GEOMETRY = (
    f"NodeSocket{kind}" for kind in ("Float", "Vector", "Object", "String", "Geometry")
)


class Group:
    """Node group that stores an attribute.

    ``default``: default name of the attribute.
    """

    def __init__(self, name: str, default: str) -> None:
        self.tree = bpy.data.node_groups.new(name, "GeometryNodeTree")
        self._column = 0
        self.tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type=GEOMETRY)
        self.socket("Geometry", GEOMETRY)
        self.socket("Attribute", STRING, default, "Name of the attribute that is stored")
        self.source = self.node("NodeGroupInput")

    def socket(self, name: str, kind: str, default: Any = None, words: str = "", **options: Any) -> None:
        """Add an input."""
        socket = self.tree.interface.new_socket(name, in_out="INPUT", socket_type=kind)
        socket.description = words
        if default is not None:
            socket.default_value = default
        for key, value in options.items():
            setattr(socket, key, value)

    def node(self, kind: str, **options: Any) -> Any:
        """Return a new node, to the right of the last one."""
        node = self.tree.nodes.new(kind)
        node.location = 180.0 * self._column, 0.0
        self._column += 1
        for key, value in options.items():
            setattr(node, key, value)
        return node

    def link(self, output: Any, target: Any) -> None:
        """Link an output to an input."""
        self.tree.links.new(output, target)

    def ramp(self, value: Any, low: str, high: str, falls: bool = False) -> Any:
        """Return ``value``, mapped smoothly from the range between two inputs to 0 to 1, or to 1 to 0."""
        node = self.node("ShaderNodeMapRange", interpolation_type="SMOOTHSTEP")
        self.link(value, node.inputs["Value"])
        self.link(self.source.outputs[low], node.inputs["From Min"])
        self.link(self.source.outputs[high], node.inputs["From Max"])
        node.inputs["To Min"].default_value, node.inputs["To Max"].default_value = float(falls), float(not falls)
        return node.outputs["Result"]

    def store(self, value: Any) -> Any:
        """Store ``value`` as the attribute. Returns the finished node group."""
        node = self.node("GeometryNodeStoreNamedAttribute", data_type="FLOAT", domain="POINT")
        self.link(self.source.outputs["Geometry"], node.inputs["Geometry"])
        self.link(self.source.outputs["Attribute"], node.inputs["Name"])
        self.link(value, next(i for i in node.inputs if i.name == "Value" and i.type == "VALUE" and i.enabled))
        self.link(node.outputs["Geometry"], self.node("NodeGroupOutput").inputs["Geometry"])
        return self.tree

    def math(self, operation: str, first: Any, second: Any) -> Any:
        """Return the result of a Math node."""
        node = self.node("ShaderNodeMath", operation=operation)
        self.link(first, node.inputs[0])
        self.link(second, node.inputs[1])
        return node.outputs[0]


def near_object() -> Any:
    """Map that is 1 near another object, such as a bone, and fades with the distance to its faces."""
    group = Group("Map Near Object", "Near")
    group.socket("Object", OBJECT, words="Mesh object, such as a bone inside the body")
    distance = {"subtype": "DISTANCE", "min_value": 0.0}
    group.socket("Full To", FLOAT, 0.02, "Distance down to which the map is 1", **distance)
    group.socket("Zero From", FLOAT, 0.1, "Distance from which the map is 0", **distance)
    info = group.node("GeometryNodeObjectInfo", transform_space="RELATIVE")
    group.link(group.source.outputs["Object"], info.inputs["Object"])
    near = group.node("GeometryNodeProximity", target_element="FACES")
    group.link(info.outputs["Geometry"], near.inputs[0])
    weight = group.ramp(near.outputs["Distance"], "Full To", "Zero From", falls=True)
    return group.store(group.math("MULTIPLY", weight, near.outputs["Is Valid"]))


def along_direction() -> Any:
    """Map that rises from 0 to 1 along a direction through the mesh, for pins at one end or gradients."""
    group = Group("Map Along Direction", "Pins")
    group.socket("Direction", VECTOR, (0.0, 0.0, 1.0), "Direction in the object's coordinates")
    part = {"subtype": "FACTOR", "min_value": 0.0, "max_value": 1.0}
    group.socket("Zero To", FLOAT, 0.85, "Part of the way through the mesh at which the map begins", **part)
    group.socket("Full From", FLOAT, 0.9, "Part of the way through the mesh from which the map is 1", **part)
    dot = group.node("ShaderNodeVectorMath", operation="DOT_PRODUCT")
    group.link(group.node("GeometryNodeInputPosition").outputs[0], dot.inputs[0])
    group.link(group.source.outputs["Direction"], dot.inputs[1])
    along = dot.outputs["Value"]
    ends = group.node("GeometryNodeAttributeStatistic", data_type="FLOAT", domain="POINT")
    group.link(group.source.outputs["Geometry"], ends.inputs["Geometry"])
    group.link(along, next(i for i in ends.inputs if i.name == "Attribute" and i.type == "VALUE" and i.enabled))
    length = next(o for o in ends.outputs if o.name == "Range" and o.type == "VALUE" and o.enabled)
    low = next(o for o in ends.outputs if o.name == "Min" and o.type == "VALUE" and o.enabled)
    part_along = group.math("DIVIDE", group.math("SUBTRACT", along, low), length)
    return group.store(group.ramp(part_along, "Zero To", "Full From"))


def where_thin() -> Any:
    """Map that is 1 where the mesh is thin, such as ears and lips, measured through it along the normals."""
    group = Group("Map Where Thin", "Thin")
    distance = {"subtype": "DISTANCE", "min_value": 0.0}
    group.socket("Full To", FLOAT, 0.05, "Thickness up to which the map is 1", **distance)
    group.socket("Zero From", FLOAT, 0.3, "Thickness from which the map is 0", **distance)
    inward = group.node("ShaderNodeVectorMath", operation="SCALE")
    group.link(group.node("GeometryNodeInputNormal").outputs[0], inward.inputs[0])
    inward.inputs["Scale"].default_value = -1.0
    begin = group.node("ShaderNodeVectorMath", operation="MULTIPLY_ADD")
    group.link(inward.outputs[0], begin.inputs[0])
    begin.inputs[1].default_value = (1e-4,) * 3
    group.link(group.node("GeometryNodeInputPosition").outputs[0], begin.inputs[2])
    ray = group.node("GeometryNodeRaycast")
    group.link(group.source.outputs["Geometry"], ray.inputs["Target Geometry"])
    group.link(begin.outputs[0], ray.inputs["Source Position"])
    group.link(inward.outputs[0], ray.inputs["Ray Direction"])
    weight = group.ramp(ray.outputs["Hit Distance"], "Full To", "Zero From", falls=True)
    return group.store(group.math("MULTIPLY", weight, ray.outputs["Is Hit"]))


def by_noise() -> Any:
    """Map of smooth noise between 0 and 1, for irregular matter."""
    group = Group("Map by Noise", "Noise")
    group.socket("Scale", FLOAT, 5.0, "Number of spots per unit of length", min_value=0.0)
    part = {"subtype": "FACTOR", "min_value": 0.0, "max_value": 1.0}
    group.socket("Zero To", FLOAT, 0.4, "Value of the noise up to which the map is 0", **part)
    group.socket("Full From", FLOAT, 0.6, "Value of the noise from which the map is 1", **part)
    noise = group.node("ShaderNodeTexNoise")
    group.link(group.node("GeometryNodeInputPosition").outputs[0], noise.inputs["Vector"])
    group.link(group.source.outputs["Scale"], noise.inputs["Scale"])
    return group.store(group.ramp(noise.outputs[0], "Zero To", "Full From"))


GROUPS = (near_object, along_direction, where_thin, by_noise)
