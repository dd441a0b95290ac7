"""What ``build_addon.py`` is made of. Runs on bare Python: standard library only. Not part of the extension."""
