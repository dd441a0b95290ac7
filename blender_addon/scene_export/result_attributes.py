"""Results as named attributes of vertices, which shader nodes and geometry nodes read, without Sinew, too.

A Geometry Nodes modifier after the bake samples a mesh of values, *NAME Attributes*, by the index of the vertex. The
coordinates of its vertices are the values, three per vertex, with a shape key per frame as in a bake. So values change
with the frame, linearly between frames. The mesh is in no scene, as the handles of :mod:`.handles_out`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import bpy
import numpy as np

from ...core.foundation.errors import MeshError
from ...core.geometry.mesh.surface_stretch import principal_stretches
from ...core.jobs.job.job import Job
from ...core.jobs.store.frame_store import FrameStore
from ..blend_data.node_trees import NodeBuilder, modifier_group
from ..objects.modifier_stack import is_own_cache
from ..properties.bake_properties import SinewAttributes
from ..scene_import.mesh_in import transform
from .handle_nodes import SOURCE
from .handles_out import drop_group, remove_modifiers
from .shape_keys import write_keys

PREFIX = "sinew_"
"""Prefix of the names of the attributes."""
SCALARS = ("stress", "stretch", "compression", "pressure")
REST = "rest"
"""Attribute of the mesh of values: positions of the rest shape, which displacements are measured from."""


def wanted_attributes(obj: Any) -> list[str]:
    """Return the names, without prefix, of the results that a body shall have as attributes."""
    return [name for name in SinewAttributes.__annotations__ if getattr(obj.sinew.attributes, name)]


def check_names(obj: Any, carrier: Any | None = None) -> None:
    """Raise MeshError if the mesh has attributes or vertex groups of its own with the names of wanted results.

    ``carrier``: the object that displays the bake; None stands for ``obj``.
    """
    shown = carrier or obj
    taken = {*shown.data.attributes.keys(), *shown.vertex_groups.keys()}
    for name in wanted_attributes(obj):
        if PREFIX + name in taken:
            kind = "a vertex group" if PREFIX + name in shown.vertex_groups else "an attribute"
            raise MeshError(
                f"“{shown.name}” has {kind} “{PREFIX}{name}” of its own, which the result would replace.",
                "Rename or remove it, or switch it off in Attributes under Frames and Result.",
            )


def put_attributes(obj: Any, context: Any, store: FrameStore, frames: Sequence[int]) -> str:
    """Write the wanted results of baked frames as attributes of the carrier, and remove earlier ones.

    The carrier is the object that displays the bake. Returns a message about results that are missing, or "".
    """
    record = obj.sinew.bake
    carrier = obj if record.on_itself else record.result
    remove_attributes(obj, carrier)
    names = wanted_attributes(obj)
    record.attributes = " ".join(names)
    try:
        check_names(obj, carrier)
    except MeshError as error:
        return str(error)
    missing = ""
    if "stress" in names and any(store.stress(frame) is None for frame in frames):
        names.remove("stress")
        missing = "The baked frames hold no stress: press Bake Again for the attribute Stress."
    if names:
        record.attribute_nodes = _write(carrier, context.scene, store, frames, names, record.nodes)
    return missing


def remove_attributes(obj: Any, *carriers: Any) -> None:
    """Remove the attributes of a body's bake from objects that display it."""
    nodes, obj.sinew.bake.attribute_nodes = obj.sinew.bake.attribute_nodes, None
    for each in filter(None, carriers if nodes is not None else ()):
        remove_modifiers(each, nodes)
    if nodes is not None:
        drop_group(nodes)


def frame_values(job: Job, store: FrameStore, frames: Sequence[int], names: Sequence[str]) -> Iterator[np.ndarray]:
    """Yield the values of each frame, (n,3b) float32, for n vertices and b blocks of three columns.

    Velocities are the first three columns, in object coordinates per second. The columns of the scalars follow in the
    order of ``SCALARS``, and zeros fill the last block.
    """
    rest, triangles = job.body.surface.positions, job.body.surface.triangles
    quantities: dict[str, Callable[[int], np.ndarray | None]] = {"stress": store.stress, "pressure": store.pressure}
    blocks = block_count(names)
    for frame in frames:
        values = np.zeros((len(rest), 3 * blocks), dtype=np.float32)
        column = 0
        if "velocity" in names:
            values[:, :3] = _velocity(job, store, frames, frame)
            column = 3
        if "stretch" in names or "compression" in names:
            stretches = dict(zip(("stretch", "compression"), principal_stretches(rest, triangles, store.read(frame)).T))
        for name in scalars_of(names):
            found = stretches[name] if name not in quantities else quantities[name](frame)
            if found is not None:  # a frame without contact stores no pressure: the values stay 0
                values[:, column] = found
            column += 1
        yield values


def largest_values(job: Job, store: FrameStore, frames: Sequence[int], names: Sequence[str]) -> dict[str, float]:
    """Return the largest value of each scalar result over baked frames."""
    scalars = scalars_of(names)
    largest = np.max([values.max(axis=0) for values in frame_values(job, store, frames, scalars)], axis=0)
    return dict(zip(scalars, largest.tolist()))


def scalars_of(names: Sequence[str]) -> list[str]:
    """Return the names of the scalars among results, in the order of their columns."""
    return [name for name in SCALARS if name in names]


def block_count(names: Sequence[str]) -> int:
    """Return the number of values of three coordinates that a vertex needs at each frame."""
    return ("velocity" in names) + -(-len(scalars_of(names)) // 3)


def value_bytes(names: Sequence[str], vertices: int, frames: int) -> float:
    """Return the size, bytes, of the keyed values in the .blend."""
    return 12.0 * block_count(names) * vertices * frames


def _velocity(job: Job, store: FrameStore, frames: Sequence[int], frame: int) -> np.ndarray:
    """Return the central difference (n,3) of local positions; at the first and last frame the one-sided difference."""
    near = [other for other in (frame - 1, frame + 1) if frames[0] <= other <= frames[-1]]
    begin, end = min([frame, *near]), max([frame, *near])
    if begin == end:
        return np.zeros((len(job.body.surface.positions), 3))
    before, after = (_local(job, each, store.read(each)) for each in (begin, end))
    return (after - before) * (job.frame_rate / (end - begin))


def _local(job: Job, frame: int, positions: np.ndarray) -> np.ndarray:
    return transform(np.linalg.inv(job.frame_matrices[frame - job.frame_start]), positions)


def _write(carrier: Any, scene: Any, store: FrameStore, frames: Sequence[int], names: Sequence[str], nodes: Any) -> Any:
    """Add the mesh of values and the modifier that reads it. Returns the modifier's node group."""
    job = store.job()
    count, blocks = len(job.body.surface.positions), block_count(names)
    mesh = bpy.data.meshes.new(f"{carrier.name} Attributes")
    values = bpy.data.objects.new(mesh.name, mesh)
    mesh.vertices.add(count * max(1, blocks))
    if "displacement" in names:
        rest = np.zeros((len(mesh.vertices), 3), dtype=np.float32)
        rest[:count] = _local(job, job.frame_start, job.body.surface.positions)
        mesh.attributes.new(REST, "FLOAT_VECTOR", "POINT").data.foreach_set("vector", rest.ravel())
    if blocks:
        # Block after block: the first three values of all vertices, then the next three.
        found = frame_values(job, store, frames, names)
        keys = [each.reshape(count, blocks, 3).swapaxes(0, 1).reshape(-1, 3) for each in found]
        write_keys(values, scene, frames, keys)
    group = _nodes(f"{carrier.name} Attributes", values, names, count)
    modifier = carrier.modifiers.new("Bake Attributes", "NODES")
    modifier.node_group = group
    modifier.show_in_editmode = modifier.show_expanded = False
    plays = [
        k + 1
        for k, each in enumerate(carrier.modifiers)
        if is_own_cache(each) or (each.type == "NODES" and nodes is not None and each.node_group == nodes)
    ]
    carrier.modifiers.move(carrier.modifiers.find(modifier.name), max(plays, default=0))  # one may be pinned to the end
    return group


def _nodes(name: str, values: Any, names: Sequence[str], count: int) -> Any:
    """Return a node group that stores the results ``names`` as attributes of a mesh with ``count`` vertices."""
    group, entry, leave = modifier_group(name)
    tree = NodeBuilder(group)
    source = tree.node("GeometryNodeObjectInfo", Object=values)
    source.name = source.label = SOURCE
    mesh, geometry = source.outputs["Geometry"], entry.outputs["Geometry"]
    position = tree.node("GeometryNodeInputPosition").outputs["Position"]
    index = tree.node("GeometryNodeInputIndex").outputs["Index"]

    def block(number: int) -> Any:
        at = tree.math("ADD", index, float(number * count)) if number else index
        return tree.sample(mesh, "FLOAT_VECTOR", position, at)

    first = 0
    if "velocity" in names:
        geometry, first = tree.store(geometry, "FLOAT_VECTOR", f"{PREFIX}velocity", block(0)), 1
    if "displacement" in names:
        rest = tree.sample(mesh, "FLOAT_VECTOR", tree.attribute("FLOAT_VECTOR", REST), index)
        offset = tree.vector("SUBTRACT", position, rest)
        geometry = tree.store(geometry, "FLOAT_VECTOR", f"{PREFIX}displacement", offset)
    parts: Any = ()
    for k, scalar in enumerate(scalars_of(names)):
        if k % 3 == 0:
            parts = tree.node("ShaderNodeSeparateXYZ", Vector=block(first + k // 3)).outputs
        geometry = tree.store(geometry, "FLOAT", f"{PREFIX}{scalar}", parts[k % 3])
    tree.fill(leave, Geometry=geometry)
    tree.arrange()
    return group
