"""CHOLMOD through cvxopt: the fastest direct solver that may be shipped.

Its supernodal factorisation runs in a nested-dissection order of the vertices (METIS, where pymetis is installed); the
symbolic step is made once per sparsity.

What cvxopt's own functions solve column by column, the library that made the factor solves as a block, with BLAS for
each supernode. It lies in cvxopt's wheels for Linux and macOS; in those for Windows it is part of the module, and there
are no blocks.
"""

from __future__ import annotations

import ctypes
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..assembly.sparsity import Pattern
from .blas_kernels import load_cvxopt
from .ordering import METIS_FROM, expand, factor_entries, lower_of_ones, minimum_degree, nested_dissection
from .protocol import not_definite

WHOLE, FORWARD, BACKWARD, PERMUTE, PERMUTE_BACK = 0, 4, 5, 7, 8  # CHOLMOD's numbers for the parts of a solution
FACTOR = b"CHOLMOD FACTOR D L"
"""What cvxopt calls a factor of real numbers with long indices."""

COMMON = 1 << 16
"""Bytes, many more than CHOLMOD's settings and work space take (2.7e3 in 3.0)."""

_REAL, _DOUBLE = 1, 0


class CholmodSolver:
    """CHOLMOD, supernodal. Holds the interpreter's lock while it factorises: run it in a process of its own."""

    name = "cholmod"
    label = "CHOLMOD"
    package = "cvxopt"

    def __init__(self, pattern: Pattern) -> None:
        cvxopt = load_cvxopt()
        self._cholmod, self._amd = cvxopt.cholmod, cvxopt.amd
        self._matrix, self._sparse = cvxopt.matrix, cvxopt.sparse
        self._pattern = pattern
        self._A = lower_of_ones(cvxopt, pattern.column_starts, pattern.row_indices)
        order = nested_dissection(pattern) if len(pattern.free) >= METIS_FROM else None
        self.ordering = "minimum degree" if order is None else "METIS"
        if order is None:
            order = minimum_degree(pattern)
        self.factor_entries = factor_entries(pattern, order)
        self._factor = self._cholmod.symbolic(self._A, p=self._matrix(expand(order, pattern.width)))

    def factorize(self, values: np.ndarray) -> None:
        """Refill the values in place and factorise."""
        self._A.V = self._matrix(values)
        try:
            self._cholmod.numeric(self._A, self._factor)
        except ArithmeticError as error:
            raise not_definite() from error

    def weak_vertex(self, values: np.ndarray) -> int:
        """Where the factorisation breaks down.

        CHOLMOD names a column in an order that it has improved on ours and does not tell: it is asked again without.
        """
        free, width = self._pattern.free, self._pattern.width
        self._A.V = self._matrix(values)
        options = dict(self._cholmod.options)
        self._cholmod.options.update(postorder=False, supernodal=2)
        try:
            order = self._amd.order(self._A)
            self._cholmod.numeric(self._A, self._cholmod.symbolic(self._A, p=order))
        except ArithmeticError as error:
            return int(free[int(order[int(error.args[0])]) // width])
        finally:
            self._cholmod.options.clear()
            self._cholmod.options.update(options)
        return int(free[0])

    def solve(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Solve with the last factorisation."""
        if right_hand_side.ndim == 2 and (blocks := block_solver()):
            return blocks.solve(self._factor, right_hand_side, WHOLE)
        b = self._matrix(np.ascontiguousarray(right_hand_side, dtype=np.float64))
        self._cholmod.solve(self._factor, b)
        return np.array(b).reshape(right_hand_side.shape)

    def forward(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Half a solution. Without blocks several are solved as sparse right-hand sides, which goes by fours."""
        right_hand_side = np.asarray(right_hand_side, dtype=np.float64)[self._permutation]
        if right_hand_side.ndim == 2 and (blocks := block_solver()):
            return blocks.solve(self._factor, right_hand_side, FORWARD)
        b = self._matrix(right_hand_side)
        if right_hand_side.ndim == 1:
            self._cholmod.solve(self._factor, b, sys=FORWARD)
        else:
            b = self._matrix(self._cholmod.spsolve(self._factor, self._sparse(b), sys=FORWARD))
        return np.array(b).reshape(right_hand_side.shape)

    @cached_property
    def _permutation(self) -> np.ndarray:
        """The order of the factor's rows, which is known once there is one."""
        numbers = self._matrix(np.arange(self._pattern.size, dtype=np.float64))
        self._cholmod.solve(self._factor, numbers, sys=PERMUTE)
        return np.array(numbers).ravel().astype(np.intp)

    def backward(self, right_hand_side: np.ndarray) -> np.ndarray:
        """The other half."""
        b = self._matrix(np.ascontiguousarray(right_hand_side, dtype=np.float64))
        for part in (BACKWARD, PERMUTE_BACK):
            self._cholmod.solve(self._factor, b, sys=part)
        return np.array(b).reshape(right_hand_side.shape)


class _Dense(ctypes.Structure):
    """``cholmod_dense`` of CHOLMOD's User Guide."""

    _fields_ = (
        *((name, ctypes.c_size_t) for name in ("rows", "columns", "entries", "leading")),
        ("x", ctypes.c_void_p),
        ("z", ctypes.c_void_p),
        ("xtype", ctypes.c_int),
        ("dtype", ctypes.c_int),
    )


class BlockSolver:
    """CHOLMOD's solutions, by a library that is loaded. It holds the interpreter's lock, as cvxopt does: what it works
    in is one for all threads.
    """

    def __init__(self, library: ctypes.PyDLL) -> None:
        self._solve, self._free = library.cholmod_l_solve, library.cholmod_l_free_dense
        self._solve.restype = ctypes.POINTER(_Dense)
        self._solve.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_Dense), ctypes.c_void_p]
        self._free.argtypes = [ctypes.POINTER(ctypes.POINTER(_Dense)), ctypes.c_void_p]
        self._pointer = ctypes.pythonapi.PyCapsule_GetPointer
        self._pointer.restype, self._pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        self._common = ctypes.create_string_buffer(COMMON)
        library.cholmod_l_start.argtypes = [ctypes.c_void_p]
        library.cholmod_l_start(self._common)

    def solve(self, factor: Any, b: np.ndarray, part: int) -> np.ndarray:
        """A part of a solution, by CHOLMOD's number, for right-hand sides (n,k)."""
        columns = np.asfortranarray(b, dtype=np.float64)
        rows, count = columns.shape
        given = _Dense(rows, count, rows * count, rows, columns.ctypes.data, None, _REAL, _DOUBLE)
        found = self._solve(part, self._pointer(factor, FACTOR), ctypes.byref(given), self._common)
        if not found:
            raise MemoryError("CHOLMOD found no memory for a block of right-hand sides.")
        x = ctypes.cast(found.contents.x, ctypes.POINTER(ctypes.c_double))
        solution = np.ctypeslib.as_array(x, (count, rows)).T.copy(order="F")
        self._free(ctypes.byref(found), self._common)
        return solution


@cache
def block_solver() -> BlockSolver | None:
    """The one of this process; None where cvxopt has CHOLMOD within."""
    home = Path(load_cvxopt().__file__).parent
    found = [*home.parent.glob("cvxopt.libs/libcholmod*"), *home.glob(".dylibs/libcholmod*")]
    return BlockSolver(ctypes.PyDLL(str(found[0]))) if found else None
