"""Picked vertices, part of ``Object.sinew``.

No ``from __future__ import annotations`` here: Blender reads the annotations as values.
"""

# No ``from __future__ import annotations``: Blender reads the annotations as values.
import bpy

from .mirror import collection, integer, text, vector


class SinewPickedVertex(bpy.types.PropertyGroup):
    """Rest position of a picked vertex."""

    rest: vector("Rest Position", "Rest position of a picked vertex, in object space", size=3, subtype="TRANSLATION")


class SinewPicks(bpy.types.PropertyGroup):
    """Rest positions of the picked vertices of one vertex group, by which a later edit of the mesh is detected."""

    group: text("Vertex Group", "Name of the vertex group of the picked vertices")
    vertices: integer("Vertices", "Number of vertices of the mesh when they were picked")
    rest_positions: collection("Rest Positions", "Rest positions of the picked vertices", type=SinewPickedVertex)


CLASSES = (SinewPickedVertex, SinewPicks)
