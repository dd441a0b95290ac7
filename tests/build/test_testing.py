"""Selection of tests by ``build_addon.py test`` if some are named."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import build_addon

build_addon.load_building()
testing = importlib.import_module("sinew_building.testing")

ROOT = Path(__file__).resolve().parents[2]
JOB, GUI = "tests/core/job/test_job.py", "tests/gui/test_tour.py"


@pytest.mark.parametrize(
    ("own", "arguments", "expected"),
    [
        (["tests"], [], ["tests"]),
        (["tests"], ["-x", "-k", "tests"], ["tests", "-x", "-k", "tests"]),
        (["tests"], [JOB, "-x"], [f"{ROOT}/{JOB}", "-x"]),
        (["tests"], [f"{ROOT}/{JOB}::test_a[b::c]"], [f"{ROOT}/{JOB}::test_a[b::c]"]),
        (["tests/blender"], [JOB], None),
        (["tests/blender"], ["tests/blender", JOB], [f"{ROOT}/tests/blender"]),
        ([GUI], ["tests/gui", "-s"], [GUI, "-s"]),
        ([GUI], ["tests/nothing.py"], [GUI, "tests/nothing.py"]),
    ],
)
def test_what_is_named_is_run_alone(monkeypatch, tmp_path, own, arguments, expected):
    monkeypatch.chdir(tmp_path)
    assert testing.narrowed(own, arguments) == expected


def test_a_name_counts_from_where_it_is_typed(monkeypatch):
    monkeypatch.chdir(ROOT / "tests" / "core")
    assert testing.narrowed(["tests"], ["simulation"]) == [f"{ROOT}/tests/core/simulation"]


def test_two_windowed_parts_share_the_tests(monkeypatch):
    """Each is in one of the two; whatever is named is run by the first."""
    monkeypatch.chdir(ROOT)
    (_, (folder, *left)), (_, others) = (testing.WINDOWED[part] for part in ("gui", "gui-long"))
    assert folder == "tests/gui" and left == [f"--ignore={path}" for path in others]
    assert all((ROOT / path).is_file() for path in others)
    assert testing.narrowed([folder, *left], [others[0]]) == [f"{ROOT}/{others[0]}"]


def test_long_parts_start_first(monkeypatch, capsys):
    """The summary has its own order."""
    started = []
    monkeypatch.setattr(testing, "LANES", 1)
    monkeypatch.setattr(testing.extension_zip, "build", lambda: None)
    monkeypatch.setattr(testing, "_run_part", lambda part, *_: started.append(part) or testing.Outcome(part, passed=1))
    assert testing.run(None, []) == 0
    assert started == ["main", "bpy-5.2", *testing.LAST]
    said = capsys.readouterr().out
    assert sorted(testing.parts(), key=lambda part: said.index(f"{part:8} ")) == testing.parts()
