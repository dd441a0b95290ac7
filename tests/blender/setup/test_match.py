"""Report of a subspace's match with the full mesh: words and a table in the Solver panel, and in a comparison."""

from __future__ import annotations

import bpy
import pytest
from sinew.blender_addon.bake import bake_messages, baking, comparison
from sinew.blender_addon.draw_handlers import mode_playback
from sinew.blender_addon.properties.choices import compared_solver_names
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.blender_addon.scene_import.settings_in import compared
from sinew.core.jobs.job.job_changes import details
from sinew.core.jobs.store import cached_spectra
from sinew.core.simulation.preparation.prepare import prepare
from sinew.ui.vibrations import SINEW_UL_vibrations

from ..cache.test_cache_owner import content
from ..drawn import Drawn, drawn_by, panels_of


def panel(name):
    return next(cls for cls in panels_of("PHYSICS") if cls.bl_idname == f"PHYSICS_PT_sinew_{name}")


@pytest.fixture
def matched(body):
    """Prepared with so few modes that not all vibrations match."""
    settings = body.sinew
    settings.solver, settings.modes, settings.match_modes = "subspace_mixed_fem", 1, 12
    said = []
    prepare(make_job(body, bpy.context), on_event=said.append)
    bake_messages.note_mesh(body, next(event for event in said if event.kind == "mesh"))
    return body


def test_words_and_table_tell_of_the_match(matched):
    record = matched.sinew.bake
    right = [k for k, each in enumerate(record.vibrations) if each.right]
    assert len(record.vibrations) == 12 and 0 < len(right) < 12
    words = drawn_by(panel("solver")).labels
    assert record.match in words and record.match.startswith(f"{len(right)} of 12 vibrations match the full mesh")
    assert record.match not in record.mesh_warning
    drawn = drawn_by(panel("vibrations"))
    assert drawn.labels[:5] == ["", "Original Hz", "Matched Hz", "Ratio", "Overlap"]
    assert drawn.text_of("sinew.play_vibration") == "Play" and "swing" in drawn.properties
    for k, each in enumerate(record.vibrations):
        row = Drawn()
        SINEW_UL_vibrations.draw_item(None, None, row, record, each, 0, None, "", k)
        row = row.labels
        assert row[0] == str(k + 1) and float(row[1]) == pytest.approx(each.frequency, rel=6e-3)
        if k in right:
            assert float(row[2]) == pytest.approx(each.right, rel=6e-3)
            assert float(row[3]) == pytest.approx(each.right / each.frequency, abs=6e-3)
        else:
            assert row[2:4] == ["as is", ""]
        assert row[4] == f"{each.share:.0%}"


def test_nothing_is_shown_where_nothing_is_matched(matched):
    settings = matched.sinew
    settings.match_full_space = False
    shown = drawn_by(panel("solver"))
    assert settings.bake.match not in shown.labels and "match_modes" not in shown.properties
    assert not drawn_by(panel("vibrations")).labels
    assert not bpy.ops.sinew.find_vibrations.poll()
    settings.match_full_space, settings.solver = True, "mixed_fem"
    assert settings.bake.match not in drawn_by(panel("solver")).labels and not drawn_by(panel("vibrations")).labels


def test_what_cannot_be_matched_is_told_without_a_table(matched):
    record = matched.sinew.bake
    record.vibrations.clear()
    record.match = "The vibrations of the full mesh cannot be found."
    assert record.match in drawn_by(panel("solver")).labels
    drawn = drawn_by(panel("vibrations"))
    assert "Matched Hz" not in drawn.labels and [name for name, _ in drawn.operators] == ["sinew.find_vibrations"]


def test_a_body_in_all_its_vertices_has_them_too(body, saved):
    settings = body.sinew
    settings.solver, settings.match_modes, settings.match_cells = "mixed_fem", 3, 8
    assert not drawn_by(panel("vibrations")).operators and not bpy.ops.sinew.find_vibrations.poll()
    settings.match_resolution = True
    assert drawn_by(panel("vibrations")).text_of("sinew.find_vibrations") == "Find Vibrations"
    assert bpy.ops.sinew.find_vibrations() == {"FINISHED"}
    assert len(settings.bake.vibrations) == 3 and len(mode_playback.shapes_of(body).shapes) == 3
    assert drawn_by(panel("vibrations")).text_of("sinew.play_vibration") == "Play"


def test_a_lattice_that_is_no_finer_is_told_with_a_remedy_and_the_bake_made_as_without(body, saved):
    settings = body.sinew
    settings.solver, settings.match_resolution, settings.match_cells = "newton", True, settings.cells_across
    assert bpy.ops.sinew.find_vibrations() == {"FINISHED"}
    found = settings.bake.match
    assert found.startswith("Vibrations are not matched: the finer lattice has ") and "Raise Match Cells." in found
    assert found in drawn_by(panel("solver")).labels and not settings.bake.vibrations
    settings.bake.match = ""
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert settings.bake.match == found and settings.bake.status == "DONE"
    settings.match_cells = 2 * settings.cells_across
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert settings.bake.vibrations and "match the finer lattice" in settings.bake.match


def test_they_are_found_before_a_bake_which_goes_on_with_them(body, saved, monkeypatch):
    settings = body.sinew
    settings.solver, settings.modes, settings.match_modes = "subspace_mixed_fem", 4, 5
    assert bpy.ops.sinew.find_vibrations() == {"FINISHED"}
    found = [each.frequency for each in settings.bake.vibrations]
    assert len(found) == 5 and settings.bake.status == "NONE" and not baking.has_store(body)

    def never(*_arguments):
        raise AssertionError("found anew")

    monkeypatch.setattr(cached_spectra, "find_spectra", never)
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert [each.frequency for each in settings.bake.vibrations] == found
    monkeypatch.undo()
    frames, settings.match_modes = content(baking.open_store(body).folder), 3
    assert bpy.ops.sinew.find_vibrations() == {"FINISHED"}
    assert len(settings.bake.vibrations) == 3 and settings.bake.status == "DONE"
    assert content(baking.open_store(body).folder) == frames, "the bake stays as it is"


def test_the_next_preparation_replaces_them(matched):
    settings, said = matched.sinew, []
    settings.match_modes = 2
    prepare(make_job(matched, bpy.context), on_event=said.append)
    bake_messages.note_mesh(matched, next(event for event in said if event.kind == "mesh"))
    assert len(settings.bake.vibrations) <= 2
    settings.property_unset("bake")
    assert not settings.bake.vibrations and not settings.bake.match


def test_a_bake_is_compared_with_one_that_is_not_matched(body, saved):
    settings = body.sinew
    settings.solver, settings.modes = "subspace_mixed_fem", 4
    compare = settings.compare
    compare.solver, compare.match_full_space = "OWN", "OFF"
    assert "match_full_space" in drawn_by(panel("compare")).properties
    assert bpy.ops.sinew.compare() == {"FINISHED"}, compare.message
    comparison.look_again(body)
    difference = comparison.seen(body).difference
    assert difference.words == "solver (match full space on → off)" and difference.largest.max() > 0.0
    assert settings.bake.match and settings.bake.vibrations
    compare.solver = "newton"
    assert "match_full_space" not in drawn_by(panel("compare")).properties


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("name, solver", [("match_full_space", "OWN"), ("match_resolution", "newton")])
def test_a_comparison_has_its_own_match_or_the_body_s(body, name, solver, own):
    settings = body.sinew
    settings.solver, settings.compare.solver = "subspace_mixed_fem", solver
    setattr(settings, name, own)
    job = make_job(body, bpy.context)
    for chosen, expected in (("OWN", own), ("ON", True), ("OFF", False)):
        setattr(settings.compare, name, chosen)
        assert getattr(compared(job, settings.compare, *compared_solver_names(settings)).body.solver, name) == expected


def test_the_method_stands_among_what_is_advanced_where_there_is_a_match(body):
    settings = body.sinew
    settings.solver = "subspace_fem"
    assert "match_method" in drawn_by(panel("advanced")).properties
    settings.match_full_space = False
    assert "match_method" not in drawn_by(panel("advanced")).properties


def test_a_ghost_has_a_method_of_its_own_where_it_is_matched(body):
    settings, chosen = body.sinew, body.sinew.compare
    settings.solver, chosen.solver, chosen.match_method = "subspace_fem", "OWN", "one_stiffness"
    job = make_job(body, bpy.context)
    assert job.body.solver.match_method == "automatic"
    assert compared(job, chosen, *compared_solver_names(settings)).body.solver.match_method == "one_stiffness"
    assert details("solver", job, compared(job, chosen, *compared_solver_names(settings))) == [
        "match method Automatic → One Stiffness"
    ]
    chosen.match_full_space = "OFF"
    assert compared(job, chosen, *compared_solver_names(settings)).body.solver.match_method == "automatic"


def test_what_cannot_serve_the_solver_is_told_when_the_button_is_pressed(body, saved):
    settings = body.sinew
    settings.solver, settings.match_method = "subspace_mixed_fem", "current_modes"
    with pytest.raises(RuntimeError, match="EigenFit \\(Current Modes\\) does not work with"):
        bpy.ops.sinew.bake()
