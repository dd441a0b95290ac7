"""A job file from a stranger: whatever stands in it, it is a job or refused, at once, and nothing in it is run."""

from __future__ import annotations

import io
import json
import pickle
import time
import zipfile
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from sinew.core.foundation.errors import SinewError, StoreError
from sinew.core.foundation.files.npz_file import read_npz, write_npz
from sinew.core.jobs.job.job import Job
from sinew.core.jobs.store.frame_store import FrameStore

from ..jobs import surrounded_bar

VALUES = (None, True, -1, 0, 10**9, 10**15, 10**4000, 1e300, float("nan"), float("inf"), "x", "../../x", [], {}, [[]])
SECONDS = 2.0


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the contents of a job file: settings and arrays."""
    path = tmp_path_factory.mktemp("job") / "job.npz"
    surrounded_bar().save(path)
    arrays = read_npz(path)
    return json.loads(arrays.pop("settings").tobytes()), arrays


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to all that stands in JSON."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        yield (*way, key)
        yield from places(each, (*way, key))


def load(folder, settings: Any, arrays: dict[str, np.ndarray]) -> None:
    """Open it as a store does; an error of the library is fine, and so is a job."""
    text = np.frombuffer(json.dumps(settings).encode(), dtype=np.uint8)
    with open(folder / "job.npz", "wb") as file:
        write_npz(file, {"settings": text, **arrays})
    before = time.process_time()
    try:
        job = FrameStore(folder).job()
        job.check()
        job.fingerprints()
    except SinewError as error:
        assert error.message and error.remedy
    assert time.process_time() - before < SECONDS


@pytest.mark.parametrize("value", VALUES, ids=lambda value: str(type(value).__name__))
def test_any_value_in_the_settings(tmp_path, whole, value):
    settings, arrays = whole
    for way in places(settings):
        changed = deepcopy(settings)
        owner = changed
        for key in way[:-1]:
            owner = owner[key]
        owner[way[-1]] = value
        load(tmp_path, changed, arrays)


@pytest.mark.parametrize(
    "other",
    [
        np.zeros(0),
        np.zeros((0, 3)),
        np.zeros((2, 2, 2, 2)),
        np.full(5, np.nan),
        np.full((8, 3), 2**31 - 1, dtype=np.int32),
        np.full((8, 3), -1, dtype=np.int64),
        np.array([True]),
        np.array(7.0),
        None,
    ],
    ids=lambda each: "gone" if each is None else f"{each.dtype}{each.shape}",
)
def test_any_array(tmp_path, whole, other):
    settings, arrays = whole
    for name in arrays:
        load(tmp_path, settings, {key: each for key, each in (arrays | {name: other}).items() if each is not None})


class Planted:
    """Object whose pickle runs code."""

    ran: list[int] = []

    def __reduce__(self) -> tuple[Any, ...]:
        return self.ran.append, (1,)


@pytest.mark.parametrize("kind", ["a pickle", "an object array", "a zip of objects", "text"])
def test_nothing_is_unpickled(tmp_path, kind):
    stream, objects = io.BytesIO(), np.array([Planted()], dtype=object)
    if kind == "a pickle":
        stream.write(pickle.dumps(Planted()))
    elif kind == "an object array":
        np.save(stream, objects, allow_pickle=True)
    elif kind == "a zip of objects":
        with zipfile.ZipFile(stream, "w") as archive, archive.open("settings.npy", "w") as member:
            np.lib.format.write_array(member, objects, allow_pickle=True)
    else:
        stream.write(b"not a job")
    (tmp_path / "job.npz").write_bytes(stream.getvalue())
    Planted.ran.clear()
    with pytest.raises(StoreError, match=r"job\.npz cannot be read"):
        FrameStore(tmp_path).job()
    with pytest.raises(StoreError):
        Job.load(tmp_path / "job.npz")
    assert not Planted.ran
