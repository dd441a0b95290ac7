"""The report of a bake: what it counts, which frames it names, and what it makes of damaged frames."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from sinew.core import cli
from sinew.core.foundation.errors import CorruptFrameError
from sinew.core.jobs.results.bake_report import _number, _pairs, csv_of, frame_words, read_report, write_report
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.numerics.optimization.step_report import REDONE_BY, StepReport
from sinew.core.simulation.frame_loop.bake import bake

from ..jobs import box_surface, shaken_bar
from ..store.test_frame_store import state

N = len(box_surface().positions)


def step(iterations, converged=True, movement=1e-9, reason="it converged", **seconds) -> StepReport:
    linear_solver = "CHOLMOD: the fastest"
    return StepReport(
        "mixed_fem", iterations, converged, reason, 1e-9, linear_solver, 1e3 * movement, movement, seconds=seconds
    )


@pytest.fixture
def store(tmp_path):
    """Four frames of two steps, in the third and fourth of which a step does not converge."""
    store = FrameStore.create(tmp_path / "bake", shaken_bar(frames=4))
    frames = {
        1: [],
        2: [step(3, assembly=1.0, line_search=0.5), step(5, assembly=1.0)],
        3: [step(4, False, 2e-3, "the cap was reached", assembly=2.0), step(4, assembly=1.0)],
        4: [step(4, False, 7e-3, "the cap was reached", assembly=0.5), step(2, movement=0.1, assembly=0.5)],
    }
    for frame, reports in frames.items():
        store.write(frame, np.zeros((N, 3)), state(), reports, seconds=float(frame))
    return store


def test_what_a_report_counts(store):
    report = read_report(store)
    assert [f.frame for f in report.frames] == [2, 3, 4], "the first frame is the rest shape"
    assert [(f.steps, f.iterations, f.most_iterations) for f in report.frames] == [(2, 8, 5), (2, 8, 4), (2, 6, 4)]
    assert report.unconverged == [3, 4] and report.worst.frame == 4
    assert report.seconds == 9.0 and report.parts() == {"assembly": 6.0, "line_search": 0.5}
    assert report.frames[0].peak_memory > 1e7, "this process has more than ten megabytes"


def test_a_summary_is_for_reading(store):
    said = read_report(store).summary()
    assert said[0] == "Mixed FEM, frames 2-4, 6 steps, 9 s"
    assert said[1] == "Iterations per step: 3.7 on average, 5 at most (frame 2)"
    far = "last displacement 7 mm"
    assert said[2] == f"Frames 3-4 did not converge ({far}): raise Substeps, or Iterations."
    assert said[3] == "Worst frame: 4 (the cap was reached)"
    assert said[4] == "Slowest frame: 4 (4 s)"
    assert said[5] == "Time of the steps: assembly 92%, line search 8%"
    assert said[6] == "Linear solver: CHOLMOD: the fastest"
    store.add_preparation({"compiling": 40.0, "preparing_the_body": 1.5})
    assert read_report(store).summary()[6] == "Before the first frame: compiling 40 s, preparing the body 1.5 s"
    store.add_preparation({"compiling": 0.5})
    assert read_report(store).preparation == {"compiling": 40.5, "preparing_the_body": 1.5}, (
        "a resumed bake adds its own"
    )
    assert said[-1].startswith("Memory: ") and said[-1].endswith(" GB at most")


def test_a_table_has_a_line_a_frame(store):
    report = read_report(store)
    body, *rows = zip(*csv.reader(io.StringIO(csv_of({"Bär, 1": report}))))
    rows = list(zip(*rows))
    assert body == ("Body", *3 * ["Bär, 1"])
    assert rows[0][:5] == ("Frame", "Steps", "Iterations", "Most in a Step", "Converged") and "Line search" in rows[0]
    assert [row[0] for row in rows[1:]] == ["2", "3", "4"] and [row[4] for row in rows[1:]] == ["yes", "NO", "NO"]
    assert rows[0][5:7] == ("Still Moving (m)", "Unbalanced (N)") and rows[3][5:7] == ("0.007", "7.0")
    assert rows[3][-1] == "the cap was reached"
    lines = report.table().splitlines()
    first = len(report.summary()) + 1
    assert lines[first].split()[:2] == ["Frame", "Steps"] and "the cap was reached" in lines[first + 3]
    assert "  7 mm  " in lines[first + 3]
    meant = [line.partition(": ")[0] for line in lines[first + 5 :]]
    assert meant == ["Iterations", "Converged", "Still Moving", "Unbalanced (N)", "Assembly", "Line search"]


def test_how_much_a_match_takes_is_told(tmp_path):
    """The frame with the largest share is named."""
    store = FrameStore.create(tmp_path / "bake", shaken_bar(frames=3))
    store.write(1, np.zeros((N, 3)), state(), [])
    assert read_report(store).match_words() == ""
    for frame, taken in ((2, 0.417), (3, 0.3)):
        store.write(frame, np.zeros((N, 3)), state(), [StepReport("x"), StepReport("x", taken=taken)])
    assert (
        "The match lowers the elastic energy by up to 42% of the largest possible amount (frame 2)."
        in read_report(store).summary()
    )


def test_a_bake_of_one_frame_has_a_report(tmp_path):
    store = FrameStore.create(tmp_path / "bake", shaken_bar(frames=1))
    store.write(1, np.zeros((N, 3)), state(), [])
    report = read_report(store)
    assert "no step" in report.summary()[0] and report.worst is None
    assert len(csv_of({"": report}).splitlines()) == 1


def test_bakes_of_several_bodies_are_one_table(store, tmp_path):
    """Even where the solvers' steps have other parts: a column means the same in every row."""
    other = FrameStore.create(tmp_path / "other", shaken_bar())
    for frame in (1, 2):
        other.write(frame, np.zeros((N, 3)), state(), [StepReport("x", seconds={"local": 2.0})][: frame - 1])
    heading, *rows = csv.reader(io.StringIO(csv_of({"A": read_report(store), "B": read_report(other)})))
    assert [row[:2] for row in rows] == [["A", "2"], ["A", "3"], ["A", "4"], ["B", "2"]]
    assert {len(row) for row in rows} == {len(heading)} and heading.count("Frame") == 1
    assert [row[heading.index("Local")] for row in rows] == ["0.0", "0.0", "0.0", "2.0"]
    assert float(rows[-1][heading.index("Assembly")]) == 0.0 < float(rows[0][heading.index("Assembly")])


def test_values_of_another_kind_count_as_none(store):
    odd = StepReport("x", iterations="many", converged="yes", movement=None, seconds={"assembly": float("nan")})
    store.write(4, np.zeros((N, 3)), state(), [odd])
    last = read_report(store).frames[-1]
    assert (last.iterations, last.converged, last.movement, last.parts) == (0, False, 0.0, {"assembly": 0.0})


def test_a_damaged_frame_is_named(store):
    path = store.folder / "frame_000003.sinew"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(CorruptFrameError, match="frame_000003"):
        read_report(store)


@pytest.mark.parametrize(
    ("frames", "said"),
    [
        ([4], "4"),
        ([4, 5, 6], "4-6"),
        ([-2, -1, 3, 7, 8], "-2--1, 3, 7-8"),
        (list(range(0, 40, 2)), "0, 2, 4, 6, 8, 10 and 14 more"),
    ],
)
def test_frames_in_words(frames, said):
    assert frame_words(frames) == said


def test_a_bake_can_be_told(tmp_path):
    job = shaken_bar(frames=3, substeps=2)
    store = FrameStore.create(tmp_path / "bake", job)
    bake(job, store)
    report = read_report(store)
    assert [f.steps for f in report.frames] == [2, 2] and all(f.iterations >= 2 for f in report.frames)
    assert {"assembly", "factorization", "solve"} <= set(report.parts())
    assert list(report.preparation) == ["compiling", "preparing_the_body"] and min(report.preparation.values()) > 0.0
    assert all(f.seconds >= 0.9 * sum(f.parts.values()) > 0.0 for f in report.frames)


@pytest.mark.parametrize("name", ["report.csv", "report.txt"])
def test_the_command_line_writes_a_report(tmp_path, capsys, name):
    surface = box_surface()
    np.savez(tmp_path / "bar.npz", positions=surface.positions, triangles=surface.triangles)
    (tmp_path / "scene.toml").write_text('mesh = "bar.npz"\nframes = [1, 3]\n[resolution]\ncells_across = 6\n')
    assert cli.main([str(tmp_path / "scene.toml"), "--report", str(tmp_path / name)]) == 0
    said = capsys.readouterr().err
    assert "Mixed FEM, frames 2-3, 2 steps" in said and "Iterations per step" in said
    text = (tmp_path / name).read_text()
    assert text.startswith("Body,Frame,") == name.endswith("csv") and "Factorization" in text
    (tmp_path / "link").symlink_to("mine")
    (tmp_path / "mine").write_text("mine")
    write_report(tmp_path / "link", text)
    assert (tmp_path / "mine").read_text() == "mine" and (tmp_path / "link").read_text() == text
    assert cli.main([str(tmp_path / "scene.toml"), "--report", str(tmp_path)]) == 1
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize("number", [10**400, float("nan"), float("inf"), True, "3", None])
def test_what_is_no_number_counts_as_zero(number):
    """Frame files may come from strangers."""
    assert _number(number) == 0.0


def test_steps_that_were_made_again_are_told_where_they_are_many(tmp_path):
    store = FrameStore.create(tmp_path / "bake", shaken_bar(frames=3))
    again = StepReport("x", converged=True, reason=f"it converged{REDONE_BY}Implicit Euler, as it gained energy")
    store.write(1, np.zeros((N, 3)), state(), [])
    store.write(2, np.zeros((N, 3)), state(), [StepReport("x", converged=True)] * 9 + [again])
    assert read_report(store).of_steps_words() == "", "a tenth"
    store.write(3, np.zeros((N, 3)), state(), [again])
    assert any(words.startswith("2 of 11 steps were recomputed") for words in read_report(store).summary())
    buckled = StepReport("x", converged=True, buckles=True)
    store.write(3, np.zeros((N, 3)), state(), [buckled] * 2)
    assert read_report(store).of_steps_words().startswith("In 2 of 12 steps the body buckled")


def test_what_meets_is_told(store):
    """Contacts at most, the nearest of them, and who blocked whom; damaged ones are none."""
    near = StepReport("mixed_fem", 3, True, contacts=120, distance=2e-4, solved_with=["Ball", "Cube"])
    shut = StepReport("mixed_fem", 3, True, contacts=80, distance=1e-4, blocked=0.3, blocked_by=[("Plate", "Ball")])
    store.write(2, np.zeros((N, 3)), state(), [near, shut])
    report = read_report(store)
    assert report.contact_words() == "Contacts: 120 at most (frame 2), smallest distance 0.1 mm"
    assert "2 pins or colliders were blocked on their paths: leave more room between “Plate”" in report.blocked_words()
    assert report.solved_with_words().startswith("In frames 2 the body could touch “Ball”, “Cube”:")
    said = {report.contact_words(), report.blocked_words(), report.solved_with_words()}
    assert said <= set(report.summary())
    heading, first, *_ = report.rows()
    assert first[heading.index("Contacts")] == 120 and first[heading.index("Nearest (m)")] == 1e-4
    assert "Nearest: smallest distance of surfaces in contact" in report.table() and "Contacts" in csv_of({"A": report})
    for damaged in (None, 3, [1], [["a"]], {"a": 1}):
        assert _pairs(damaged) == []
