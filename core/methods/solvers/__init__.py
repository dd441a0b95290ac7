"""Solvers that advance a body in time, one file each. The registry makes the solver for a space."""

from .registry import make_solver

__all__ = ["make_solver"]
