"""Declared fields: settings with their units and bounds, dataclasses of jobs with their metadata, animated values."""
