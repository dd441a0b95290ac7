"""What is remembered of vertices that were picked, part of ``Object.sinew``.

No ``from __future__ import annotations`` here: Blender reads the annotations as values.
"""

import bpy
from bpy.props import CollectionProperty, FloatVectorProperty, IntProperty, StringProperty


class SinewPlace(bpy.types.PropertyGroup):
    """Where a picked vertex was at rest."""

    rest: FloatVectorProperty(name="Rest Position", size=3, subtype="TRANSLATION", options=set())


class SinewPicks(bpy.types.PropertyGroup):
    """The picked vertices of one vertex group."""

    group: StringProperty(name="Vertex Group", options=set())
    vertices: IntProperty(name="Vertices", description="Of the mesh when they were picked", options=set())
    places: CollectionProperty(type=SinewPlace)


CLASSES = (SinewPlace, SinewPicks)
