"""A second bake beside the first: one solver against another, or one at two settings, and its ghost."""

from __future__ import annotations

import shutil
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import background, baking, comparison
from sinew.blender_addon.cache.frame_folders import recorded_folder
from sinew.blender_addon.draw_handlers import compare_view
from sinew.blender_addon.drawing import gpu_ghost
from sinew.blender_addon.drawing.gpu_ghost import Ghost, nearest
from sinew.blender_addon.drawing.gpu_overlay import Painter, View
from sinew.blender_addon.jobs import job_queue
from sinew.blender_addon.live import live
from sinew.blender_addon.scene_import import subdivision_in
from sinew.blender_addon.scene_import.mesh_in import columns_of, mesh_of, vertex_positions
from sinew.blender_addon.window.stepwise import at_once
from sinew.core.jobs.store.frame_store import FrameStore

from .. import card
from ..cache.test_cache_owner import content
from ..drawn import drawn_by
from .test_bake_queue import run_queue
from .test_child import drain_until, in_child


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    job_queue.abandon()


@pytest.fixture
def baked(body, saved):
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    return body


@pytest.fixture
def compared(baked):
    assert bpy.ops.sinew.compare() == {"FINISHED"}
    return baked


OF_ANOTHER = "The ghost on disk belongs to another bake and is not shown. Press Compare to compute one for this bake."


def panel_words():
    return drawn_by(bpy.types.PHYSICS_PT_sinew_compare).labels


def drawn_bodies():
    """Bodies whose ghosts the 3D Views draw."""
    layer = compare_view.CompareView()
    try:
        return layer.bodies(bpy.context.scene)
    finally:
        layer.remove()


def found(obj):
    comparison.look_again(obj)
    return comparison.seen(obj).difference


def test_one_click_bakes_both_and_says_how_far_they_are_apart(body, saved, evaluated):
    scene = bpy.context.scene
    body.sinew.compare.solver, body.sinew.compare.substeps = "OWN", 3
    assert bpy.ops.sinew.compare() == {"FINISHED"}
    assert body.sinew.bake.status == "DONE" and body.sinew.substeps == 1 and evaluated(body, 4).any()
    difference = found(body)
    assert difference.frames.tolist() == [1, 2, 3, 4] and difference.words == "solver (substeps 1 → 3)"
    own, ghost = baking.open_store(body), FrameStore.open(comparison.ghost_folder(body))
    apart = np.linalg.norm(own.read(4) - ghost.read(4), axis=1)
    assert difference.at(4) == pytest.approx((apart.max(), apart.mean())) and apart.max() > 1e-4
    assert comparison.frame_words(difference, 1, scene) == "Frame 1: equal"
    assert comparison.frame_words(difference, 9, scene) == "Frame 9 is not compared"
    words = comparison.frame_words(difference, 4, scene)
    assert words.startswith("Frame 4: ") and f"({100 * apart.max() / difference.size:.2g} %)" in words
    assert "(frame 4)" in comparison.range_words(difference, scene) and "cm" in words
    assert "A frame took" in comparison.time_words(difference)


def test_nothing_of_the_bake_is_lost_and_the_ghost_goes_with_one_click(baked):
    before, keys = content(recorded_folder(baked)), len(baked.data.shape_keys.key_blocks)
    baked.sinew.materials[0].density *= 2.0
    assert not bpy.ops.sinew.remove_ghost.poll()
    assert bpy.ops.sinew.compare() == {"FINISHED"}
    folder = comparison.ghost_folder(baked)
    assert "density 1050 → 2100" in found(baked).words and "Newton" not in found(baked).words, "my edit, no more"
    assert bpy.ops.sinew.remove_ghost() == {"FINISHED"}
    assert not folder.exists() and comparison.seen(baked).folder is None
    assert content(recorded_folder(baked)) == before and len(baked.data.shape_keys.key_blocks) == keys


def test_where_both_would_be_the_same_nothing_runs(baked):
    baked.sinew.compare.solver = "OWN"
    with pytest.raises(RuntimeError, match="Nothing differs from the bake"):
        bpy.ops.sinew.compare()
    assert "Nothing differs" in baked.sinew.compare.message and comparison.ghost_folder(baked) is None


def test_a_range_bakes_no_more_than_it_needs(body, saved):
    body.sinew.compare.whole_range, body.sinew.compare.frame_end = False, 3
    assert bpy.ops.sinew.compare() == {"FINISHED"}
    assert body.sinew.bake.status == "STOPPED" and body.sinew.bake.frames == 3
    assert found(body).frames.tolist() == [1, 2, 3]
    body.sinew.compare.whole_range = True
    assert bpy.ops.sinew.compare() == {"FINISHED"}
    assert body.sinew.bake.status == "DONE" and found(body).frames.tolist() == [1, 2, 3, 4]


def test_other_tetrahedra_and_modes_are_compared_too(baked):
    compare = baked.sinew.compare
    compare.solver, compare.modes, compare.cells_across = "subspace_fem", 3, 5
    assert bpy.ops.sinew.compare() == {"FINISHED"}
    assert found(baked).words == "resolution (cells across 4 → 5), solver (Mixed FEM → Subspace FEM; modes 16 → 3)"


def test_another_bake_since_is_told(compared):
    assert found(compared) is not None
    compared.sinew.substeps = 2
    bpy.ops.sinew.bake()
    assert found(compared) is None and comparison.ghost_folder(compared) is not None
    assert drawn_bodies() == [] and OF_ANOTHER in panel_words()
    assert bpy.ops.sinew.compare() == {"FINISHED"}
    assert found(compared).words == "solver (Mixed FEM → Newton FEM)"
    assert drawn_bodies() == [compared] and OF_ANOTHER not in panel_words()


@pytest.mark.parametrize("is_baked_again", [True, False])
def test_an_older_save_does_not_show_a_later_ghost(compared, saved, is_baked_again):
    """The ghost of a later session belongs to the .blend only where that displays the bake it was made for."""
    bpy.ops.wm.save_mainfile()
    older = saved.with_name("older.blend")
    shutil.copy(saved, older)
    compared.sinew.materials[0].density *= 2.0
    if is_baked_again:
        bpy.ops.sinew.bake()
    assert bpy.ops.sinew.compare() == {"FINISHED"}
    later = found(compared).words
    bpy.ops.wm.save_mainfile()
    shutil.copy(older, saved)
    bpy.ops.wm.open_mainfile(filepath=str(saved))
    body = bpy.data.objects["Body"]
    comparison.look_again(body)
    assert comparison.ghost_folder(body) is not None
    assert (drawn_bodies() == []) == is_baked_again == (OF_ANOTHER in panel_words())
    assert (found(body) is None) == is_baked_again
    if is_baked_again:
        return
    label = comparison.ghost_words(body, Ghost(comparison.ghost_folder(body)).job)
    assert label == ["Compare: Mixed FEM, 1 substep (“Body”)", later], "a later ghost of the same bake says what it is"


def test_edits_are_compared_by_default_and_another_solver_where_there_are_none(baked):
    for factor, expected in ((1.0, "Mixed FEM → Newton FEM"), (2.0, "density 1050 → 2100")):
        baked.sinew.materials[0].density *= factor
        assert bpy.ops.sinew.compare() == {"FINISHED"}
        assert expected in found(baked).words
        solver = "Newton FEM" if factor == 1.0 else "Mixed FEM"
        label = comparison.ghost_words(baked, Ghost(comparison.ghost_folder(baked)).job)
        assert label == [f"Compare: {solver}, 1 substep (“Body”)", found(baked).words]
    baked.sinew.compare.solver = "newton"
    assert bpy.ops.sinew.compare() == {"FINISHED"}
    assert "density" in found(baked).words and "Mixed FEM → Newton FEM" in found(baked).words


def test_the_view_labels_the_ghosts_that_are_shown(compared, monkeypatch):
    written, layer = [], compare_view.CompareView()
    monkeypatch.setattr(compare_view.screen, "write_lines", lambda context, lines, colours: written.append(lines))
    monkeypatch.setattr(compare_view.picking_view, "seen_as", lambda obj, space: obj)
    space = SimpleNamespace(overlay=SimpleNamespace(show_overlays=True))
    view = SimpleNamespace(scene=bpy.context.scene, space_data=space)

    def labels():
        written.clear()
        layer.draw_over(view)
        return [line for lines in written for line in lines]

    try:
        layer.bodies(bpy.context.scene)
        layer.ghost(compared)
        assert labels() == ["Compare: Newton FEM, 1 substep (“Body”)", "solver (Mixed FEM → Newton FEM)"]
        compared.sinew.compare.show = False
        assert labels() == []
        compared.sinew.compare.show, space.overlay.show_overlays = True, False
        assert labels() == []
    finally:
        layer.remove()


def test_the_ghost_is_switched_in_the_panel_and_among_the_overlays(compared):
    for panel in (bpy.types.VIEW3D_PT_sinew_compare, bpy.types.PHYSICS_PT_sinew_compare):
        assert "show" in drawn_by(panel).properties
    assert "show" not in drawn_by(bpy.types.VIEW3D_PT_sinew_bake).properties


def test_delete_bake_takes_the_ghost_along(compared):
    cache = recorded_folder(compared).parent
    bpy.ops.sinew.delete_bake()
    assert comparison.ghost_folder(compared) is None
    bpy.ops.wm.save_mainfile()
    assert not cache.exists()


def test_a_duplicate_shows_the_ghost_and_leaves_it_to_the_first(compared):
    twin = compared.copy()
    bpy.context.scene.collection.objects.link(twin)
    folder = comparison.ghost_folder(compared)
    assert comparison.ghost_folder(twin) == folder
    bpy.context.view_layer.objects.active = twin
    assert bpy.ops.sinew.remove_ghost() == {"FINISHED"}
    assert not twin.sinew.compare.show and compared.sinew.compare.show and folder.exists()
    assert bpy.ops.sinew.compare() == {"FINISHED"}
    assert comparison.ghost_folder(twin) != folder and found(compared) is not None


def test_frames_that_are_gone_and_other_vertices_are_refused(baked):
    baked.data.vertices.add(1)
    with pytest.raises(RuntimeError, match="12 → 13 vertices|vertices of the mesh differ"):
        bpy.ops.sinew.compare()
    shutil.rmtree(recorded_folder(baked))
    with pytest.raises(RuntimeError, match="not on disk any more"):
        bpy.ops.sinew.compare()


def test_a_window_computes_both_in_the_child_one_after_the_other(body, saved):
    labels: set[str] = set()
    # What the button does in a window where nothing is baked.
    job_queue.begin(in_child(background.work_on(body, "")), in_child(comparison.work_on(body)))
    assert job_queue.place_of(body) == 1 and not bpy.ops.sinew.compare.poll()
    run_queue(labels)
    assert body.sinew.bake.status == "DONE" and body.sinew.bake.frames == 4
    assert any(label.startswith("1 of 2: ") for label in labels)
    assert any(label.startswith("Ghost, 2 of 2: ") for label in labels)
    assert found(body).frames.tolist() == [1, 2, 3, 4] and not body.sinew.compare.message


def test_esc_keeps_what_is_done_and_the_next_click_goes_on(body, saved):
    body.sinew.frame_end = 40
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    job_queue.begin(in_child(comparison.work_on(body)))
    assert job_queue.current().state.label.startswith("Ghost: ")
    drain_until(lambda: job_queue.current().state.frames_done >= 3)
    assert bpy.ops.sinew.stop_bake() == {"FINISHED"}
    drain_until(lambda: job_queue.current() is None)
    done = len(found(body).frames)
    assert 3 <= done < 40 and body.sinew.bake.status == "DONE"
    job_queue.begin(in_child(comparison.work_on(body)))
    drain_until(lambda: job_queue.current() is None)
    assert found(body).frames.tolist() == list(range(1, 41))
    assert at_once(comparison.second_steps(body)).resume


def test_the_ghost_follows_the_frame_and_the_object(compared, evaluated):
    frames = Ghost(comparison.ghost_folder(compared))
    assert frames.numbers() == [1, 2, 3, 4]
    assert [nearest([2, 3], frame) for frame in (1, 2, 9)] == [2, 2, 3] and nearest([], 1) is None
    at_rest = np.array([v.co for v in compared.data.vertices])
    assert np.abs(frames.at(1) - at_rest).max() < 1e-6
    store = FrameStore.open(comparison.ghost_folder(compared))
    assert np.abs(frames.at(4) - store.read(4)).max() < 1e-6, "the object's matrix is the identity"
    drawn = compare_view.CompareView()
    try:
        assert drawn.bodies(bpy.data.scenes.new("Of Another Window")) == []
        assert drawn.bodies(bpy.context.scene) == [compared]
        kept = drawn.ghost(compared)
        assert drawn.ghost(compared) is kept
        bpy.ops.sinew.remove_ghost()
        assert drawn.ghost(compared) is None
    finally:
        drawn.remove()


@pytest.mark.parametrize("mirrored", [1.0, -1.0])
def test_the_ghost_is_seen_through_and_faint_behind_something(compared, mirrored):
    card.make_ready()
    ghost, painter = Ghost(comparison.ghost_folder(compared)).batch(1), Painter()
    view = View(*card.straight_down(1.2))
    here = np.diag([mirrored, 1.0, 1.0, 1.0])
    here[:3, 3] = -0.5 * mirrored, -0.15, 0.0

    def draw(behind: float):
        wall = np.eye(4)
        wall[2, 3] = behind
        return lambda: painter.ghost(ghost, view, wall @ here, (1.0, 0.0, 0.0, 0.5))

    seen = card.picture(draw(0.0), background=(0.0, 0.0, 1.0))
    middle, beside = seen[28:36, 20:44], seen[4, 4]
    assert beside[:3] == pytest.approx([0.0, 0.0, 1.0])
    assert middle[..., 0].min() > 0.2 and middle[..., 2].min() > 0.2, "both are seen"
    assert middle[..., 0].max() < 0.4, "each place is drawn once"
    far = card.picture(draw(-30.0), background=(0.0, 0.0, 1.0))[28:36, 20:44]
    assert np.abs(far - [0.0, 0.0, 1.0, 1.0]).max() < 0.01, "beyond the far plane"


@pytest.mark.parametrize("kind", ["KEYS", "NODES", "CACHE"])
@pytest.mark.parametrize("below", [False, True])
def test_the_ghost_has_the_subdivision_of_the_body(body, saved, monkeypatch, below, kind):
    """Blender's modifier subdivides the ghost's own vertices; also for the duplicate that carries the bake."""
    if below:
        body.modifiers.new("Bent", "SIMPLE_DEFORM").angle = 0.3
    body.modifiers.new("Fine", "SUBSURF").levels, body.sinew.result = 2, kind
    assert bpy.ops.sinew.compare() == {"FINISHED"}
    assert body.sinew.bake.kind == kind and body.sinew.bake.on_itself == (not below or kind == "CACHE")
    places, drawn = [], compare_view.CompareView()
    monkeypatch.setattr(gpu_ghost, "vertices_of", lambda position, normal: places.append((position[:, :3], normal)))
    monkeypatch.setattr(gpu_ghost, "batch_of", lambda kind, vertices, triangles: triangles)
    try:
        assert drawn.bodies(bpy.context.scene) == [body]
        ghost = drawn.ghost(body)
        assert ghost.batch(4).max() == 11
        with monkeypatch.context() as patch:
            patch.setattr(job_queue, "reading", lambda: "with its modifiers off")
            drawn.subdivide()
            assert ghost.batch(4).max() == 11
        drawn.subdivide()
        triangles, made, (at, normals) = ghost.batch(4), modified_by_itself(body, ghost.at(4)), places[-1]
        assert np.abs(at[triangles].reshape(-1, 6, 3)[:, [0, 1, 2, 5]] - made).max() < 1e-6
        assert np.einsum("ni,ni->n", normals[:, :3], at - at.mean(axis=0)).min() > 0.0, "outwards"
        body.modifiers["Fine"].show_viewport = False
        carrier = body.sinew.bake.result or body
        carrier.modifiers["Fine"].show_viewport = False
        drawn.subdivide()
        assert ghost.batch(4).max() == 11
        carrier.modifiers["Fine"].show_viewport = True
        monkeypatch.setattr(subdivision_in, "MOST_TRIANGLES", 100)
        drawn.subdivide()
        assert "at level 1 of 2" in comparison.seen(body).trouble
    finally:
        drawn.remove()


def modified_by_itself(body, positions):
    """Corners (q,4,3) of what the modifier makes of the body's faces with vertices at (n,3)."""
    copy = bpy.data.objects.new("Copy", body.data.copy())
    copy.shape_key_clear()
    bpy.context.scene.collection.objects.link(copy)
    copy.data.vertices.foreach_set("co", positions.ravel())
    copy.modifiers.new("Fine", "SUBSURF").levels = 2
    with mesh_of(copy.evaluated_get(bpy.context.evaluated_depsgraph_get())) as mesh:
        return vertex_positions(mesh)[columns_of(mesh.loops, "vertex_index", 1, np.int32).reshape(-1, 4)]


@pytest.mark.parametrize("what", ["take", "bake"])
def test_what_is_undone_is_not_measured(soft_body, what):
    """After an undo the comparison is with the bake that is shown, whose frames are in their place again."""
    from ..live.test_live_take import record_take

    def shown():
        bpy.context.view_layer.objects.active = bpy.data.objects["Body"]
        return bpy.context.object

    soft_body.sinew.compare.solver, soft_body.sinew.compare.substeps = "OWN", 3
    assert bpy.ops.sinew.bake() == {"FINISHED"} and bpy.ops.sinew.compare() == {"FINISHED"}
    before = found(soft_body)
    bpy.ops.ed.undo_push(message="Before")
    if what == "take":
        rest = baking.open_store(soft_body).job().body.surface.positions
        record_take(soft_body, lambda frame: live.grab(11, rest[11] + [0.0, 0.3, 0.3], 1e4))
    else:
        soft_body.sinew.substeps = 2
        job_queue.begin(background.work_on(soft_body, "bake"))  # as a timer: undo takes no operator within another back
    assert bpy.ops.sinew.compare() == {"FINISHED"}
    of_other = found(shown())
    assert of_other.words != before.words or abs(of_other.largest - before.largest).max() > 0.0
    bpy.ops.ed.undo()
    body = shown()
    assert not [spring for spring in body.sinew.springs] and body.sinew.substeps == 1
    assert found(body) is None, "what the panel tells is of the bake that is shown"
    assert bpy.ops.sinew.compare() == {"FINISHED"}
    assert found(shown()).words == before.words and np.array_equal(found(shown()).largest, before.largest)
    assert bpy.ops.sinew.compare() == {"FINISHED"}
    again = found(shown())
    assert again.words == before.words and np.array_equal(again.largest, before.largest)
