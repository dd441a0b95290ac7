"""Bodies that begin in their surroundings are told of."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.jobs.checks.overlaps import overlap_warnings
from sinew.core.jobs.job.environment import Collider, Ground
from sinew.core.simulation.preparation.prepare import prepare, tetrahedra

from ..jobs import box_surface, free_box


@pytest.fixture(scope="module")
def alone():
    job = free_box(2).with_body(colliders=())
    return job, tetrahedra(job, None, lambda _event: None)[0]


def box(low, high, faces=slice(None)):
    surface = box_surface(tuple(np.subtract(high, low)), (1, 1, 1))
    return Collider("Post", surface.triangles[faces], surface.positions[None] + np.array(low))


def test_a_body_under_the_ground(alone):
    job, mesh = alone
    low, size = job.body.surface.positions[:, 2].min(), job.body.surface.size
    assert overlap_warnings(job, mesh) == []
    assert overlap_warnings(job.with_body(colliders=(Ground(height=low + 0.005 * size),)), mesh) == []
    (said,) = overlap_warnings(job.with_body(colliders=(Ground(height=low + 0.05 * size),)), mesh)
    assert "below the ground" in said and "raise the body" in said


@pytest.mark.parametrize("kind", ["pierced", "swallowed", "around"])
def test_a_body_and_a_collider_in_each_other(alone, kind):
    job, mesh = alone
    low, high = job.body.surface.positions.min(axis=0), job.body.surface.positions.max(axis=0)
    middle, across = (low + high) / 2, high - low
    half = np.array({"pierced": (0.3, 0.3, 2.0), "swallowed": (0.1, 0.1, 0.1), "around": (2.0, 2.0, 2.0)}[kind])
    collider = box(middle - half * across, middle + half * across)
    (said,) = overlap_warnings(job.with_body(colliders=(collider,)), mesh)
    assert "“Post”" in said and "Separate them" in said


def test_what_stands_beside_or_encloses_nothing_is_no_overlap(alone):
    job, mesh = alone
    low, high = job.body.surface.positions.min(axis=0), job.body.surface.positions.max(axis=0)
    under = box(low - [1.0, 1.0, 1.0], [*(high + 1.0)[:2], low[2]])
    assert overlap_warnings(job.with_body(colliders=(under,)), mesh) == []
    sheet = box(low - 0.5, [*(high + 0.5)[:2], (low + high)[2] / 2], slice(-2, None))
    assert overlap_warnings(job.with_body(colliders=(sheet,)), mesh) == []


def test_the_event_of_the_tetrahedra_tells(alone):
    events = []
    ground = Ground(height=alone[0].body.surface.positions[:, 2].max())
    prepare(alone[0].with_body(colliders=(ground,)), None, events.append)
    (event,) = [event for event in events if event.kind == "mesh"]
    assert any("below the ground" in warning for warning in event.warnings)
