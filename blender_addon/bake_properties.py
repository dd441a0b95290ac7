"""What is known of a body's last bake, part of ``Object.sinew``.

No ``from __future__ import annotations`` here: Blender reads the annotations as values.
"""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

RESULTS = (
    ("KEYS", "Shape Keys", "One absolute shape key a frame: exact with every solver"),
    (
        "NODES",
        "Geometry Nodes",
        "Weights on the mesh and a few moving handles, summed by Geometry Nodes: a small .blend at any resolution. "
        "Exact with subspace solvers, an approximation with others, whose error is told. Plays without Sinew, too",
    ),
    (
        "CACHE",
        "Mesh Cache",
        "A PC2 file beside the .blend that a Mesh Cache modifier plays: exact, a small .blend, and the object's own "
        "shape keys and armature stay on it. The file has to travel with the .blend. Plays without Sinew, too",
    ),
)
STATUSES = (
    ("NONE", "Not Baked", "There are no baked frames"),
    ("STOPPED", "Stopped", "Some frames are baked; the rest can be resumed"),
    ("FAILED", "Failed", "The bake ended with an error"),
    ("DONE", "Baked", "All frames are baked"),
)


class SinewBake(bpy.types.PropertyGroup):
    """What is known of the last bake; the frames themselves are in ``folder``."""

    folder: StringProperty(name="Disk Cache", description="Folder of the baked frames", options=set())
    home: StringProperty(
        name="Home", description="Folder that a Disk Cache beginning with // is told from", options=set()
    )
    status: EnumProperty(name="Status", description="How the last bake ended", items=STATUSES, options=set())
    frames: IntProperty(name="Frames Baked", description="How many the result shows", min=0, options=set())
    first_frame: IntProperty(name="First Frame Baked", description="First frame that the result shows", options=set())
    message: StringProperty(name="Message", description="What the last bake said in the end", options=set())
    stale: StringProperty(name="Out of Date", description="What was edited after the bake", options=set())
    shows: StringProperty(name="Bake Shown", description="Key of the frames that the result was made of", options=set())
    on_itself: BoolProperty(
        name="On the Object Itself", description="The result lies on the object, not on a duplicate", options=set()
    )
    kind: EnumProperty(name="Result", description="How the baked frames are kept now", items=RESULTS, options=set())
    modes: IntProperty(name="Modes", description="That were fitted to the frames; 0: the solver's own", options=set())
    error: StringProperty(name="Error", description="Of a result that was fitted to the frames", options=set())
    nodes: PointerProperty(
        name="Nodes", description="Geometry Nodes that play the result", type=bpy.types.NodeTree, options=set()
    )
    result: PointerProperty(name="Result", description="Object that carries the baked shapes", type=bpy.types.Object)
    left_behind: StringProperty(
        name="Left Behind", description="What follows the hidden original instead of its bake", options=set()
    )
    hides_original: BoolProperty(
        name="Hides the Original", description="The original is hidden while its result is shown", options=set()
    )
    hid_viewport: BoolProperty(
        name="Was Hidden in Viewports", description="The original was so before the bake", options=set()
    )
    hid_render: BoolProperty(
        name="Was Hidden in Renders", description="The original was so before the bake", options=set()
    )
    tets: IntProperty(name="Tetrahedra", description="How many the body was filled with; 0 unknown", options=set())
    cells: IntProperty(name="Cells Across", description="At which it was filled with so many", options=set())
    contrast: FloatProperty(
        name="Contrast", description="Stiffest over softest tetrahedron; 1 where all are alike", options=set()
    )
    thickness: FloatProperty(name="Thickness", description="Of the body's thinner parts, m", options=set())
    movement: FloatProperty(
        name="Movement",
        description="Largest of a pin or a collider in a frame, beside its mean over all frames, m; -1 unknown",
        options=set(),
    )
    advice_basis: StringProperty(
        name="Basis of Advice", description="Of the physical materials that the figures above go by", options=set()
    )
    mesh_summary: StringProperty(name="Tetrahedra", description="What the body was filled with last", options=set())
    pace_solver: StringProperty(name="Solver", description="Of the steps that were timed", options=set())
    pace_seconds: FloatProperty(name="Pace", description="Seconds of a step", options=set())
    pace_modes: IntProperty(name="Modes", description="Of the steps that were timed", options=set())
    body_mass: FloatProperty(name="Mass", description="Of the body, kg; 0 unknown", options=set())
    body_volume: FloatProperty(name="Volume", description="Of the body, m³; 0 unknown", options=set())
    body_size: FloatProperty(name="Size", description="Longest side at rest, m; 0 unknown", options=set())
    mesh_warning: StringProperty(name="Warning", description="About the tetrahedra, or the size", options=set())
    is_thin: BoolProperty(name="Thin Parts", description="Some are thinner than a cell", options=set())
    points_warning: StringProperty(name="Warning", description="About too few cubature points", options=set())
    points_that_suffice: IntProperty(
        name="Points That Suffice", description="Cubature points, where there are too few; 0 unknown", options=set()
    )
    material_warning: StringProperty(
        name="Warning", description="About physical materials that are nowhere", options=set()
    )
    pin_warning: StringProperty(name="Warning", description="About a pin group that holds nothing", options=set())
    size: StringProperty(name="Size", description="Of the frames on disk", options=set())
    linear_solver: StringProperty(name="Linear Solver", description="Which one the bake took, and why", options=set())
    report: StringProperty(name="Solver Report", description="How the steps went, in short", options=set())


CLASSES = (SinewBake,)
