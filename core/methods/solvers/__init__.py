"""Solvers that advance a body in time, one file each."""

from .registry import make_solver

__all__ = ["make_solver"]
