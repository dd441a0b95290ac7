"""Sweeps of variants, in this process and by workers that may die: simulation, resuming, and refused input."""

from __future__ import annotations

import csv
import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sinew as sw
from sinew.core.api import sweeps, wedge_command
from sinew.core.foundation.errors import SettingsError, SinewError

from ..jobs import box_surface

TESTS = Path(__file__).resolve().parents[2]
SCENE = """
mesh = "bar.npz"
frames = [1, 4]
[resolution]
cells_across = 4
[solver]
solver = "newton"
[[material]]
name = "Flesh"
[[pins]]
vertices = [0, 1]
[[body]]
name = "left"
[[body]]
name = "right"
[body.contact]
bodies = false
[body.ground]
height = -5
"""


@pytest.fixture
def scene(tmp_path) -> Path:
    surface = box_surface()
    np.savez(tmp_path / "bar.npz", positions=surface.positions, triangles=surface.triangles)
    path = tmp_path / "bar.toml"
    path.write_text(SCENE, encoding="utf-8")
    return path


def test_variants_are_simulated_kept_and_changed(scene, tmp_path, monkeypatch):
    rows = [
        {"name": "soft", "Flesh.youngs_modulus": 2e4, "left.solver.substeps": 2},
        {"name": "stiff", "Flesh.youngs_modulus": 2e5},
    ]
    before, out = scene.read_bytes(), tmp_path / "out"
    found = sw.sweep(scene, rows, out)
    assert [(each["name"], each["body"], each["steps"]) for each in found] == [
        *(("soft", "left", 6), ("soft", "right", 3)),
        *(("stiff", "left", 3), ("stiff", "right", 3)),
    ]
    assert all(each["outcome"] == "done" and each["converged_steps"] == each["steps"] for each in found)
    assert found[1]["largest_displacement"] != found[3]["largest_displacement"]
    assert scene.read_bytes() == before and (out / "soft" / "picture.png").is_file()
    with open(out / "results.csv", newline="", encoding="utf-8") as file:
        (first, *_others) = csv.DictReader(file)
    assert (first["name"], first["Flesh.youngs_modulus"], first["iterations"]) == (
        *("soft", "20000.0"),
        str(found[0]["iterations"]),
    )

    simulated, simulate = [], sweeps.simulate
    monkeypatch.setattr(sweeps, "simulate", lambda *given: simulated.append(given[1]) or simulate(*given))
    rows[1]["Flesh.youngs_modulus"] = 4e5
    again = sw.sweep(sw.read_scene(scene), rows, out)
    assert simulated == [out / "stiff" / "frames"] and again[:2] == found[:2]
    assert again[3]["largest_displacement"] != found[3]["largest_displacement"]
    alone = sw.sweep(scene, rows[1:], tmp_path / "alone")
    assert [each["largest_displacement"] for each in alone] == [each["largest_displacement"] for each in again[2:]]


def test_a_failure_is_named_and_stops_nothing(scene, tmp_path, monkeypatch):
    simulate = sweeps.simulate

    def failing(job, *given):
        if job.bodies[0].solver.substeps == 2:
            raise SettingsError("It does not work.", "Try again.")
        return simulate(job, *given)

    monkeypatch.setattr(sweeps, "simulate", failing)
    found = sw.sweep(scene, [{"substeps": 2}, {"substeps": 1}], tmp_path / "out")
    assert [(each["name"], each["outcome"], each["reason"]) for each in found[:2]] == [
        ("substeps-2", "failed", "It does not work. Try again."),
        ("substeps-1", "done", ""),
    ]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (
            {"Flesh.youngs_modulos": 1.0},
            r"column 1, “Flesh.youngs_modulos”, is not a .*Close matches: Flesh.youngs_mod",
        ),
        (
            {"name": "a", "friction": 1.0},
            "column 1, “friction”, stands for several .*contact.friction, ground.friction",
        ),
        (
            {"name": "a", "substeps": "many"},
            r"Row 2 \(“a”\): column “substeps”: Solver: substeps is 'many', not a whole",
        ),
        ({"name": "a", "Flesh.density": -1.0}, "column “Flesh.density”: Material “Flesh”: density is -1 kg/m³"),
        ({"name": "a", "ground.friction": 0.1}, r"Row 2 \(“a”\): “left”: The body has no ground"),
        ({"name": "a", "solver": "newt"}, r"Row 2 \(“a”\): .*Unknown solver “newt”"),
        ({"name": "B"}, "The variant names “b” and “B” mean the same folder"),
    ],
)
def test_a_wrong_row_is_refused_before_anything_is_simulated(scene, tmp_path, row, words):
    with pytest.raises(SinewError, match=words):
        sw.sweep(scene, [{"name": "b"}, row], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_command_takes_rows_and_collects(scene, tmp_path, capsys):
    table, out = tmp_path / "table.csv", tmp_path / "out"
    table.write_text("name;right.ground.friction;left.solver.gravity\nflat;0.5;\ntilted;;[1, 0, -9.81]\n")
    command = [str(scene), str(table), "--out", str(out)]
    assert wedge_command.main([*command, "--rows", "2"]) == 0
    assert not (out / "results.csv").exists() and "tilted: done" in capsys.readouterr().err
    assert wedge_command.main([*command, "--collect"]) == 1
    assert "flat,0.5,,not baked" in (out / "results.csv").read_text()
    assert wedge_command.main(command) == 0
    said, text = capsys.readouterr().err, (out / "results.csv").read_text()
    assert "tilted: kept" in said and "flat,0.5,,done" in text and 'tilted,,"[1, 0, -9.81]",done' in text
    assert (out / "contact_sheet.png").stat().st_size > 10_000
    assert wedge_command.main([*command, "--row", "3"]) == 1
    assert "The table has no rows 3-3" in capsys.readouterr().err
    table.write_text("name,substeps\nlong,2,3\n")
    assert wedge_command.main(command) == 1 and "Row 1 of table.csv has 3 cells" in capsys.readouterr().err


def test_joblib_is_called_with_delayed_calls_and_may_break(scene, tmp_path, monkeypatch):
    class Parallel:
        n_jobs = 2

        def __call__(self, calls):
            for function, arguments, keywords in list(calls)[:1]:
                function(*arguments, **keywords)
            raise RuntimeError("A worker was killed.")  # joblib's TerminatedWorkerError is one

    retried = []
    monkeypatch.setattr(sweeps, "_in_own_process", lambda given: retried.append(given[1].name) or OSError("killed"))
    found = sw.sweep(scene, [{"name": "a"}, {"name": "b"}], tmp_path / "out", Parallel())
    assert [(each["name"], each["outcome"]) for each in found] == [("a", "done"), ("a", "done"), ("b", "failed")]
    assert retried == ["b"] and found[2]["reason"] == "The process died (killed)."
    with pytest.raises(SettingsError, match="The client is 'many'"):
        sw.sweep(scene, [{"name": "c"}], tmp_path / "out", "many")


ROWS = [{"name": name, "youngs_modulus": 2e4} for name in ("once", "always", "steady")]
DYING = f"""
import os, signal, sys, time
from pathlib import Path
sys.path.insert(0, {str(TESTS.parent)!r})
import build_addon
build_addon.mount()
from sinew.core.api import sweeps

simulate = sweeps.simulate


def dying(job, folder, tell):
    name, mark = folder.parent.name, folder.parent / "mark"
    for frame in simulate(job, folder, tell):
        yield frame
        if frame.number == 2 and (name == "always" or name == "once" and not mark.exists()):
            # A pool dies with its first worker: that of "once", or else its second simulation would be its first.
            while name == "always" and not (folder.parent.parent / "once" / "mark").exists():
                time.sleep(0.01)
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)


sweeps.simulate = dying


def clients():
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    def dask():
        import distributed
        return distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None)

    return dict(pool=lambda: ProcessPoolExecutor(2, get_context("spawn")), own=lambda: 2, dask=dask)


if __name__ == "__main__":
    for each in sweeps.sweep("bar.toml", {ROWS!r}, "out", clients()[sys.argv[1]](), print):
        print(each["name"], each["outcome"], each["largest_displacement"], each["reason"])
"""


needs_dask = pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="Dask is not installed")


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
@pytest.mark.parametrize("client", ["pool", "own", pytest.param("dask", marks=needs_dask)])
def test_the_others_finish_if_a_worker_dies(scene, tmp_path, client):
    """On two local processes. The variant is simulated once more; a later call resumes what failed."""
    scene.write_text(SCENE.partition("[[body]]")[0], encoding="utf-8")
    (tmp_path / "dying.py").write_text(DYING, encoding="utf-8")

    command = [sys.executable, "dying.py", client]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    found = {line.split()[0]: line for line in done.stdout.splitlines()[-3:]}
    assert " done " in found["once"] and " done " in found["steady"]
    assert " failed None The process died" in found["always"]
    assert found["once"].replace("once", "steady") == found["steady"], "resumed to the same result"
    if client != "own":
        return
    said = []
    found = sw.sweep(scene, ROWS, tmp_path / "out", None, said.append)
    assert [each["outcome"] for each in found] == ["done"] * 3
    assert "steady: kept" in "".join(said) and "once: kept" in "".join(said)
