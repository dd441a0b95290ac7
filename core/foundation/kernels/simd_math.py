"""Small vectors and matrices as tuples of numbers: what kernels are written in that do several items side by side.

Such a kernel has a flat workspace W of rows of ``LANES`` numbers: a number's row says what it is, its lane whose it is,
and its place in W is where the row begins plus the lane. One loop over lanes reads rows into tuples, works without
branches and writes rows: it is compiled for as many lanes at once as a wide register holds, which loops over three and
small arrays within it would prevent.

A vector is a tuple of three numbers, a matrix one of three rows; a symmetric matrix is six numbers, S11, S22, S33,
S23, S13, S12.
"""

from __future__ import annotations

from .jit import inlined

LANES = 8
"""Items that are done side by side, as many as a processor's wide registers hold."""


@inlined
def dot(a, b):
    """Return the dot product of two vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def dot_six(a, b):
    """Return the dot product of two tuples of six."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5])


@inlined
def cross(a, b):
    """Return the cross product of two vectors."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@inlined
def plus(a, b):
    """The sum of two vectors."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inlined
def minus(a, b):
    """The difference of two vectors; rows of arrays will do."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inlined
def moved(a, t, b):
    """``a + t b``."""
    return a[0] + t * b[0], a[1] + t * b[1], a[2] + t * b[2]


@inlined
def each(a, b):
    """The products of two vectors' components."""
    return a[0] * b[0], a[1] * b[1], a[2] * b[2]


@inlined
def plus_six(a, b):
    """The sum of two tuples of six."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]


@inlined
def combine(x, A):
    """The rows of a matrix, each times a component of x, summed: ``A^T x``."""
    a, b, c = A
    return (
        x[0] * a[0] + x[1] * b[0] + x[2] * c[0],
        x[0] * a[1] + x[1] * b[1] + x[2] * c[1],
        x[0] * a[2] + x[1] * b[2] + x[2] * c[2],
    )


@inlined
def combine_six(x, A):
    """The same for three tuples of six."""
    a, b, c = A
    u, v = combine(x, (a[:3], b[:3], c[:3])), combine(x, (a[3:], b[3:], c[3:]))
    return u[0], u[1], u[2], v[0], v[1], v[2]


@inlined
def transposed(A):
    """``A^T``."""
    a, b, c = A
    return (a[0], b[0], c[0]), (a[1], b[1], c[1]), (a[2], b[2], c[2])


@inlined
def times(A, x):
    """``A x``."""
    return dot(A[0], x), dot(A[1], x), dot(A[2], x)


@inlined
def product(A, B):
    """``A B``."""
    return combine(A[0], B), combine(A[1], B), combine(A[2], B)


@inlined
def congruent(A, s):
    """``A S A^T`` of six numbers S, as six."""
    S = (s[0], s[5], s[4]), (s[5], s[1], s[3]), (s[4], s[3], s[2])
    x, y, z = times(S, A[0]), times(S, A[1]), times(S, A[2])
    return dot(A[0], x), dot(A[1], y), dot(A[2], z), dot(A[1], z), dot(A[0], z), dot(A[0], y)


@inlined
def vector(W, place):
    """The vector of three rows, from a place in the first."""
    return W[place], W[place + LANES], W[place + 2 * LANES]


@inlined
def set_vector(W, place, a):
    """Write it."""
    W[place], W[place + LANES], W[place + 2 * LANES] = a[0], a[1], a[2]


@inlined
def six(W, place):
    """The six numbers of six rows."""
    a, b = vector(W, place), vector(W, place + 3 * LANES)
    return a[0], a[1], a[2], b[0], b[1], b[2]


@inlined
def set_six(W, place, a):
    """Write them."""
    set_vector(W, place, (a[0], a[1], a[2]))
    set_vector(W, place + 3 * LANES, (a[3], a[4], a[5]))


@inlined
def matrix(W, place):
    """The matrix of nine rows."""
    return vector(W, place), vector(W, place + 3 * LANES), vector(W, place + 6 * LANES)


@inlined
def set_matrix(W, place, A):
    """Write it."""
    set_vector(W, place, A[0])
    set_vector(W, place + 3 * LANES, A[1])
    set_vector(W, place + 6 * LANES, A[2])


@inlined
def load_vector(W, place, a):
    """An array (3,) into three rows."""
    for k in range(3):
        W[place + k * LANES] = a[k]


@inlined
def load_matrix(W, place, A):
    """An array (3,3) into nine rows."""
    for i in range(3):
        for j in range(3):
            W[place + (3 * i + j) * LANES] = A[i, j]


@inlined
def store(W, place, values):
    """Store numbers in the first rows of an array (k,)."""
    for k in range(values.shape[0]):
        values[k] = W[place + k * LANES]


@inlined
def store_matrix(W, place, A):
    """Nine rows into an array (3,3)."""
    for i in range(3):
        for j in range(3):
            A[i, j] = W[place + (3 * i + j) * LANES]
