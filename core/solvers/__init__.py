"""Methods that advance a body in time, one file each, made for a space by the registry."""

from .registry import make_solver

__all__ = ["make_solver"]
