"""A process keeps freed memory if asked to."""

from __future__ import annotations

import subprocess
import sys

import pytest
from sinew.core.foundation.process import process_memory

FAULTS = """
import resource, sys
import importlib.util
spec = importlib.util.spec_from_file_location("process_memory", sys.argv[1])
memory = importlib.util.module_from_spec(spec)
spec.loader.exec_module(memory)
if sys.argv[2] == "keep":
    memory.keep_freed()
import numpy as np
np.ones(5_000_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    np.ones(5_000_000)
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) * resource.getpagesize() / 2e8)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's")
def test_memory_that_is_kept_is_not_cleared_anew():
    """By the pages that the system had to hand out for 200 MB that were let go before."""
    parts = {}
    for word in ("keep", "leave"):
        command = [sys.executable, "-c", FAULTS, process_memory.__file__, word]
        parts[word] = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert parts["keep"] < 0.1 * parts["leave"], parts
