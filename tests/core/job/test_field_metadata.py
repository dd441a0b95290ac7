"""A field of a part is saved, fingerprinted, cut and named from its own line."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
import pytest
from sinew.core.foundation.errors import StoreError
from sinew.core.foundation.schema.field_metadata import equal_fields, field_spec, leaves, spec_of
from sinew.core.jobs.job.body import Body
from sinew.core.jobs.job.environment import Spring
from sinew.core.jobs.job.job import Job
from sinew.core.jobs.job.job_changes import details

from ..jobs import pulled_end, surrounded_bar


@dataclass(frozen=True)
class Moist:
    """A part within a part."""

    oil: float = field_spec(default=0.0)


@dataclass(frozen=True)
class WetSpring(Spring):
    """A spring with new fields."""

    wetness: np.ndarray | None = field_spec(default=None, dtype=np.float32, over_frames=True)
    moist: Moist | None = field_spec("skin", default=None)


@dataclass(frozen=True, kw_only=True)
class WetBody(Body):
    """A body with new fields."""

    springs: tuple[WetSpring, ...] = field_spec("spring", word="springs", default=())
    humidity: float = field_spec(word="weather", default=0.5)
    rain: np.ndarray | None = field_spec("the rain", word="weather", default=None, dtype=np.float64, over_frames=True)


@dataclass(frozen=True, kw_only=True)
class WetJob(Job):
    """A job of such bodies."""

    bodies: tuple[WetBody, ...]


@pytest.fixture(scope="module")
def wet() -> WetJob:
    plain = surrounded_bar(4)
    clock = {item.name: getattr(plain, item.name) for item in fields(plain)}
    own = {item.name: getattr(plain.body, item.name) for item in fields(plain.body)}
    spring = {item.name: getattr(pulled_end(4), item.name) for item in fields(Spring)}
    own["springs"] = (WetSpring(**spring, wetness=[1, 2, 3, 4], moist=Moist(0.25)),)
    return WetJob(**{**clock, "bodies": (WetBody(**own, rain=np.arange(4)),)})


def _changed(before: Job, now: Job) -> dict[str, list[str]]:
    then, here = before.fingerprints(), now.fingerprints()
    return {word: details(word, before, now) for word in here if then[word] != here[word]}


def test_a_new_field_is_saved(wet, tmp_path):
    wet.save(tmp_path / "job.npz")
    again = WetJob.load(tmp_path / "job.npz")
    assert equal_fields(again, wet) and again.fingerprints() == wet.fingerprints()
    assert again.body.springs[0].wetness.dtype == np.float32 and again.body.springs[0].moist == Moist(0.25)
    with pytest.raises(StoreError):
        Job.load(tmp_path / "job.npz")


def test_a_new_field_is_cut_and_prolonged(wet):
    assert wet.until(2).body.rain.tolist() == [0.0, 1.0] and wet.extended().body.rain.tolist() == [
        0.0,
        1.0,
        2.0,
        3.0,
        3.0,
    ]
    assert wet.extended().body.springs[0].wetness.tolist() == [1.0, 2.0, 3.0, 4.0, 4.0]


def test_a_new_field_is_fingerprinted_and_named(wet):
    spring = wet.body.springs[0]
    assert _changed(wet, wet.with_body(humidity=0.75)) == {"weather": ["humidity 0.5 → 0.75"]}
    assert _changed(wet, wet.with_body(rain=[0, 1, 2, 9])) == {"weather": ["the rain from frame 4"]}
    assert _changed(wet, wet.with_body(rain=None)) == {"weather": ["the rain was removed"]}
    finer = wet.with_body(rain=np.arange(7.0) / 2.0)
    assert _changed(wet, finer) == {"animation between frames": ["the rain"]}
    dry = replace(spring, wetness=[1, 2, 0, 0], moist=Moist(0.5))
    assert _changed(wet, wet.with_body(springs=(dry,))) == {
        "springs": ["“Hook”: wetness from frame 3, skin: oil 0.25 → 0.5"]
    }


def test_a_name_is_in_no_fingerprint(wet):
    renamed = wet.with_body(springs=(replace(wet.body.springs[0], name="Claw"),))
    assert renamed.fingerprints() == wet.fingerprints() and not equal_fields(renamed, wet)


def test_every_array_of_a_job_says_its_type_and_every_field_its_word():
    assert {item.name for item in (*fields(Job), *fields(Body)) if not spec_of(item).word} == {"bodies", "name"}
    arrays = [leaf for leaf in leaves(surrounded_bar(4)) if isinstance(leaf.value, np.ndarray)]
    named = {leaf.path for leaf in arrays if leaf.about.dtype is None}
    assert named == {
        "bodies.0.surface.positions",
        "bodies.0.surface.triangles",
    }  # these refuse what they would have to bend


def test_some_words_alone(wet):
    whole = wet.fingerprints()
    assert wet.fingerprints("mesh", "weather") == {word: whole[word] for word in ("mesh", "weather")}
