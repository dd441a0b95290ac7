"""Report of a bake afterwards: in the panel, as a text, on the clipboard, on the command line."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path

import bpy
import pytest
import sinew
from sinew.blender_addon import command
from sinew.blender_addon.setup import diagnostics
from sinew.ui.diagnostics import draw_report


@pytest.fixture
def baked(body, saved):
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    return body


def test_the_panel_has_a_summary(baked):
    lines = baked.sinew.bake.report.splitlines()
    assert lines[0].startswith("Mixed FEM, frames 2-4, 3 steps")
    assert any(line.startswith("Iterations per step") for line in lines) and "Every step converged." in lines
    panel = draw_report[0]
    assert panel.poll(bpy.context)
    bpy.ops.sinew.delete_bake()
    assert not panel.poll(bpy.context) and baked.sinew.bake.report == ""


def test_the_linear_solver_and_its_reason_are_told(body, saved):
    body.sinew.linear_solver = "pcg"
    bpy.ops.sinew.bake()
    assert body.sinew.bake.status == "DONE"
    assert body.sinew.bake.linear_solver.startswith("conjugate gradients")
    assert "as chosen" in body.sinew.bake.linear_solver
    assert f"Linear solver: {body.sinew.bake.linear_solver}" in body.sinew.bake.report
    bpy.ops.sinew.delete_bake()
    assert body.sinew.bake.linear_solver == ""


def test_a_linear_solver_that_is_not_installed_is_refused(body, saved, monkeypatch):
    from sinew.core.numerics.linear_solvers import registry

    monkeypatch.setattr(registry, "installed", lambda solver: True)
    body.sinew.linear_solver = "pardiso"
    monkeypatch.setattr(registry, "installed", lambda solver: solver.name != "pardiso")
    with pytest.raises(RuntimeError, match="PARDISO is not installed"):
        bpy.ops.sinew.bake()
    assert "set Linear Solver to Automatic" in body.sinew.bake.message


def test_the_report_is_a_text(baked):
    assert bpy.ops.sinew.open_report() == {"FINISHED"} and bpy.ops.sinew.open_report() == {"FINISHED"}
    assert [text.name for text in bpy.data.texts] == ["Sinew Report Body"]
    words = bpy.data.texts[0].as_string()
    assert words.startswith("Body\n\nMixed FEM") and "Factorization" in words and "\n    4 " in words


def test_diagnostics_have_versions_settings_and_report_but_neither_names_nor_paths(body, saved):
    body.name, body.sinew.materials[0].name = "Zanzibar", "Quetzal"
    body.sinew.substeps, body.sinew.max_iterations, body.sinew.tolerance = 3, 1, 1e-7
    bpy.ops.sinew.bake()
    body.sinew.bake.message += f" “Zanzibar” is blocked. The frames are in {saved.parent}/My Film/x. Bake again."
    assert bpy.ops.sinew.copy_diagnostics() == {"FINISHED"}
    said = diagnostics.text(body)
    for words in (
        f"Sinew {sinew.__version__}", f"Blender {bpy.app.version_string}", f"numba {metadata.version('numba')}",
        "\n    substeps = 3\n", "\n    materials[0]\n", "Bake: done", "Frames 2-4 did not converge", "“…” is blocked",
    ):  # fmt: skip
        assert words in said, (words, said)
    for name in ("Zanzibar", "Quetzal", "My Film", str(saved.parent), str(Path.home())):
        assert name not in said
    assert diagnostics.without_names(r"1/2 of 3 m / s in C:\Users\jo x.blend") == "1/2 of 3 m / s in …"


def test_without_a_bake_there_is_none(body):
    assert not bpy.ops.sinew.open_report.poll() and not bpy.ops.sinew.copy_report.poll()


def test_frames_removed_from_disk_are_told(baked):
    from sinew.blender_addon.cache.frame_folders import recorded_folder

    for path in recorded_folder(baked).glob("frame_*"):
        path.unlink()
    with pytest.raises(RuntimeError, match="no baked frames"):
        bpy.ops.sinew.open_report()


def test_frames_that_did_not_settle_are_named(body, saved):
    body.sinew.max_iterations, body.sinew.tolerance = 1, 1e-7
    bpy.ops.sinew.bake()
    assert "Frames 2-4 did not converge" in body.sinew.bake.message
    assert "Frames 2-4 did not converge" in body.sinew.bake.report and "Worst frame: " in body.sinew.bake.report


def test_the_command_prints_it(baked, capsys):
    bpy.ops.wm.save_mainfile()
    capsys.readouterr()
    assert command.run(["report"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Body\n\nMixed FEM") and "Factorization" in said
    assert command.main([bpy.data.filepath, "--csv"], "report") == 0
    assert "\nBody,Frame,Steps," in f"\n{capsys.readouterr().out}"


def test_the_command_reports_all_bodies_to_programs(baked, tmp_path, capsys):
    """One that is not baked does not hide the others; Blender's own lines are not in the file."""
    for name in ("Twin", "Unbaked"):
        twin = baked.copy()
        twin.data, twin.name = baked.data.copy(), name
        bpy.context.scene.collection.objects.link(twin)
        if name == "Twin":
            bpy.context.view_layer.objects.active = twin
            twin.shape_key_clear()
            bpy.ops.sinew.bake()
        else:
            twin.sinew.property_unset("bake")
    capsys.readouterr()
    table, lines = tmp_path / "report.csv", tmp_path / "report.jsonl"
    assert command.run(["report", "--csv", "--output", str(table)]) == 1
    said = capsys.readouterr()
    assert said.err.splitlines()[-1] == "sinew: error: “Unbaked” has no baked frames to resume from. Bake it first."
    rows = [line.split(",") for line in table.read_text().splitlines()]
    assert [row[:2] for row in rows[1:]] == [[name, f"{k}"] for name in ("Body", "Twin") for k in (2, 3, 4)]
    assert command.run(["report", "--json", "--output", str(lines), "--object", "Body"]) == 0
    about, *frames = map(json.loads, lines.read_text().splitlines())
    assert about["event"] == "report" and about["body"] == "Body" and about["solver"] == "Mixed FEM"
    assert [frame["frame"] for frame in frames] == [2, 3, 4] and all(frame["converged"] for frame in frames)
    assert sum(frame["seconds"] for frame in frames) == pytest.approx(about["seconds"]) and about["unconverged"] == []
    assert command.run(["report", "--csv", "--json"]) == 2


def test_the_command_says_that_there_is_no_bake(body, saved, capsys):
    assert command.run(["report"]) == 1
    assert "error: “Body” has no baked frames to resume from. Bake it first." in capsys.readouterr().err
    assert command.run(["report", "--object", "Nobody"]) == 1
