"""Settings of the cuts and tears of a body, part of ``Object.sinew``."""

# No ``from __future__ import annotations``: Blender reads the annotations as values.
from typing import Any

import bpy

from .mirror import integer, menu, number, pointer, text, weights

CUTTERS = (
    ("OBJECT", "Object", "One mesh or curve"),
    ("COLLECTION", "Collection", "All meshes and curves of a collection"),
)
TEARS = (
    ("NONE", "None", "The body does not tear"),
    ("PAINTED", "Painted Seam", "The body tears along the line where the weights of a vertex group pass 0.5"),
    ("FRAGMENTS", "Fragments", "The body tears into random fragments"),
)


def _can_cut(self: Any, candidate: Any) -> bool:
    return candidate.type in {"MESH", "CURVE"} and candidate != self.id_data


class SinewCuts(bpy.types.PropertyGroup):
    """Cutters and tears of a body, and its mesh before the split."""

    cutter_kind: menu("Cutters", "Choose one object as the cutter, or a collection of objects", items=CUTTERS)
    cutter: pointer(
        "Cutter",
        "Mesh that cuts the body where it passes: a thin blade, or edges without faces as a wire. A closed mesh that "
        "stands still cuts its inside out of the body",
        type=bpy.types.Object,
        poll=_can_cut,
    )
    cutters: pointer("Cutters", "Collection of meshes that cut the body where they pass", type=bpy.types.Collection)
    tear: menu("Tear", "Where the body may tear", items=TEARS)
    seam_group: weights("Seam", "Vertex group of the seam: the body tears where its weights pass 0.5")
    fragments: integer(
        "Fragments",
        "Number of fragments into which the body may tear; 10 to 50 are typical",
        default=20,
        min=2,
        max=500,
    )
    seed: integer("Seed", "Random number of the shape of the fragments, such as 1", default=0, min=0)
    tear_stress: number(
        "Strength (Pa)",
        "Force per area at which the seams of the tear open, Pa: bread 10000, flesh 100000",
        default=1e4,
        min=1.0,
        soft_max=1e7,
        precision=0,
        step=100000,
    )
    edges_across: integer(
        "Edges Across",
        "Number of edges of the new inner faces along the body's longest side; 10 to 40 are typical",
        default=20,
        min=4,
        max=200,
    )
    material: pointer("Material", "Material of the new inner faces; empty: a new one", type=bpy.types.Material)
    original: pointer("Original", "Mesh of the body before the split", type=bpy.types.Mesh)
    split_from: text("Split From", "Checksum of the cutters and settings from which the mesh was split")


CLASSES = (SinewCuts,)
