"""Projection of a small symmetric matrix to the nearest semi-definite matrix, in place.

Householder tridiagonalization and implicit QL (EISPACK's tred2 and tql2). For matrices of 6 to 12 rows, LAPACK's call
overhead would dominate.
"""

from __future__ import annotations

import math

from ...foundation.kernels.jit import inner_kernel

ROUND_OFF = 2.0**-52
MOST_QL = 60
"""Maximum QL iterations per eigenvalue: about three suffice; the bound ends the loop for NaN."""


@inner_kernel
def clamp_negative(A, V, d, e):
    """Clamp the negative eigenvalues of a symmetric A (n,n) at zero, in place.

    ``V`` (n,n), ``d`` and ``e`` (n,): work arrays.
    """
    n = A.shape[0]
    for i in range(n):
        for j in range(n):
            V[i, j] = A[i, j]
    _tridiagonal(V, d, e)
    for i in range(n):  # vectors in rows from here on: contiguous in memory
        for j in range(i):
            V[i, j], V[j, i] = V[j, i], V[i, j]
    _diagonal(V, d, e)
    for k in range(n):
        if d[k] < 0.0:
            for i in range(n):
                part = d[k] * V[k, i]
                for j in range(n):
                    A[i, j] -= part * V[k, j]


@inner_kernel
def _tridiagonal(V, d, e):
    n = V.shape[0]
    for j in range(n):
        d[j] = V[n - 1, j]
    for i in range(n - 1, 0, -1):
        scale, h = 0.0, 0.0
        for k in range(i):
            scale += abs(d[k])
        if scale == 0.0:
            e[i] = d[i - 1]
            for j in range(i):
                d[j] = V[i - 1, j]
                V[i, j] = 0.0
                V[j, i] = 0.0
            d[i] = 0.0
            continue
        for k in range(i):
            d[k] /= scale
            h += d[k] * d[k]
        f = d[i - 1]
        g = -math.sqrt(h) if f > 0.0 else math.sqrt(h)
        e[i] = scale * g
        h -= f * g
        d[i - 1] = f - g
        _reflect(V, d, e, i, h)
        d[i] = h
    for i in range(n - 1):
        V[n - 1, i] = V[i, i]
        V[i, i] = 1.0
        h = d[i + 1]
        if h != 0.0:
            for j in range(i + 1):
                g = 0.0
                for k in range(i + 1):
                    g += V[k, i + 1] * V[k, j]
                for k in range(i + 1):
                    V[k, j] -= g * V[k, i + 1] / h
        for k in range(i + 1):
            V[k, i + 1] = 0.0
    for j in range(n):
        d[j] = V[n - 1, j]
        V[n - 1, j] = 0.0
    V[n - 1, n - 1] = 1.0
    e[0] = 0.0


@inner_kernel
def _reflect(V, d, e, i, h):
    """Apply a Householder reflection to the leading i x i block of V (n,n), from both sides.

    The Householder vector is ``d[:i]``, and ``h`` is half of its squared length.
    """
    for j in range(i):
        e[j] = 0.0
    for j in range(i):
        V[j, i] = d[j]
        g = e[j] + V[j, j] * d[j]
        for k in range(j + 1, i):
            g += V[k, j] * d[k]
            e[k] += V[k, j] * d[j]
        e[j] = g
    f = 0.0
    for j in range(i):
        e[j] /= h
        f += e[j] * d[j]
    for j in range(i):
        e[j] -= 0.5 * f / h * d[j]
    for j in range(i):
        f, g = d[j], e[j]
        for k in range(j, i):
            V[k, j] -= f * e[k] + g * d[k]
        d[j] = V[i - 1, j]
        V[i, j] = 0.0


@inner_kernel
def _diagonal(V, d, e):
    n = V.shape[0]
    for k in range(n - 1):
        e[k] = e[k + 1]
    e[n - 1] = 0.0
    shift, largest = 0.0, 0.0
    for i in range(n):
        largest = max(largest, abs(d[i]) + abs(e[i]))
        small = ROUND_OFF * largest
        m = i
        while m < n - 1 and abs(e[m]) > small:
            m += 1
        rounds = 0
        while m > i and (rounds == 0 or abs(e[i]) > small) and rounds < MOST_QL:
            rounds += 1
            shift += _shifted(d, e, i)
            _rotate(V, d, e, i, m)
        d[i] += shift
        e[i] = 0.0


@inner_kernel
def _shifted(d, e, i):
    g = d[i]
    p = (d[i + 1] - g) / (2.0 * e[i])
    r = math.copysign(math.sqrt(p * p + 1.0), p)
    d[i] = e[i] / (p + r)
    d[i + 1] = e[i] * (p + r)
    h = g - d[i]
    for k in range(i + 2, len(d)):
        d[k] -= h
    return h


@inner_kernel
def _rotate(V, d, e, first, last):
    n = V.shape[0]
    p, after, before = d[last], d[first + 1], e[first + 1]
    c = c2 = c3 = 1.0
    s = s2 = 0.0
    for i in range(last - 1, first - 1, -1):
        c3, c2, s2 = c2, c, s
        g, h, r = c * e[i], c * p, math.sqrt(p * p + e[i] * e[i])
        e[i + 1] = s * r
        s, c = e[i] / r, p / r
        p = c * d[i] - s * g
        d[i + 1] = h + s * (c * g + s * d[i])
        one, other = V[i], V[i + 1]
        for k in range(n):
            h = other[k]
            other[k] = s * one[k] + c * h
            one[k] = c * one[k] - s * h
    p = -s * s2 * c3 * before * e[first] / after
    e[first] = s * p
    d[first] = c * p
