"""Absorbers of force fields in a job: forces behind them, over frames and in a file."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.foundation.errors import FieldError
from sinew.core.foundation.schema.solver_kinds import SOLVER_KINDS
from sinew.core.jobs.job.absorber import Absorber
from sinew.core.jobs.job.force_field import ForceField
from sinew.core.jobs.job.job import Job
from sinew.core.jobs.job.job_changes import details
from sinew.core.mechanics.forces.field_coordinates import FieldForm, FieldNumbers
from sinew.core.simulation.preparation.field_interpolation import Absorbing, interpolate_field

from ..jobs import baked, free_box

RATE = 24.0
SQUARE = 5.0 * np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
FACES = np.array([[0, 1, 2], [0, 2, 3]])


def sheet(height=-0.5, **options) -> Absorber:
    """Between a field's plane at -1 and a body at 0 and above."""
    values = {"positions": SQUARE[None] + [0.0, 0.0, height], "absorption": np.array([0.75]), **options}
    return Absorber("Sheet", FACES, **values)


def wind(*absorbers) -> ForceField:
    place = {"centres": np.array([[0.0, 0.0, -1.0]]), "axes": np.array([[0.0, 0.0, 1.0]])}
    return ForceField("Wind", FieldForm("WIND", "PLANE"), np.array([FieldNumbers(2.0)]), absorbers=absorbers, **place)


def box(frames, *absorbers, fields=None, **solver) -> Job:
    fields = (wind(*range(len(absorbers))),) if fields is None else fields
    settings = {"gravity": (0.0, 0.0, 0.0), **solver}
    return free_box(frames, force_fields=fields, absorbers=absorbers, solver=settings)


@pytest.mark.parametrize("solver", ["mixed_fem", "subspace_mixed_fem"])
def test_a_body_behind_a_sheet_is_blown_the_less(solver):
    options = {"modes": 2, "cubature_points": 20} if SOLVER_KINDS[solver].takes_modes else {}
    frames = np.array(baked(box(5, sheet(), sheet(-0.4, absorption=np.array([0.5])), solver=solver, **options)))
    found = np.diff(frames, 2, axis=0) * RATE**2
    assert np.abs(found - [0.0, 0.0, 0.25 * 0.5 * 2.0]).max() < 1e-4


def test_a_sheet_between_frames_is_between_them():
    moving = sheet(positions=SQUARE + [[[20.0, 0.0, -0.5]], [[0.0, 0.0, -0.5]]], absorption=np.array([0.0, 1.0]))
    absorbing, at = Absorbing([moving]), np.zeros((1, 3))
    strengths = [
        interpolate_field(wind(0), 1, part, absorbing.at(1, part)).pull(at).acceleration[0, 2]
        for part in (0.5, 0.9, 1.0)
    ]
    assert strengths == pytest.approx([2.0, 0.2, 0.0])


def test_only_the_fields_that_name_it_lose():
    job = box(3, sheet(), fields=(wind(), wind(0)))
    absorbing = Absorbing(job.body.absorbers).at(1, 1.0)
    found = [
        interpolate_field(each, 1, 1.0, absorbing).pull(np.zeros((1, 3))).acceleration[0, 2]
        for each in job.body.force_fields
    ]
    assert found == [2.0, 0.5]


def test_a_job_keeps_what_absorbs(tmp_path):
    job = box(4, sheet(), sheet(absorption=np.array([0.0, 0.5, 0.5, 1.0])))
    job.save(tmp_path / "job.npz")
    again = Job.load(tmp_path / "job.npz")
    assert again.fingerprints() == job.fingerprints()
    assert again.body.force_fields[0].absorbers == (0, 1)
    assert again.body.absorbers[1].absorption.tolist() == [0.0, 0.5, 0.5, 1.0]
    assert [len(each.absorption) for each in job.until(2).body.absorbers] == [1, 2]
    assert job.extended().body.absorbers[1].absorption.tolist() == [0.0, 0.5, 0.5, 1.0, 1.0]


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (lambda job: job.with_body(absorbers=(sheet(-0.4),)), ["“Sheet”: shape or movement"]),
        (lambda job: job.with_body(absorbers=(sheet(absorption=[0.2]),)), ["“Sheet”: absorption"]),
        (
            lambda job: job.with_body(absorbers=(), force_fields=(wind(),)),
            ["“Wind”: absorbed by Sheet → nothing", "“Sheet” was removed"],
        ),
    ],
)
def test_a_change_is_told(now, said):
    job = box(3, sheet())
    before, after = job.fingerprints(), now(job).fingerprints()
    assert [name for name in before if before[name] != after[name]] == ["fields"]
    assert details("fields", job, now(job)) == said


@pytest.mark.parametrize(
    ("said", "make"),
    [
        ("has no faces", lambda: Absorber("Sheet", FACES[:0], SQUARE[None], [1.0])),
        ("a vertex that does not exist", lambda: Absorber("Sheet", FACES + 2, SQUARE[None], [1.0])),
        ("arrays of wrong shapes", lambda: Absorber("Sheet", FACES, SQUARE, [1.0])),
        ("position that is not a number", lambda: Absorber("Sheet", FACES, np.full((1, 4, 3), np.nan), [1.0])),
        ("an absorption outside 0 to 1", lambda: sheet(absorption=[1.5])),
        ("an absorption outside 0 to 1", lambda: sheet(absorption=[np.nan])),
        ("has values at 4 frames, not 3", lambda: box(3, sheet(absorption=np.linspace(0.0, 1.0, 4)))),
        ("names an absorber that does not exist", lambda: box(3, fields=(wind(0),))),
    ],
)
def test_impossible_ones_are_refused(said, make):
    with pytest.raises(FieldError, match=said) as raised:
        make()
    assert raised.value.remedy
