"""Blender material that shows results of a bake: pale, marked skin where it is stretched, red skin where it is pressed.

The shader reads the attributes *Stretch*, *Compression* and *Contact Pressure*. Without them it shows plain skin.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import bpy

from ...core.jobs.store.frame_store import FrameStore
from ..blend_data.node_trees import NodeBuilder, output_of
from ..scene_export.result_attributes import PREFIX, largest_values

NAME = "Stretch Marks and Blush"
NEEDS = ("stretch", "compression", "pressure")
"""Results that the material reads, by their names without prefix."""
SKIN, PALE, RED, MARK = (
    (0.62, 0.30, 0.21, 1.0),
    (0.78, 0.52, 0.41, 1.0),
    (0.60, 0.06, 0.05, 1.0),
    (1.0, 0.93, 0.88, 1.0),
)
"""Linear colours of skin at rest, stretched and pressed, and of its marks."""
LEAST_STRETCH, STRETCH = 1.05, 1.3
"""Stretch at which skin is palest: the least, and the one without a bake."""
PRESSURE = 1e3
"""Contact pressure, Pa, at which skin is reddest, without a bake."""
REDDEST = 0.3
"""Fraction of a bake's largest contact pressure at which skin is reddest."""
SQUEEZED = 0.8
"""Compression at which skin is reddest."""
STREAKS = (24.0, 24.0, 3.0)
"""Frequency of the marks along the axes of the object's bounding box."""


def demo_material(stretch: float = STRETCH, pressure: float = PRESSURE) -> Any:
    """Return a new material that is palest at a ``stretch``, and reddest at a contact ``pressure``, Pa."""
    material = bpy.data.materials.new(NAME)
    if material.node_tree is None:  # since 5.0 it always exists
        material.use_nodes = True
    material.diffuse_color = SKIN
    nodes = material.node_tree.nodes
    nodes.clear()
    tree = NodeBuilder(material.node_tree)
    stretched = tree.rise(_result(tree, "stretch"), 1.0, stretch)
    marked = tree.rise(_result(tree, "stretch"), 1.0 + 0.3 * (stretch - 1.0), stretch)
    pressed = tree.rise(tree.math("POWER", _result(tree, "pressure"), 0.5), 0.0, pressure**0.5)
    squeezed = _result(tree, "compression")
    is_there = tree.math("GREATER_THAN", squeezed, 1e-3)  # 0 without the attribute
    squeezed = tree.math("MULTIPLY", tree.rise(tree.math("SUBTRACT", 1.0, squeezed), 0.0, 1.0 - SQUEEZED), is_there)
    streaks = tree.math("MULTIPLY", _streaks(tree), marked)
    colour = tree.mix(tree.math("MULTIPLY", stretched, 0.8), SKIN, PALE)
    colour = tree.mix(tree.math("MAXIMUM", pressed, squeezed), colour, RED)
    colour = tree.mix(tree.math("MULTIPLY", streaks, 0.9), colour, MARK)
    bump = tree.node("ShaderNodeBump", Strength=0.5, Height=tree.math("SUBTRACT", 1.0, streaks))
    surface = tree.node("ShaderNodeBsdfPrincipled", Roughness=0.45, Normal=bump.outputs["Normal"])
    tree.fill(surface, **{"Base Color": colour})
    tree.node("ShaderNodeOutputMaterial", Surface=surface.outputs[0])
    tree.arrange()
    return material


def limits_of(store: FrameStore, frames: Sequence[int]) -> dict[str, float]:
    """Return the arguments of :func:`demo_material` that suit the largest values of baked frames."""
    largest = largest_values(store.job(), store, frames, NEEDS)
    return {
        "stretch": max(LEAST_STRETCH, largest["stretch"]),
        "pressure": REDDEST * largest["pressure"] or PRESSURE,
    }


def show_material(material: Any, obj: Any, carriers: Iterable[Any]) -> None:
    """Show a demo material on objects, and switch on the results of the body ``obj`` that it reads.

    The material belongs to the objects, not to their meshes: with *Link: Data*, a material slot shows its own material
    again.
    """
    for name in NEEDS:
        setattr(obj.sinew.attributes, name, True)
    for each in carriers:
        if not each.material_slots:
            each.data.materials.append(None)
        for slot in each.material_slots:
            slot.link, slot.material = "OBJECT", material


def _result(tree: NodeBuilder, name: str) -> Any:
    """Return a socket with a scalar result."""
    node = tree.node("ShaderNodeAttribute")
    node.attribute_name = node.label = f"{PREFIX}{name}"
    return node.outputs[2]  # its name differs between versions of Blender


def _streaks(tree: NodeBuilder) -> Any:
    """Return a socket that is 1 on thin streaks along the object's Z axis, and 0 between them."""
    place = tree.node("ShaderNodeMapping", Vector=tree.node("ShaderNodeTexCoord").outputs["Generated"], Scale=STREAKS)
    place.label = "Direction of Marks"
    noise = tree.node("ShaderNodeTexNoise", Vector=output_of(place), Scale=1.0, Detail=2.0)
    return tree.rise(noise.outputs[0], 0.54, 0.64)
