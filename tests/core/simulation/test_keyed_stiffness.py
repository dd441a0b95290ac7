"""Stiffness that changes over the frames: the same as a body that has it, whatever the solver, also when resumed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.core.foundation.errors import SettingsError
from sinew.core.foundation.schema.solver_kinds import SOLVER_KINDS
from sinew.core.jobs.job.job import Job
from sinew.core.simulation.frame_loop.single_body import simulate_body
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import baked, changed, shaken_bar

TENFOLD = np.array([1.0, 10.0, 10.0, 10.0])


def stiffer(job, factor):
    return tuple(replace(m, youngs_modulus=factor * m.youngs_modulus) for m in job.body.materials)


def keyed(job, factors):
    E = np.array([m.youngs_modulus for m in job.body.materials])
    return job.with_body(moduli=np.multiply.outer(factors, E))


@pytest.mark.parametrize(
    "options",
    [*({"solver": name} for name in SOLVER_KINDS), {"linear_solver": "pcg"}, {"stiffness_damping": 0.01}],
    ids=lambda options: "-".join(map(str, options.values())),
)
def test_a_body_that_stiffens_at_once_moves_like_one_that_was_stiff(options):
    """It is at rest at the first frame, so that of its past nothing is left."""
    job = replace(shaken_bar(4, modes=4, cubature_points=20), frame_end=4)
    job = job.with_body(solver=replace(job.body.solver, **options))
    stiffened, soft = baked(keyed(job, TENFOLD)), baked(job)
    stiff = baked(job.with_body(materials=stiffer(job, 10.0)))
    np.testing.assert_allclose(stiffened[3], stiff[3], atol=1e-7)
    assert np.abs(stiffened[3] - soft[3]).max() > 1e-4


def test_stiffness_goes_straight_in_its_logarithm_over_substeps():
    job = shaken_bar(2, "newton", substeps=2)
    stiffened = baked(keyed(job, np.array([1.0, 100.0])))
    pins = np.linspace(job.body.pin_positions[0], job.body.pin_positions[1], 3)
    half = changed(
        job,
        solver=replace(job.body.solver, substeps=1),
        frame_rate=48.0,
        frame_end=3,
        pin_positions=pins,
        object_to_world=None,
        pin_held=None,
    )
    steps = baked(keyed(half, np.array([1.0, 10.0, 100.0])))
    np.testing.assert_allclose(stiffened[1], steps[2], atol=1e-12)


def test_constant_keys_change_no_bit():
    job = shaken_bar(3)
    for one, other in zip(baked(job), baked(keyed(job, np.ones(3))), strict=True):
        assert np.array_equal(one, other)


def test_a_resumed_bake_goes_on_with_the_same_bits():
    job = keyed(shaken_bar(5, "newton"), np.array([1.0, 3.0, 9.0, 9.0, 0.5]))
    prepared = prepare(job)
    frames = list(simulate_body(job, prepared))
    again = list(simulate_body(job, prepare(job), (frames[2].number, frames[2].state)))
    assert [frame.number for frame in again] == [4, 5]
    assert np.array_equal(again[-1].state.positions, frames[-1].state.positions)


def test_keys_travel_with_the_job(tmp_path):
    job = keyed(shaken_bar(4), TENFOLD)
    job.save(tmp_path / "job.npz")
    assert np.array_equal(Job.load(tmp_path / "job.npz").body.moduli, job.body.moduli)
    changed = [part for part, digest in shaken_bar(4).fingerprints().items() if digest != job.fingerprints()[part]]
    assert changed == ["materials"]
    assert len(job.until(2).body.moduli) == 2 and np.array_equal(job.extended().body.moduli[-1], job.body.moduli[-1])


@pytest.mark.parametrize("wrong", [np.ones((3, 2)), np.ones((4, 3)), np.zeros((4, 2)), np.full((4, 2), np.nan)])
def test_keys_that_do_not_fit_are_refused(wrong):
    with pytest.raises(SettingsError, match="stiffness of a material"):
        shaken_bar(4).with_body(moduli=wrong)
