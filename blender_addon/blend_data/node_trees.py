"""Queries of node trees, and a builder of node trees."""

from __future__ import annotations

from typing import Any

import bpy


def has_node(tree: Any, kind: str) -> bool:
    """Return True if a node tree has a node of type ``kind``, such as ``SIMULATION_OUTPUT``.

    Node groups within the tree are searched, too.
    """
    groups = (node.node_tree for node in tree.nodes if node.type == "GROUP" and node.node_tree is not None)
    return any(node.type == kind for node in tree.nodes) or any(has_node(group, kind) for group in groups)


def modifier_group(name: str) -> tuple[Any, Any, Any]:
    """Return a new Geometry Nodes group for a modifier, and its nodes *Group Input* and *Group Output*.

    The group has one input and one output, ``Geometry``.
    """
    group = bpy.data.node_groups.new(name, "GeometryNodeTree")
    group.is_modifier = True
    for direction in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    return group, group.nodes.new("NodeGroupInput"), group.nodes.new("NodeGroupOutput")


class NodeBuilder:
    """Builder of a node tree. Inputs are values, or output sockets of other nodes."""

    def __init__(self, group: Any) -> None:
        self._group = group

    def node(self, kind: str, **inputs: Any) -> Any:
        """Add a node and set its inputs."""
        node = self._group.nodes.new(kind)
        self.fill(node, **inputs)
        return node

    def fill(self, node: Any, **inputs: Any) -> None:
        """Set inputs of a node by name."""
        for name, value in inputs.items():
            self._set(next(s for s in node.inputs if s.name == name and s.enabled), value)

    def _set(self, socket: Any, value: Any) -> None:
        if isinstance(value, bpy.types.NodeSocket):
            self._group.links.new(value, socket)
        else:
            socket.default_value = value

    def vector(self, operation: str, *values: Any) -> Any:
        """Return the output of a new Vector Math node."""
        return self._operation("ShaderNodeVectorMath", operation, values)

    def math(self, operation: str, *values: Any) -> Any:
        """Return the output of a new Math node."""
        return self._operation("ShaderNodeMath", operation, values)

    def _operation(self, kind: str, operation: str, values: tuple) -> Any:
        node = self._group.nodes.new(kind)
        node.operation = operation
        for socket, value in zip(node.inputs, values):
            self._set(socket, value)
        return node.outputs[0]

    def sample(self, mesh: Any, kind: str, value: Any, index: Any) -> Any:
        """Return a socket with the field ``value``, of the data type ``kind``, at the vertex ``index`` of a mesh."""
        node = self._group.nodes.new("GeometryNodeSampleIndex")
        node.data_type, node.domain = kind, "POINT"
        self.fill(node, Geometry=mesh, Value=value, Index=index)
        return output_of(node)

    def attribute(self, kind: str, name: str) -> Any:
        """Return the field of a named attribute of the data type ``kind``."""
        node = self._group.nodes.new("GeometryNodeInputNamedAttribute")
        node.data_type = kind
        self.fill(node, Name=name)
        return output_of(node)

    def store(self, geometry: Any, kind: str, name: str, value: Any) -> Any:
        """Return the geometry with the field ``value`` as a named attribute of vertices, of the data type ``kind``."""
        node = self._group.nodes.new("GeometryNodeStoreNamedAttribute")
        node.data_type, node.domain = kind, "POINT"
        self.fill(node, Geometry=geometry, Name=name, Value=value)
        return node.outputs["Geometry"]

    def rise(self, value: Any, low: float, high: float) -> Any:
        """Return the output of a new Map Range node: a smooth step from 0 at ``low`` to 1 at ``high``."""
        node = self._group.nodes.new("ShaderNodeMapRange")
        node.interpolation_type = "SMOOTHSTEP"
        self.fill(node, **{"Value": value, "From Min": low, "From Max": high})
        return output_of(node)

    def mix(self, factor: Any, a: Any, b: Any) -> Any:
        """Return the output of a new Mix node of two colours: ``a`` for the ``factor`` 0, ``b`` for 1."""
        node = self._group.nodes.new("ShaderNodeMix")
        node.data_type = "RGBA"
        self.fill(node, Factor=factor, A=a, B=b)
        return output_of(node)

    def arrange(self) -> None:
        """Place the nodes in columns, each to the right of the nodes that it reads."""
        rank = dict.fromkeys(self._group.nodes, 0)
        for _ in range(len(rank)):
            for link in self._group.links:
                rank[link.to_node] = max(rank[link.to_node], rank[link.from_node] + 1)
        rows: dict[int, int] = {}
        for node, column in rank.items():
            rows[column] = rows.get(column, 0) + 1
            node.location = (220.0 * column, -400.0 * rows[column])


def output_of(node: Any) -> Any:
    """Return the first enabled output socket of a node, of which some have one per data type."""
    return next(socket for socket in node.outputs if socket.enabled)
