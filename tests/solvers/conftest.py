"""The papers' bodies, where they are."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

DATA = Path(os.environ.get("SINEW_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))


@pytest.fixture
def body():
    """Loads a body by name; the test is skipped where the folder of bodies is missing."""

    def load(name: str) -> dict[str, np.ndarray]:
        if not (DATA / f"{name}.npz").is_file():
            pytest.skip(f"the body {name} is not here (SINEW_DATA names the folder)")
        with np.load(DATA / f"{name}.npz", allow_pickle=False) as data:
            return {key: data[key] for key in data.files}

    return load
