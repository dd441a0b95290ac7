"""The README's library script runs and does what the text says."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_library_script_runs():
    (script,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.S)
    assert len([line for line in script.splitlines() if line.strip()]) <= 16
    names: dict = {}
    exec(compile(script, "README.md", "exec"), names)  # noqa: S102 - our own README, as a reader would run it
    X, frames = names["X"], names["frames"]
    assert len(frames) == 24
    assert np.abs(frames[0] - X).max() < 1e-9
    assert np.abs(frames[-1][names["pins"]] - X[names["pins"]]).max() < 1e-9
    tip = frames[-1][8:]
    assert tip[:, 2].mean() < X[8:, 2].mean() - 0.005
    rigid = np.linalg.norm(tip[1:] - tip[0], axis=1) / np.linalg.norm(X[9:] - X[8], axis=1)
    assert np.abs(rigid - 1).max() < 1e-3
