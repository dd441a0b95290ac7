"""Substitute for the package ``sinew`` after ``pip install -e .``; it imports the package from this checkout."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

_spec = importlib.util.spec_from_file_location("build_addon", Path(__file__).resolve().parents[3] / "build_addon.py")
assert _spec and _spec.loader
_build_addon = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_build_addon)
del sys.modules[__name__]  # the package itself replaces this module
_build_addon.mount()
