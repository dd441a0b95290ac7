"""Parts of ``build_addon.py``. They run on bare Python with the standard library, and are not part of the extension."""
