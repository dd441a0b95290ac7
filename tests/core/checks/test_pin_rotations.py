"""Pins that rotate far in a frame are named with their frame."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.foundation.schema.settings import MaterialSettings, SolverSettings
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.jobs.checks.pin_rotations import pin_rotation_warnings
from sinew.core.jobs.job.body import Body
from sinew.core.jobs.job.job import Job

from ..jobs import box_surface


def rotation(axis, degrees):
    n, angle = np.array(axis) / np.linalg.norm(axis), np.radians(degrees)
    K = np.cross(np.eye(3), -n)
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


def job(degrees, axis=(0.0, 1.0, 0.0), substeps=1, samples=1, size=1.0, both=False):
    """A box of which the pinned end rotates between frames 6 and 7 of ten, and the other end back, if ``both``."""
    surface = box_surface()
    X, frames = size * surface.positions, 10
    ends = [X[:, 0] <= X[:, 0].min() + 1e-9 * size] + ([X[:, 0] >= X[:, 0].max() - 1e-9 * size] if both else [])
    pins = np.concatenate([np.flatnonzero(end) for end in ends])
    signs = np.concatenate([np.full(end.sum(), sign) for end, sign in zip(ends, (1.0, -1.0))])
    track = np.empty(((frames - 1) * samples + 1, len(pins), 3))
    for k in range(len(track)):
        part = np.clip(k / samples - 5.0, 0.0, 1.0)
        turned = [X[pin] @ rotation(axis, sign * part * degrees).T for pin, sign in zip(pins, signs)]
        track[k] = np.array(turned) + [0.3 * size * k, 0.0, 0.0]
    body = Body(
        surface=SurfaceMesh(X, surface.triangles),
        materials=MaterialSettings("Flesh"),
        pinned_vertices=pins,
        pin_positions=track,
        solver=SolverSettings(substeps=substeps),
    )
    return Job(bodies=body, frame_start=1, frame_end=frames, frame_rate=24.0)


@pytest.mark.parametrize("size", (1e-3, 1.0, 1e3))
@pytest.mark.parametrize("degrees", (120.0, 150.0, 180.0))
def test_a_far_rotation_is_named_with_its_frame_and_pins(degrees, size):
    (said,) = pin_rotation_warnings(job(degrees, axis=(1.0, 2.0, 0.5), size=size))
    assert f"{degrees:.0f} degrees" in said and "frame 7" in said and "pins around vertex" in said


def test_ends_that_rotate_against_each_other_are_two_groups():
    assert len(pin_rotation_warnings(job(150.0, axis=(1.0, 0.0, 0.0), both=True))) == 1


@pytest.mark.parametrize("samples", (1, 8))
@pytest.mark.parametrize("substeps", (1, 8))
def test_neither_substeps_nor_samples_help(substeps, samples):
    """Samples between frames rotate as far; a draft bar stayed folded with eight of both."""
    assert pin_rotation_warnings(job(60.0, substeps=substeps, samples=samples)) == []
    (said,) = pin_rotation_warnings(job(180.0, substeps=substeps, samples=samples))
    assert "by 180 degrees in one frame, before frame 7" in said
