"""Methods that advance a body in time, one file each, and the registry that names them."""

from .registry import SOLVERS, make_solver

__all__ = ["SOLVERS", "make_solver"]
