"""Modules of ``build_addon.py``. They need only Python's standard library, and are not part of the extension."""
