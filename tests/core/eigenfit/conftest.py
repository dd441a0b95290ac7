"""Vibrations and trial of the finer lattice of the bar of eight cells, computed once."""

from __future__ import annotations

import pytest
from sinew.core.jobs.store.frame_store import FrameStore

from .test_match_resolution import job


@pytest.fixture(scope="session")
def shared_store(tmp_path_factory: pytest.TempPathFactory) -> FrameStore:
    """Store for the preparation of that bar, by whatever solver and method."""
    return FrameStore.create(tmp_path_factory.mktemp("finer") / "store", job("mixed_fem", match_resolution=True))
