"""Picked vertices, part of ``Object.sinew``.

No ``from __future__ import annotations`` here: Blender reads the annotations as values.
"""

import bpy

from .mirror import collection, integer, text, vector


class SinewPickedVertex(bpy.types.PropertyGroup):
    """Rest position of a picked vertex."""

    rest: vector("Rest Position", "Of a picked vertex, in the object's coordinates", size=3, subtype="TRANSLATION")


class SinewPicks(bpy.types.PropertyGroup):
    """Picked vertices of one vertex group."""

    group: text("Vertex Group", "Group that the vertices were picked for")
    vertices: integer("Vertices", "How many the mesh had when they were picked")
    rest_positions: collection("Rest Positions", "Where the picked vertices were at rest", type=SinewPickedVertex)


CLASSES = (SinewPickedVertex, SinewPicks)
