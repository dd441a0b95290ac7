"""Looks of the physical materials: Blender materials of one Principled BSDF, some with a grain."""

from __future__ import annotations

from typing import Any, NamedTuple

import bpy

Colour = tuple[float, float, float]


class Look(NamedTuple):
    """Look of a physical material.

    ``group``: catalog. ``colour``, ``other``: linear colours that noise mixes, one if ``other`` is None. ``inputs``:
    other inputs of the shader. ``grain``: scale of the noise along X, Y and Z, 1/m of the object's size.
    """

    group: str
    colour: Colour
    inputs: dict[str, float]
    other: Colour | None = None
    grain: tuple[float, float, float] = (6.0, 6.0, 6.0)


def _soft(roughness: float, subsurface: float = 0.3) -> dict[str, float]:
    return {"Roughness": roughness, "Subsurface Weight": subsurface, "Subsurface Scale": 0.02}


LOOKS = {
    "Soft Flesh": Look("Tissue", (0.80, 0.42, 0.34), _soft(0.45), (0.70, 0.30, 0.25)),
    "Fat": Look("Tissue", (0.90, 0.72, 0.34), _soft(0.35), (0.95, 0.82, 0.55), (9.0, 9.0, 9.0)),
    "Muscle": Look("Tissue", (0.42, 0.05, 0.04), _soft(0.35), (0.62, 0.13, 0.10), (24.0, 24.0, 1.5)),
    "Tendon": Look("Tissue", (0.82, 0.78, 0.68), _soft(0.30, 0.15), (0.94, 0.92, 0.86), (30.0, 30.0, 1.0)),
    "Skin": Look("Tissue", (0.76, 0.46, 0.34), _soft(0.50), (0.70, 0.38, 0.27), (40.0, 40.0, 40.0)),
    "Cartilage": Look("Tissue", (0.72, 0.80, 0.84), _soft(0.22), None),
    "Bone": Look("Tissue", (0.84, 0.78, 0.62), _soft(0.55, 0.1), (0.74, 0.66, 0.50), (12.0, 12.0, 12.0)),
    "Cortical Bone": Look("Tissue", (0.90, 0.87, 0.78), _soft(0.35, 0.1), (0.84, 0.80, 0.70), (20.0, 20.0, 2.0)),
    "Shell": Look("Tissue", (0.80, 0.74, 0.70), {"Roughness": 0.15, "Coat Weight": 0.8}, (0.60, 0.72, 0.74)),
    "Gelatine": Look("Soft", (0.85, 0.10, 0.12), {"Roughness": 0.08, "Transmission Weight": 0.6, "IOR": 1.34}),
    "Silicone": Look("Soft", (0.55, 0.75, 0.88), {"Roughness": 0.40, "Transmission Weight": 0.3, "IOR": 1.41}),
    "Rubber": Look("Soft", (0.025, 0.025, 0.028), {"Roughness": 0.55}),
    "Clay": Look("Soft", (0.45, 0.20, 0.12), {"Roughness": 0.85}, (0.36, 0.15, 0.09), (5.0, 5.0, 5.0)),
    "Dough": Look("Soft", (0.88, 0.78, 0.58), _soft(0.75, 0.2), (0.80, 0.68, 0.47), (4.0, 4.0, 4.0)),
    "Foam": Look("Soft", (0.92, 0.78, 0.22), {"Roughness": 0.95}, (0.70, 0.55, 0.10), (60.0, 60.0, 60.0)),
    "Cork": Look("Hard", (0.55, 0.34, 0.17), {"Roughness": 0.90}, (0.30, 0.16, 0.07), (26.0, 26.0, 26.0)),
    "Wood": Look("Hard", (0.42, 0.21, 0.08), {"Roughness": 0.50}, (0.63, 0.38, 0.17), (12.0, 12.0, 0.8)),
    "Plastic": Look("Hard", (0.03, 0.20, 0.60), {"Roughness": 0.25}),
    "Lead": Look("Hard", (0.28, 0.29, 0.32), {"Roughness": 0.50, "Metallic": 1.0}),
    "Steel": Look("Hard", (0.62, 0.63, 0.65), {"Roughness": 0.22, "Metallic": 1.0}),
}
"""Looks by the preset's name."""


def shader(name: str, look: Look) -> Any:
    """Return a new Blender material."""
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    material.diffuse_color = (*look.colour, 1.0)
    material.roughness = look.inputs["Roughness"]
    nodes, links = material.node_tree.nodes, material.node_tree.links
    surface = next(node for node in nodes if node.type == "BSDF_PRINCIPLED")
    surface.inputs["Base Color"].default_value = (*look.colour, 1.0)
    for key, value in look.inputs.items():
        surface.inputs[key].default_value = value
    if look.other is not None:
        places, size, noise, contrast, mix = (
            nodes.new(f"ShaderNode{kind}") for kind in ("TexCoord", "VectorMath", "TexNoise", "MapRange", "Mix")
        )
        contrast.inputs["From Min"].default_value, contrast.inputs["From Max"].default_value = 0.35, 0.65
        size.operation, mix.data_type = "MULTIPLY", "RGBA"
        size.inputs[1].default_value, noise.inputs["Scale"].default_value = look.grain, 1.0
        colours = [socket for socket in mix.inputs if socket.type == "RGBA"]
        colours[0].default_value, colours[1].default_value = (*look.colour, 1.0), (*look.other, 1.0)
        links.new(places.outputs["Generated"], size.inputs[0])
        links.new(size.outputs[0], noise.inputs["Vector"])
        links.new(noise.outputs["Fac"], contrast.inputs["Value"])
        links.new(contrast.outputs["Result"], mix.inputs[0])
        links.new(next(socket for socket in mix.outputs if socket.type == "RGBA"), surface.inputs["Base Color"])
        for k, node in enumerate((mix, contrast, noise, size, places)):
            node.location = surface.location.x - 200.0 * (k + 1), surface.location.y
    return material
