"""Attributes of bodies that are cut or torn, matched (EigenFit) or refined in a group: values are at their vertices.

A bar hangs by its upper end. The stress at a vertex is the weight below it over the cross-section, so every vertex has
a value of its own.
"""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import baking
from sinew.blender_addon.scene_import.mesh_in import columns_of

from ..cuts.test_split_mesh import add_knife
from ..scenes import keyed
from .test_handles_out import carrier
from .test_result_attributes import ALL, values

LENGTH, WIDTH, CUT = 1.2, 0.3, 0.65
WEIGHT = 1000.0 * 9.81
"""Weight of a cubic metre, N: the stress grows by it, Pa, over a metre of height."""
END = 30


@pytest.fixture
def hanging(add_mesh, saved):
    """A bar from z = 0 to its pins at z = 1.2, with a vertex every 0.1, over so many frames that it comes to rest."""
    bpy.ops.mesh.primitive_cube_add(size=1.0)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.subdivide(number_cuts=11)
    bpy.ops.object.mode_set(mode="OBJECT")
    obj = bpy.context.object
    obj.name = "Bar"
    for vertex in obj.data.vertices:
        vertex.co = (WIDTH * vertex.co.x, WIDTH * vertex.co.y, LENGTH * (vertex.co.z + 0.5))
    bpy.ops.sinew.enable()
    bpy.ops.sinew.apply_preset(preset="Soft Flesh")
    settings = obj.sinew
    settings.materials[0].stiffness_value, settings.materials[0].density = 500.0, 1000.0
    settings.materials[0].poissons_ratio = 0.3
    top = [v.index for v in obj.data.vertices if v.co.z > LENGTH - 1e-6]
    obj.vertex_groups.new(name="Pins").add(top, 1.0, "REPLACE")
    settings.pin_group, settings.cells_across = "Pins", 16
    settings.collisions.contact_bodies = False
    settings.use_scene_range, settings.frame_start, settings.frame_end = False, 1, END
    settings.mass_damping = 20.0
    for name in ALL:
        setattr(settings.attributes, name, True)
    return obj


def read(obj):
    """Rest positions of the simulated vertices, and their values at each of some frames, by name."""
    store, shown = baking.open_store(obj), carrier(obj)
    rest = store.job().body.surface.positions
    frames = {frame: {name: values(shown, name, frame) for name in ALL} for frame in (1, 2, 8, END)}
    mesh = shown.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    for frame, each in frames.items():
        for name, found in each.items():
            assert len(found) == len(rest) == len(mesh.vertices) and np.isfinite(found).all(), (frame, name)
    return rest, frames


def check_hanging(rest, at_end, from_height, off):
    """Compare the stress with the weight between a height and each vertex, away from the ends."""
    z = rest[:, 2]
    inner = (z > from_height + 0.15) & (z < LENGTH - 0.25)
    assert inner.sum() > 100 or from_height > 0.0
    expected = WEIGHT * (z - from_height)
    np.testing.assert_allclose(at_end["stress"][inner], expected[inner], rtol=off)
    assert at_end["stretch"][inner].min() > 1.0 > at_end["compression"][inner].max()
    assert np.abs(at_end["velocity"][inner]).max() < 1e-3
    down = at_end["displacement"][inner][:, 2]
    assert np.corrcoef(down, z[inner])[0, 1] > 0.95 and down.max() < 0.0


def halves(obj, rest):
    """Masks of the vertices of the lower and of the upper half, and pairs of their vertices at one place of the cut."""
    piece = columns_of(obj.data.attributes["sinew_piece"].data, "value", 1, np.int32)[:, 0]
    assert set(piece) == {0, 1}
    lower = piece == piece[rest[:, 2].argmin()]
    seam = columns_of(obj.data.attributes["sinew_seam"].data, "value", 1, bool)[:, 0]
    at_cut = np.isin(
        np.arange(len(rest)), [v for face in np.flatnonzero(seam) for v in obj.data.polygons[face].vertices]
    )
    below, above = np.flatnonzero(at_cut & lower), np.flatnonzero(at_cut & ~lower)
    gaps = np.linalg.norm(rest[below][:, None] - rest[above][None], axis=2)
    assert len(below) > 20 and gaps.min(axis=1).max() < 1e-5
    return lower, ~lower, below, above[gaps.argmin(axis=1)]


def split(obj, how):
    """Split the bar in two: a knife passes in the first frames, or a seam tears or holds."""
    if how == "cut":
        knife = add_knife(obj)
        knife.animation_data_clear()
        knife.rotation_euler = (0.0, 0.0, 0.0)
        keyed(knife, "location", (1, (-4.0, 0.0, CUT)), (3, (0.0, 0.0, CUT)))
    else:
        group = obj.vertex_groups.new(name="Lower")
        for vertex in obj.data.vertices:
            group.add([vertex.index], min(1.0, max(0.0, 0.5 + (CUT - vertex.co.z))), "REPLACE")
        cuts = obj.sinew.cuts
        cuts.tear, cuts.seam_group, cuts.tear_stress = "PAINTED", "Lower", 2e3 if how == "torn" else 1e7
    assert bpy.ops.sinew.split_mesh() == {"FINISHED"}


@pytest.mark.parametrize(
    ("how", "kind"), [("cut", "KEYS"), ("cut", "NODES"), ("cut", "CACHE"), ("torn", "KEYS"), ("torn", "CACHE")]
)
def test_both_sides_of_an_open_seam_have_their_own_values(hanging, how, kind):
    """The lower half falls without stress, the upper one carries its own weight alone."""
    split(hanging, how)
    hanging.sinew.result = kind
    assert bpy.ops.sinew.bake() == {"FINISHED"}, hanging.sinew.bake.message
    rest, frames = read(hanging)
    lower, upper, below, above = halves(hanging, rest)
    end, first = frames[END], frames[1]
    assert max(first["stress"].max(), np.abs(first["displacement"]).max()) < 1e-6, "at rest"
    check_hanging(rest[upper], {name: each[upper] for name, each in end.items()}, CUT, 0.1)
    assert end["stress"][lower].max() < 0.02 * WEIGHT * CUT
    np.testing.assert_allclose(end["stretch"][lower], 1.0, atol=1e-3)
    fall = -9.81 / hanging.sinew.mass_damping  # the terminal velocity
    np.testing.assert_allclose(end["velocity"][lower][:, 2], fall, rtol=0.02)
    apart = end["displacement"][above] - end["displacement"][below]
    assert apart[:, 2].min() > 0.2, "of vertices that were at one place"
    assert (end["pressure"] == 0.0).all()


def test_a_seam_that_holds_carries_the_stress(hanging):
    split(hanging, "held")
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    rest, frames = read(hanging)
    _, _, below, above = halves(hanging, rest)
    outer = np.setdiff1d(np.arange(len(rest)), [*below, *above])
    check_hanging(rest[outer], {name: each[outer] for name, each in frames[END].items()}, 0.0, 0.2)
    np.testing.assert_allclose(frames[END]["stress"][below], frames[END]["stress"][above], rtol=0.2)
    np.testing.assert_allclose(frames[END]["displacement"][below], frames[END]["displacement"][above], atol=1e-3)


def refine(settings):
    group = settings.id_data.vertex_groups.new(name="Fine")
    group.add([v.index for v in settings.id_data.data.vertices if v.co.z > CUT], 1.0, "REPLACE")
    settings.cells_across, settings.refine_group, settings.refine_factor = 10, "Fine", 2.0


def match_resolution(settings):
    settings.cells_across, settings.match_resolution, settings.match_cells = 6, True, 12


def match_subspace(settings):
    settings.solver, settings.modes, settings.match_full_space, settings.cells_across = (
        "subspace_mixed_fem",
        20,
        True,
        8,
    )


@pytest.mark.parametrize(
    ("choose", "off"),
    [(lambda settings: None, 0.03), (refine, 0.15), (match_resolution, 0.35), (match_subspace, 0.1)],
    ids=["plain", "refined", "matched", "matched subspace"],
)
def test_stress_is_at_its_vertices(hanging, choose, off):
    """A match moves the body as vibrations of a finer one, and so hangs 12 % further here."""
    choose(hanging.sinew)
    assert bpy.ops.sinew.bake() == {"FINISHED"}, hanging.sinew.bake.message
    if choose in (match_resolution, match_subspace):
        assert "vibrations match" in hanging.sinew.bake.match
    rest, frames = read(hanging)
    check_hanging(rest, frames[END], 0.0, off)


@pytest.mark.parametrize("choose", [lambda settings: None, refine, match_subspace])
def test_a_body_at_rest_has_no_stress(hanging, choose):
    choose(hanging.sinew)
    bpy.context.scene.use_gravity = False
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    _, frames = read(hanging)
    for found in frames.values():
        assert max(np.abs(found[name]).max() for name in ("stress", "pressure", "displacement", "velocity")) < 1e-5
        np.testing.assert_allclose([found["stretch"], found["compression"]], 1.0, atol=1e-5)
