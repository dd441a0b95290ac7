"""Defaults of a new body, recommended settings, and cost estimates."""
