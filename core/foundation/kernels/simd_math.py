"""Small vectors and matrices as tuples of numbers, for kernels that process several items per SIMD instruction.

Such a kernel has a workspace W, a flat array of rows of ``LANES`` numbers: one row per scalar quantity, one lane per
item. A scalar's index in W is the start of its row plus the lane. A loop over lanes reads scalars into tuples, computes
without branches and writes scalars back, so the compiler vectorizes the loop. Inner loops over three components, or
small arrays, would prevent vectorization.

A vector is a tuple of three numbers, a matrix a tuple of three rows, a symmetric matrix six numbers: S11, S22, S33,
S23, S13, S12. In functions on W, ``row`` is the index of the first scalar: the start of its row plus the lane.
"""

from __future__ import annotations

from .jit import inlined

LANES = 8
"""Number of items processed at once: the doubles in a 512-bit register."""


@inlined
def dot(a, b):
    """Return the dot product of two vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def dot_six(a, b):
    """Return the dot product of two tuples of six numbers."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5])


@inlined
def cross(a, b):
    """Return the cross product of two vectors."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@inlined
def plus(a, b):
    """Return the sum of two vectors."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inlined
def minus(a, b):
    """Return the difference ``a - b`` of two vectors or arrays (3,), as a tuple."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inlined
def moved(a, t, b):
    """Return ``a + t b``."""
    return a[0] + t * b[0], a[1] + t * b[1], a[2] + t * b[2]


@inlined
def each(a, b):
    """Return the componentwise product of two vectors."""
    return a[0] * b[0], a[1] * b[1], a[2] * b[2]


@inlined
def plus_six(a, b):
    """Return the sum of two tuples of six numbers."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]


@inlined
def combine(x, A):
    """Return ``A^T x``: the sum of the rows of A, weighted by the components of x."""
    a, b, c = A
    return (
        x[0] * a[0] + x[1] * b[0] + x[2] * c[0],
        x[0] * a[1] + x[1] * b[1] + x[2] * c[1],
        x[0] * a[2] + x[1] * b[2] + x[2] * c[2],
    )


@inlined
def combine_six(x, A):
    """Return ``A^T x`` for a 3 x 6 matrix A, given as three rows."""
    a, b, c = A
    u, v = combine(x, (a[:3], b[:3], c[:3])), combine(x, (a[3:], b[3:], c[3:]))
    return u[0], u[1], u[2], v[0], v[1], v[2]


@inlined
def transposed(A):
    """Return ``A^T``."""
    a, b, c = A
    return (a[0], b[0], c[0]), (a[1], b[1], c[1]), (a[2], b[2], c[2])


@inlined
def times(A, x):
    """Return ``A x``."""
    return dot(A[0], x), dot(A[1], x), dot(A[2], x)


@inlined
def product(A, B):
    """Return ``A B``."""
    return combine(A[0], B), combine(A[1], B), combine(A[2], B)


@inlined
def congruent(A, s):
    """Return the symmetric matrix ``A S A^T`` as six numbers.

    ``s``: six numbers of the symmetric matrix S.
    """
    S = (s[0], s[5], s[4]), (s[5], s[1], s[3]), (s[4], s[3], s[2])
    x, y, z = times(S, A[0]), times(S, A[1]), times(S, A[2])
    return dot(A[0], x), dot(A[1], y), dot(A[2], z), dot(A[1], z), dot(A[0], z), dot(A[0], y)


@inlined
def vector(W, row):
    """Return a vector of one item from the flat workspace W.

    The three components begin at ``W[row]`` and are ``LANES`` apart, since W interleaves ``LANES`` items.
    """
    return W[row], W[row + LANES], W[row + 2 * LANES]


@inlined
def set_vector(W, row, a):
    """Write the vector a of one item to the flat workspace W.

    The three components begin at ``W[row]`` and are ``LANES`` apart, since W interleaves ``LANES`` items.
    """
    W[row], W[row + LANES], W[row + 2 * LANES] = a[0], a[1], a[2]


@inlined
def six(W, row):
    """Return six numbers of one item from the flat workspace W.

    The six numbers begin at ``W[row]`` and are ``LANES`` apart, since W interleaves ``LANES`` items.
    """
    a, b = vector(W, row), vector(W, row + 3 * LANES)
    return a[0], a[1], a[2], b[0], b[1], b[2]


@inlined
def set_six(W, row, a):
    """Write the six numbers a of one item to the flat workspace W.

    The six numbers begin at ``W[row]`` and are ``LANES`` apart, since W interleaves ``LANES`` items.
    """
    set_vector(W, row, (a[0], a[1], a[2]))
    set_vector(W, row + 3 * LANES, (a[3], a[4], a[5]))


@inlined
def matrix(W, row):
    """Return a 3 x 3 matrix of one item from the flat workspace W.

    The nine entries, row by row, begin at ``W[row]`` and are ``LANES`` apart, since W interleaves ``LANES`` items.
    """
    return vector(W, row), vector(W, row + 3 * LANES), vector(W, row + 6 * LANES)


@inlined
def set_matrix(W, row, A):
    """Write the 3 x 3 matrix A of one item to the flat workspace W.

    The nine entries, row by row, begin at ``W[row]`` and are ``LANES`` apart, since W interleaves ``LANES`` items.
    """
    set_vector(W, row, A[0])
    set_vector(W, row + 3 * LANES, A[1])
    set_vector(W, row + 6 * LANES, A[2])


@inlined
def load_vector(W, row, a):
    """Copy the array ``a`` (3,) of one item to the flat workspace W.

    The three components begin at ``W[row]`` and are ``LANES`` apart, since W interleaves ``LANES`` items.
    """
    for k in range(3):
        W[row + k * LANES] = a[k]


@inlined
def load_matrix(W, row, A):
    """Copy the array A (3,3) of one item to the flat workspace W.

    The nine entries, row by row, begin at ``W[row]`` and are ``LANES`` apart, since W interleaves ``LANES`` items.
    """
    for i in range(3):
        for j in range(3):
            W[row + (3 * i + j) * LANES] = A[i, j]


@inlined
def store(W, row, values):
    """Copy k numbers of one item from the flat workspace W to the array ``values`` (k,).

    The k numbers begin at ``W[row]`` and are ``LANES`` apart, since W interleaves ``LANES`` items.
    """
    for k in range(values.shape[0]):
        values[k] = W[row + k * LANES]


@inlined
def store_matrix(W, row, A):
    """Copy a 3 x 3 matrix of one item from the flat workspace W to the array A (3,3).

    The nine entries, row by row, begin at ``W[row]`` and are ``LANES`` apart, since W interleaves ``LANES`` items.
    """
    for i in range(3):
        for j in range(3):
            A[i, j] = W[row + (3 * i + j) * LANES]
