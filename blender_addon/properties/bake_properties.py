"""Record of a body's last bake, part of ``Object.sinew``.

No ``from __future__ import annotations`` here: Blender reads the annotations as values.
"""

# No ``from __future__ import annotations``: Blender reads the annotations as values.
import bpy

from .mirror import collection, integer, menu, number, pointer, switch, text, vector

RESULTS = (
    (
        "KEYS",
        "Shape Keys",
        "One shape key per frame, with keyed values: exact with every solver, and glTF and FBX can play it",
    ),
    (
        "NODES",
        "Geometry Nodes",
        "Geometry Nodes blend a few animated affine displacements by weights on the mesh: a small .blend at any "
        "resolution. Exact with subspace solvers; with others an approximation, whose error the panel shows. Plays "
        "without Sinew, too",
    ),
    (
        "CACHE",
        "Mesh Cache",
        "A Mesh Cache modifier plays a PC2 file beside the .blend: exact, a small .blend, and the object keeps its "
        "shape keys and its armature. Copy the PC2 file along with the .blend. Plays without Sinew, too",
    ),
)
OF_BONES = "BONES", "Action", "An action of the armature moves the bone, and the bone moves the body"
"""Form of the result of a bone body."""
STATUSES = (
    ("NONE", "Not Baked", "There are no baked frames"),
    ("STOPPED", "Stopped", "Some frames are baked; Resume bakes the others"),
    ("FAILED", "Failed", "The bake ended with an error"),
    ("DONE", "Baked", "All frames are baked"),
)


class SinewAttributes(bpy.types.PropertyGroup):
    """Results that a bake writes as named attributes of vertices, ``sinew_stress`` and so on."""

    stress: switch(
        "Stress",
        "Attribute sinew_stress, Pa: von Mises stress of the tetrahedra at the surface. Frames on disk grow by a "
        "sixth, and frames that were baked without it have to be baked again",
    )
    stretch: switch(
        "Stretch",
        "Attribute sinew_stretch, no unit: largest principal stretch of the surface, 1 at rest, 1.2 where it is "
        "20 % longer",
    )
    compression: switch(
        "Compression",
        "Attribute sinew_compression, no unit: least principal stretch of the surface, 1 at rest, 0.8 where it is "
        "20 % shorter",
    )
    pressure: switch(
        "Contact Pressure",
        "Attribute sinew_pressure, Pa: pressure of contact with other bodies, colliders and the body itself",
    )
    displacement: switch(
        "Displacement",
        "Attribute sinew_displacement, in the object's axes and Blender units: vector from the rest shape to the baked "
        "shape",
    )
    velocity: switch(
        "Velocity",
        "Attribute sinew_velocity, in the object's axes and Blender units per second: difference of the frames before "
        "and after, divided by their time",
    )


class SinewVibration(bpy.types.PropertyGroup):
    """Vibration of a subspace, and the vibration of the full mesh that it is matched with."""

    frequency: number("Subspace", "Frequency of the vibration in the unmatched subspace, Hz")
    right: number("Full Mesh", "Frequency of the matched vibration in the full mesh, Hz; 0 if it is not matched")
    share: number(
        "Overlap", "Fraction of the vibration that a combination of full-mesh vibrations can reproduce, 0 to 1"
    )


class SinewBake(bpy.types.PropertyGroup):
    """Record of the last bake of a body, whose frames are in ``folder``."""

    folder: text("Disk Cache", "Folder of the baked frames")
    home: text("Home", "Folder that a Disk Cache beginning with // is relative to")
    is_deleted: switch("Deleted", "The frames in Disk Cache are deleted when the file is saved")
    status: menu("Status", "How the last bake ended", items=STATUSES)
    frames: integer("Frames Baked", "Number of frames that the result shows", min=0)
    first_frame: integer("First Frame Baked", "First frame that the result shows")
    message: text("Message", "Last message of the bake")
    separation_object: pointer(
        "Overlapping Body", "Body to move, since it overlaps another body or a collider", type=bpy.types.Object
    )
    separation: vector("Separation", "World-space displacement that ends the overlap, Blender units", size=3)
    stale: text("Out of Date", "Labels of the inputs that were edited after the bake")
    as_read: text("As Read", "Digests, by label, of the inputs that the bake was made from")
    shows: text("Bake Shown", "Checksum of the frames that the result displays")
    on_itself: switch("On the Object Itself", "The result lies on the object, not on a duplicate")
    kind: menu("Result", "Form in which the .blend stores the baked frames now", items=(*RESULTS, OF_BONES))
    modes: integer("Modes", "Number of modes that Geometry Nodes were fitted with; 0 if they use the solver's modes")
    error: text("Error", "Error of the Geometry Nodes that were fitted to the frames")
    nodes: pointer("Nodes", "Geometry Nodes that play the result", type=bpy.types.NodeTree)
    attributes: text("Attributes", "Names of the results that are attributes of the displayed bake")
    attribute_nodes: pointer("Attribute Nodes", "Geometry Nodes that play the attributes", type=bpy.types.NodeTree)
    result: pointer("Result", "Object that carries the baked shapes", type=bpy.types.Object)
    left_behind: text(
        "Left Behind",
        "Warning about objects that follow the hidden original instead of the bake, or about a body that looks "
        "different in viewports and renders",
    )
    hides_original: switch("Hides the Original", "The original object is hidden, since a duplicate shows the bake")
    hid_viewport: switch("Was Hidden in Viewports", "The original was hidden in viewports before the bake")
    hid_render: switch("Was Hidden in Renders", "The original was hidden in renders before the bake")
    tets: integer("Tetrahedra", "Number of tetrahedra of the body; 0 if unknown")
    cells: integer("Cells Across", "Cells Across with which the tetrahedra were made")
    contrast: number("Contrast", "Young's modulus of the stiffest tetrahedron divided by that of the softest")
    thickness: number("Thickness", "Thickness of regions less than two cells thick, m; 0 if there are none")
    movement: number(
        "Movement",
        "Largest distance, m, by which a vertex of a pin or collider departs from uniform motion between two "
        "consecutive frames; -1 if unknown",
    )
    slowest: number("Slowest Vibration", "Estimated lowest frequency of the body, Hz; 0 if unknown")
    advice_basis: text(
        "Basis of Advice", "Digest of the physical materials from which the recommendations were computed"
    )
    mesh_summary: text("Tetrahedra", "Summary of the tetrahedra that were made last")
    pace_solver: text("Solver", "Solver with which Pace was measured")
    pace_seconds: number("Pace", "Measured computation time of a time step, s")
    pace_modes: integer("Modes", "Number of modes with which Pace was measured")
    body_mass: number("Mass", "Mass of the body, kg; 0 if unknown")
    body_volume: number("Volume", "Volume of the body, m³; 0 if unknown")
    body_size: number("Size", "Longest side of the body at rest, m; 0 if unknown")
    mesh_warning: text("Warning", "Warning about the tetrahedra, or about the size of the body")
    resolution_warning: text("Warning", "Warning about the resolution")
    is_thin: switch("Thin Parts", "Some parts of the body are thinner than a cell")
    points_warning: text("Warning", "Warning about too few cubature points")
    points_that_suffice: integer(
        "Points That Suffice", "Number of cubature points for an accurate subspace; 0 if unknown"
    )
    match: text("Match", "How the subspace was matched with the full mesh")
    vibrations: collection(
        "Vibrations", "Slowest vibrations of the body, with or without a match in the full mesh", type=SinewVibration
    )
    contact_warning: text("Warning", "Warnings about contact, such as colliders that look different in renders")
    material_warning: text("Warning", "Warning about physical materials that fill no part of the body")
    pin_warning: text("Warning", "Warning about a pin group without pins")
    size: text("Size", "Size of the frames on disk")
    linear_solver: text("Linear Solver", "Linear solver of the last bake, and why it was chosen")
    report: text("Solver Report", "Summary of the solver's steps in the last bake")


CLASSES = (SinewAttributes, SinewVibration, SinewBake)
