"""``sinew wedge`` with a .blend: baking and resuming variants, refused input, results and contact sheet."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import bpy
import pytest
from sinew.blender_addon import command
from sinew.blender_addon.command import bake, batch, contact_sheet

TABLE = "name,Soft Flesh.youngs_modulus,substeps,mass_damping\nsoft,2e4,2,\nstiff,2e5,,1.5\n"


@pytest.fixture
def table(tmp_path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


@pytest.fixture
def small(monkeypatch):
    """Cells of the contact sheet as small as the pictures of ``shot``."""
    monkeypatch.setattr(contact_sheet, "WIDTH", 32)


def results(folder: Path) -> dict[str, dict[str, str]]:
    with open(folder / "results.csv", encoding="utf-8", newline="") as file:
        return {row["name"]: row for row in csv.DictReader(file)}


def wedge(saved, table, *words) -> int:
    """The exit code of the command on the saved file."""
    bpy.ops.wm.open_mainfile(filepath=str(saved))
    return command.run(["wedge", str(table), *map(str, words)])


def test_a_wedge_from_the_table_to_the_contact_sheet(shot, saved, table, blender, tmp_path, capfd, small):
    out, before = tmp_path / "out", saved.read_bytes()
    assert wedge(saved, table, "--out", out, "--jobs", 2, "--blender", blender) == 0
    assert saved.read_bytes() == before and not (saved.parent / "sinew_cache").exists()
    soft, stiff = (results(out)[name] for name in ("soft", "stiff"))
    assert soft["outcome"] == stiff["outcome"] == "done" and (soft["steps"], stiff["steps"]) == ("2", "1")
    assert soft["substeps"] == "2" and stiff["substeps"] == ""
    # A free end falls by the sum of k g dt²: implicit Euler in one step, and in two of half the length.
    fallen = [float(row["largest displacement (m)"]) / (9.81 / 24.0**2) for row in (soft, stiff)]
    assert fallen == pytest.approx([3.0 / 4.0, 1.0], rel=0.02)
    sheet = bpy.data.images.load(str(out / "contact_sheet.png"))
    assert tuple(sheet.size) == (2 * 32, 32 + contact_sheet.LABEL)
    bpy.ops.wm.open_mainfile(filepath=str(out / "stiff" / "scene.blend"))
    body = bpy.data.objects["Body"].sinew
    assert body.materials[0].log_stiffness == pytest.approx(5.30103) and body.mass_damping == 1.5
    assert body.bake.status == "DONE" and len(bpy.data.objects["Body"].data.shape_keys.key_blocks) == 2

    table.write_text(TABLE.replace("1.5", "2.5"), encoding="utf-8")
    capfd.readouterr()
    assert wedge(saved, table, "--out", out, "--collect") == 1
    assert results(out)["stiff"]["outcome"] == "not baked", "the result of other settings does not count"
    assert wedge(saved, table, "--out", out, "--blender", blender) == 0
    said = capfd.readouterr().err
    assert "soft: Body: complete, nothing to bake" in said and "stiff: Body: frame 2 (2/2)" in said
    assert results(out)["stiff"]["mass_damping"] == "2.5"


def test_a_crash_is_named_and_the_others_finish(shot, saved, table, blender, tmp_path, capfd, small):
    out = tmp_path / "out"
    crashing = saved.with_name("STAND_IN_CRASH.blend")
    bpy.ops.wm.save_as_mainfile(filepath=str(crashing), copy=True)
    assert wedge(crashing, table, "--out", out, "--blender", blender) == 1
    row, said = results(out)["soft"], capfd.readouterr().err
    assert row["outcome"] == "failed" and "Blender ended" in row["reason"] and (out / "contact_sheet.png").is_file()
    assert said.count("soft: started") == said.count("stiff: started") == 2 and "2 variants: 0 done, 2 failed" in said


@pytest.mark.skipif(sys.platform == "win32", reason="a killed command file leaves the Blender that it started")
def test_a_variant_whose_process_is_killed_is_resumed(shot, saved, table, blender, tmp_path, capfd, small, monkeypatch):
    out, real, killed = tmp_path / "out", batch._hear, []

    def killing(task, text):
        real(task, text)
        if "frame 1 (1/2)" in text and task.name == "soft" and not killed:
            killed.append(task.process.pid)
            task.process.kill()

    monkeypatch.setattr(batch, "_hear", killing)
    assert wedge(saved, table, "--out", out, "--blender", blender, "--logs", tmp_path / "logs") == 0
    said = capfd.readouterr().err
    assert len(killed) == 1 and "soft: Blender ended by signal 9." in said and "2 variants: 2 done, 0 failed" in said
    assert said.count("soft: Body: frame 1 (1/2)") == said.count("soft: Body: frame 2 (2/2)") == 1
    assert {row["outcome"] for row in results(out).values()} == {"done"}
    (log,) = (tmp_path / "logs").glob("soft-*.log")
    assert log.read_text().count("frame 1 (1/2)") == 1, "output of both processes"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name,Flesh.youngs_modulus\na,1\n", "column 1, “Flesh.youngs_modulus”, is not a setting of the scene. Close"),
        ("name,friction\na,1\n", "Write one of contact.friction, ground.friction, collider.friction"),
        ("substeps\n2\nmany\n", "Row 2 (“substeps-many”): column “substeps”: Solver: substeps is 'many', not a whole"),
        ("substeps\n2\n0\n", "Row 2 (“substeps-0”): column “substeps”: Solver: substeps is 0. Set it to at least 1"),
        ("solver.solver\nnewt\n", "Row 1 (“solver-newt”): solver.solver cannot be 'newt'"),
        ("ground.friction\n0.1\n", "“Body” has no ground. Enable it"),
        ("youngs_modulus\n1e5\n", "Soft Flesh.youngs_modulus of “Body” is animated"),
        ("name,substeps\na/b,2\n", "The variant name 'a/b' is not a valid folder name"),
        ("substeps\n2\n2\n", "mean the same folder"),
        ("", "The table has no rows"),
    ],
)
def test_a_wrong_table_is_refused_before_anything_is_baked(shot, saved, table, tmp_path, capfd, text, words):
    bpy.data.objects["Body"].sinew.materials[0].keyframe_insert("log_stiffness", frame=1)
    bpy.ops.wm.save_mainfile()
    table.write_text(text, encoding="utf-8")
    assert wedge(saved, table, "--out", tmp_path / "out") == 1
    assert words in capfd.readouterr().err and not (tmp_path / "out").exists()


def test_files_that_are_not_from_a_wedge_stay(shot, saved, table, blender, tmp_path, capfd, small):
    (tmp_path / "soft").mkdir()
    other = tmp_path / "soft" / "scene.blend"
    other.write_bytes(b"mine")
    assert wedge(saved, table, "--out", tmp_path, "--row", 1) == 1
    assert "is not from a wedge" in capfd.readouterr().err and other.read_bytes() == b"mine"
    (tmp_path / "stiff").symlink_to(tmp_path / "soft")
    assert wedge(saved, table, "--out", tmp_path, "--row", 2) == 1
    assert "is a link out of the output folder" in capfd.readouterr().err
    for _ in range(2):  # a record of the first failure would declare the file a variant
        assert wedge(saved, table, "--out", tmp_path, "--blender", blender) == 1
    assert other.read_bytes() == b"mine" and not list((tmp_path / "soft").glob("*.json"))


def test_a_variant_of_a_baked_file_resumes_after_a_crash(shot, saved, table, tmp_path, capfd, monkeypatch):
    assert command.run(["bake"]) == 0
    before, real = (
        {path: path.read_bytes() for path in saved.parent.rglob("*") if path.is_file()},
        bake.library.bake_group,
    )

    def crashing(*given):
        real(*given, until=1)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(bake.library, "bake_group", crashing)
        with pytest.raises(KeyboardInterrupt):
            wedge(saved, table, "--out", tmp_path / "out", "--row", 2)
    capfd.readouterr()
    assert wedge(saved, table, "--out", tmp_path / "out", "--row", 2) == 0
    said = capfd.readouterr().err
    assert "frame 2 (2/2)" in said and "frame 1 (" not in said
    obj = bpy.data.objects["Body"]
    assert len(obj.data.shape_keys.key_blocks) == 2 and obj.sinew.bake.status == "DONE"
    assert {path: path.read_bytes() for path in before} == before, "source and its frames"


def test_a_failure_is_recorded_with_its_reason(shot, saved, table, tmp_path, capfd):
    body = bpy.data.objects["Body"]
    body.vertex_groups["Pins"].add(range(12), 1.0, "REPLACE")  # every vertex is pinned
    bpy.ops.wm.save_mainfile()
    assert wedge(saved, table, "--out", tmp_path / "out", "--row", 1) == 1
    record = json.loads((tmp_path / "out" / "soft" / "variant.json").read_text())
    assert record["outcome"] == "failed" and "pinned" in record["reason"]
