"""Translations of the interface: one gettext catalogue per language, and texts with values."""
