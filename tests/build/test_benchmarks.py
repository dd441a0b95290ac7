"""The runner of the benchmarks, with a benchmark of its own."""

from __future__ import annotations

import json
import os
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from sinew.benchmarks import bodies, measures, pictures, processes, registry
from sinew.benchmarks.crossings import crossings
from sinew.benchmarks.rotation_aware_admm import RotationAwareADMM
from sinew.core.foundation.process.process_memory import peak_memory


@pytest.fixture
def fake(monkeypatch):
    def cases(data):
        yield registry.Case("small", lambda: [registry.row("small", "error", 1e-9, "m", at_most=1e-8)])
        yield registry.Case(
            "large", lambda: [registry.row("large", "rate", 2.0, "1/s", at_least=3.0), registry.row("large", "n", 7)]
        )

    module = types.SimpleNamespace(cases=cases, __doc__="A stand-in.")
    monkeypatch.setattr(registry, "names", lambda: ["fake"])
    monkeypatch.setattr(registry.importlib, "import_module", lambda name, package: module)


def test_rows_are_shown_and_written(fake, tmp_path, capsys):
    target = tmp_path / "rows.json"
    assert registry.run("fake", "*", None, target) == 1
    rows = json.loads(target.read_text())
    assert [(r["case"], r["holds"]) for r in rows] == [("small", True), ("large", False), ("large", None)]
    assert set(rows[0]) == {"case", "metric", "value", "unit", "bar", "holds"}
    assert "NO" in capsys.readouterr().out


def test_cases_are_chosen_by_pattern(fake, capsys):
    assert registry.run("fake", "sm*", None, None) == 0
    assert "large" not in capsys.readouterr().out


def test_unknown_names_are_said(fake, capsys):
    assert registry.run("nothing", "*", None, None) == 2
    assert registry.run("fake", "nothing", None, None) == 2
    assert "choose from: fake" in capsys.readouterr().err


def test_list_shows_what_each_is_for(fake, capsys):
    assert registry.show_list() == 0
    assert "A stand-in." in capsys.readouterr().out


def test_modules_and_folders_are_benchmarks():
    assert registry.names() == [
        "attached",
        "bits",
        "conjac",
        "contact",
        "dense",
        "eigenfit",
        "elements",
        "full-space",
        "large",
        "mixed-fem",
        "multilevel",
        "muscles",
        "physics",
        "results",
        "spine",
        "subspace",
    ]


def test_a_folder_chains_its_modules(tmp_path, monkeypatch):
    folder = tmp_path / "chained_bench"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    for name, case in (("b_second", "two"), ("a_first", "one")):
        (folder / f"{name}.py").write_text(f"def cases(data):\n    yield {case!r}, data\n")
    monkeypatch.syspath_prepend(tmp_path)
    package = registry.importlib.import_module("chained_bench")
    assert list(registry.chained(package, tmp_path)) == [("one", tmp_path), ("two", tmp_path)]
    for name in [name for name in sys.modules if name.startswith("chained_bench")]:
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.parametrize(
    "name", ["bits", "conjac", "contact", "elements", "mixed-fem", "muscles", "full-space", "physics", "subspace"]
)
def test_case_names_are_unique(name):
    found = [case.name for case in registry.load(name).cases(None)]
    assert len(found) == len(set(found))


def test_crossings_are_found_whatever_the_sizes_of_faces():
    small = np.array([[0.1, 0.1, -0.05], [0.2, 0.1, 0.05], [0.1, 0.2, -0.05]])
    large = 40.0 * np.array([[-1.0, -1.0, 0.0], [2.0, -1.0, 0.0], [-1.0, 2.0, 0.0]])
    faces = np.arange(6).reshape(2, 3)
    found = crossings(np.concatenate([small, large]), faces)
    assert found.tolist() == [[0, 1, 1], [1, 2, 1]]
    assert not len(crossings(np.concatenate([small + [0.0, 0.0, 0.1], large]), faces))


@pytest.fixture
def bits(monkeypatch, tmp_path):
    monkeypatch.setattr(pictures, "FOLDER", tmp_path)
    return registry.load("bits")


def scene_rows(bits, name):
    (found,) = [case for case in bits.cases(None) if case.name == name]
    return {row.metric: row for row in found.run()}


def test_a_scene_has_the_same_bits_twice(bits, monkeypatch, tmp_path):
    first = scene_rows(bits, "linear_newton")
    assert "same bits" not in first
    monkeypatch.setenv("SINEW_BITS_REFERENCE", str(tmp_path / "bits"))
    again = scene_rows(bits, "linear_newton")
    assert again["same bits"].value == "yes" and again["farthest from the reference, of its size"].value == 0.0
    assert [again[each].value for each in ("surface", "states")] == [
        first[each].value for each in ("surface", "states")
    ]


def test_other_bits_are_told_and_farther_than_rounding_fails(bits, tmp_path):
    frames = bits.Frames(*np.random.default_rng(0).uniform(size=(3, 2, 5, 3)))
    size = np.linalg.norm(np.ptp(frames.surface[0], axis=0))
    for part, holds in ((1e-14, True), (1e-9, False)):
        np.savez(tmp_path / "moved.npz", **frames._replace(surface=frames.surface + [part * size, 0, 0])._asdict())
        far, same = bits.compared("moved", frames, tmp_path)
        assert far.value == pytest.approx(part, rel=0.1) and far.holds is holds and same.value == "no"
    np.savez(tmp_path / "faster.npz", **frames._replace(velocities=frames.velocities + 1e-9)._asdict())
    far, same = bits.compared("faster", frames, tmp_path)
    assert far.value == 0.0 and same.value == "no"
    for other in (bits.Frames(*(array[:, 1:] for array in frames)), bits.Frames(*(array[1:] for array in frames))):
        np.savez(tmp_path / "another.npz", **other._asdict())
        assert next(bits.compared("another", frames, tmp_path)).holds is False
    assert next(bits.compared("not_there", frames, tmp_path)).holds is False


def test_pictures_show_curves_and_bodies(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "FOLDER", tmp_path)
    mesh = bodies.block((4, 1, 1), (0.4, 0.1, 0.1))
    plot = pictures.Plot("decay", "step", "error", [pictures.Curve("ours", [1, 2, 3], [1.0, 0.1, 0.01])], log_y=True)
    shot = pictures.Snapshot("bar", mesh.rest_positions, mesh.tets, bodies.stiff_slabs(mesh, 1e9, 1e6))
    path = pictures.draw("some-bench", "some_case", [plot, shot])
    assert path == tmp_path / "some-bench" / "some_case.png"
    pixels = np.asarray(Image.open(path).convert("RGB")).astype(int)
    right = pixels[:, pixels.shape[1] // 2 :]
    reddish = (right[..., 0] > right[..., 2] + 40).mean()
    bluish = (right[..., 2] > right[..., 0] + 40).mean()
    assert 0.01 < reddish < 0.9 and 0.01 < bluish < 0.9


def test_blocks_fill_their_box_and_slabs_alternate():
    mesh = bodies.block((8, 2, 3), (0.8, 0.2, 0.3))
    assert len(mesh.rest_positions) == 9 * 3 * 4 and len(mesh.tets) == 6 * 8 * 2 * 3
    assert (mesh.volumes > 0).all() and np.isclose(mesh.volumes.sum(), 0.8 * 0.2 * 0.3, rtol=1e-12)
    E = bodies.stiff_slabs(mesh, 1e9, 1e6)
    assert (E == 1e9).sum() == len(E) // 2
    assert len(bodies.held_end(mesh)) == 12


@pytest.fixture
def problem():
    return measures.StepProblem(*bodies.bent_beam((6, 2, 2), 1e5))


def test_the_measured_gradient_is_that_of_the_measured_value(problem):
    rng = np.random.default_rng(0)
    x = problem.start.positions + 0.01 * rng.standard_normal(problem.start.positions.shape)
    dx = 1e-6 * rng.standard_normal(x.shape)
    dx[problem.model.pinned] = 0.0
    slope = (problem.value(x + dx) - problem.value(x - dx)) / 2
    assert np.isclose(slope, np.sum(problem.gradient(x) * dx), rtol=1e-6)


def test_decrement_and_gradients_vanish_at_the_solvers_minimiser(problem):
    end, report = problem.step("newton", 100)
    assert problem.decrement(end.positions) < 1e-9 * problem.decrement(problem.start.positions)
    norms = measures.gradient_norms(report, 100)
    assert len(norms) == 101 and np.isclose(norms[-1], np.linalg.norm(problem.gradient(end.positions)), rtol=0.5)
    noise = problem.gradient_noise(end.positions)
    assert 0.0 < noise < 1e-9 * norms[0]


def test_admm_comes_to_the_same_minimiser(problem):
    minimiser = problem.step("newton", 100)[0].positions
    seen = []
    RotationAwareADMM(problem).iterate(150, seen.append)
    apart = [np.abs(x - minimiser).max() for x in seen]
    assert apart[-1] < 1e-3 * apart[0]


def test_costs_have_all_parts(problem):
    costs = measures.iteration_cost(problem.model, problem.start, ("mixed_fem", "newton"), 1)
    for cost in costs:
        assert set(cost.parts) == set(measures.PARTS) and cost.parts["factorization"] > 0.0
        assert np.isfinite([*cost.parts.values(), cost.whole]).all(), "a busy machine may make differences of times < 0"


def test_a_function_runs_in_a_process_of_its_own():
    """A new process counts its own memory, not that of this one with a large array."""
    assert np.ones(4 * 10**7).sum() > 0
    assert 10**7 < processes.fresh(peak_memory) < peak_memory()
    with pytest.raises(RuntimeError, match="TypeError"):
        processes.fresh(peak_memory, "too many")


def test_peers_live_in_an_environment_of_their_own(monkeypatch, tmp_path):
    monkeypatch.setenv("SINEW_PEERS", str(tmp_path / "none"))
    assert processes.python_with("numpy") is None
    monkeypatch.setenv("SINEW_PEERS", sys.executable)
    assert processes.python_with("numpy") == sys.executable
    assert processes.python_with("no_such_module") is None
    monkeypatch.chdir(Path(sys.executable).parent)
    monkeypatch.setenv("SINEW_PEERS", os.path.join(".", Path(sys.executable).name))
    (tmp_path / "echo.py").write_text("import shutil, sys; shutil.copy(*sys.argv[1:])")
    monkeypatch.setattr(processes, "SCRIPTS", tmp_path)
    assert processes.ask(processes.python_with("numpy"), "echo.py", {"a": 3})["a"] == 3
    monkeypatch.setenv("SINEW_PEERS", str(tmp_path / "echo.py"))
    assert processes.python_with("numpy") is None


def test_bars_and_grids_are_drawn(tmp_path, monkeypatch):
    """The bar of 3 is about three times the bar of 1, and the grid's cells have colours of their own."""
    monkeypatch.setattr(pictures, "FOLDER", tmp_path)
    bars = pictures.Bars("parts", "s", ["short", "long"], {"": [1.0, 3.0]})
    grid = pictures.Grid("errors", "points", "modes", [1, 2], [3, 4], np.array([[1.0, 10.0], [100.0, 1000.0]]))
    path = pictures.draw("some-bench", "bars", [bars, grid])
    pixels = np.asarray(Image.open(path).convert("RGB")).astype(int)
    left, right = np.split(pixels, 2, axis=1)
    blue = (left[..., 2] > left[..., 0] + 80).sum(axis=1)
    assert np.isclose(blue[blue > 0].max() / blue[blue > 0].min(), 3.0, rtol=0.1)
    assert len(np.unique(right.reshape(-1, 3), axis=0)) > 100
