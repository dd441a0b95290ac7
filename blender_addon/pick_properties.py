"""What is remembered of vertices that were picked, part of ``Object.sinew``.

No ``from __future__ import annotations`` here: Blender reads the annotations as values.
"""

import bpy
from bpy.props import CollectionProperty, FloatVectorProperty, IntProperty, StringProperty


class SinewPlace(bpy.types.PropertyGroup):
    """Where a picked vertex was at rest."""

    rest: FloatVectorProperty(
        name="Rest Position",
        description="Of a picked vertex, in the object's coordinates",
        size=3,
        subtype="TRANSLATION",
        options=set(),
    )


class SinewPicks(bpy.types.PropertyGroup):
    """The picked vertices of one vertex group."""

    group: StringProperty(name="Vertex Group", description="Group that the vertices were picked for", options=set())
    vertices: IntProperty(name="Vertices", description="How many the mesh had when they were picked", options=set())
    places: CollectionProperty(name="Places", description="Where the picked vertices were at rest", type=SinewPlace)


CLASSES = (SinewPlace, SinewPicks)
