"""External loads on a body are checked on construction, and cut with the job."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.core.foundation.errors import ColliderError, PinError, SettingsError, SpringError
from sinew.core.foundation.schema.field_metadata import map_tracks
from sinew.core.foundation.schema.settings import ColliderSettings
from sinew.core.jobs.job.environment import Ground

from ..jobs import changed, pulled_end, rising_plate, surrounded_bar


def _with(array: np.ndarray, index: tuple[int, ...], value: float) -> np.ndarray:
    changed = array.copy()
    changed[index] = value
    return changed


SPRING, PLATE = pulled_end(), rising_plate()


@pytest.mark.parametrize(
    ("said", "changes"),
    [
        ("pulls no vertex", {"vertices": [], "weights": [], "targets": np.empty((12, 0, 3))}),
        ("wrong shapes", {"weights": np.ones(2)}),
        ("wrong shapes", {"targets": SPRING.targets[:5]}),
        ("wrong shapes", {"stiffness": SPRING.stiffness[:, None]}),
        ("negative, not finite, or all zero", {"weights": np.zeros(9)}),
        ("negative, not finite, or all zero", {"weights": _with(SPRING.weights, (3,), -0.1)}),
        ("negative, not finite, or all zero", {"weights": _with(SPRING.weights, (3,), np.nan)}),
        ("negative or not a number", {"stiffness": _with(SPRING.stiffness, (3,), -1.0)}),
        ("negative or not a number", {"stiffness": _with(SPRING.stiffness, (3,), np.inf)}),
        ("not a number", {"targets": _with(SPRING.targets, (3, 1, 0), np.nan)}),
    ],
)
def test_an_impossible_spring_is_refused_by_name(said, changes):
    with pytest.raises(SpringError, match=said) as raised:
        replace(SPRING, **changes)
    assert "“Hook”" in raised.value.message and raised.value.remedy


@pytest.mark.parametrize(
    ("said", "changes"),
    [
        ("no faces", {"triangles": np.empty((0, 3))}),
        ("have shape", {"positions": PLATE.positions[0, :, :2]}),
        ("have shape", {"positions": PLATE.positions[:0]}),
        ("does not exist", {"triangles": [[0, 1, 4]]}),
        ("does not exist", {"triangles": [[0, 1, -1]]}),
        ("Vertex 2 .* not a number", {"positions": _with(PLATE.positions, (3, 2, 0), np.nan)}),
        ("friction is -0.1", {"friction": -0.1}),
        ("friction is nan", {"friction": float("nan")}),
        ("thickness is 0", {"thickness": 0.0}),
    ],
)
def test_an_impossible_collider_is_refused_by_name(said, changes):
    with pytest.raises(ColliderError, match=said) as raised:
        replace(PLATE, **changes)
    assert "“Plate”" in raised.value.message and raised.value.remedy


@pytest.mark.parametrize("changes", [{"height": float("nan")}, {"friction": -1.0}, {"thickness": -1e-3}])
def test_an_impossible_ground_is_refused(changes):
    with pytest.raises(SettingsError) as raised:
        Ground(**changes)
    assert raised.value.remedy


def test_a_collider_that_stands_still_keeps_one_frame():
    still = replace(PLATE, positions=np.repeat(PLATE.positions[:1], 12, axis=0))
    assert still.positions.shape == (1, 4, 3) and PLATE.positions.shape == (12, 4, 3)
    assert (still.friction, ColliderSettings().friction) == (0.3, 0.5)


@pytest.mark.parametrize(
    ("error", "said", "changes"),
    [
        (SpringError, "does not exist", lambda j: {"springs": (replace(SPRING, vertices=np.arange(9) + 10**6),)}),
        (
            SpringError,
            "has its stiffness at 5 frames, not 12",
            lambda j: {"springs": (map_tracks(SPRING, lambda track: track[:5]),)},
        ),
        (
            SpringError,
            "has its stiffness at 5 frames, not 12",
            lambda j: {"goal": map_tracks(SPRING, lambda track: track[:5])},
        ),
        (
            ColliderError,
            "has 5 samples for 12 frames",
            lambda j: {"colliders": (map_tracks(PLATE, lambda track: track[:5]),)},
        ),
        (PinError, "array pin_held has shape", lambda j: {"pin_held": j.pin_held[:5]}),
        (SettingsError, "accelerations have shape", lambda j: {"accelerations": j.accelerations[:, :3]}),
        (
            SettingsError,
            "vertex 7 is not a number at frame 4",
            lambda j: {"accelerations": _with(j.accelerations, (3, 7, 0), np.nan)},
        ),
    ],
)
def test_what_does_not_fit_the_job_is_refused(error, said, changes):
    job = surrounded_bar()
    with pytest.raises(error, match=said) as raised:
        changed(job, **changes(job.body))
    assert raised.value.remedy


def test_a_released_pin_stays_released():
    job = surrounded_bar()
    held = np.ones_like(job.body.pin_held)
    held[4, 0] = False
    job = job.with_body(pin_held=held)
    assert job.body.pin_held[:4, 0].all() and not job.body.pin_held[4:, 0].any() and job.body.pin_held[:, 1:].all()


def test_a_body_that_is_pinned_everywhere_at_first_is_refused():
    job = surrounded_bar()
    n = len(job.body.surface.positions)
    held = np.ones((12, n), dtype=bool)
    held[5:] = False
    every = job.with_body(
        pinned_vertices=np.arange(n),
        pin_positions=np.tile(job.body.surface.positions, (12, 1, 1)),
        pin_held=held,
    )
    with pytest.raises(PinError, match="Every vertex"):
        every.check()


def test_a_job_is_cut_with_its_surroundings():
    job = surrounded_bar().until(5)
    assert len(job.body.springs[0].stiffness) == len(job.body.springs[0].targets) == 5
    assert len(job.body.colliders[1].positions) == len(job.body.pin_held) == len(job.body.accelerations) == 5
    assert job.fingerprints() == surrounded_bar(frames=5).until(5).fingerprints()
