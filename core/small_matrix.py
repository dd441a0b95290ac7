"""3 x 3 linear algebra in kernels: singular values, symmetric eigenvectors, the polar stretch and its derivative.

Jacobi rotations throughout: one-sided for singular values (relative accuracy down to the smallest one, which a body of
1e14 Pa needs; the eigenvalues of ``F^T F`` would lose half the digits), two-sided for symmetric matrices.

The singular value decomposition is the signed one: ``F = U diag(sigma) V^T`` with U and V rotations and
``sigma_1 >= sigma_2 >= |sigma_3|``, so that an inverted F has ``sigma_3 < 0``.

A symmetric matrix S is stored as six numbers ``s = (S11, S22, S33, S23, S13, S12)``.
"""

from __future__ import annotations

import numpy as np

from .jit import kernel, parallel_kernel

SMALLEST_SUM = 0.1
"""Magnitude below which ``sigma_i + sigma_j`` is clamped in the stretch derivative (inverted elements; see
numerics).
"""


UNSTRETCHED = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
"""The identity as six numbers."""


@kernel
def svd3(F, U, sigma, V):
    """Signed singular value decomposition of one 3 x 3 matrix, written into U, sigma, V; V holds a rotation to start
    from.
    """
    # Scaled, so that products of tiny or huge entries neither vanish nor overflow.
    largest = 0.0
    for i in range(3):
        for j in range(3):
            largest = max(largest, abs(F[i, j]))
    scale = 1.0 / largest if largest > 0.0 else 1.0
    # Columns of A = F V as tuples: the compiler keeps them in registers.
    u, v, w = (V[0, 0], V[1, 0], V[2, 0]), (V[0, 1], V[1, 1], V[2, 1]), (V[0, 2], V[1, 2], V[2, 2])
    a, b, c = _product(F, u, scale), _product(F, v, scale), _product(F, w, scale)
    for _sweep in range(30):
        a, b, u, v, first = _orthogonalize(a, b, u, v)
        a, c, u, w, second = _orthogonalize(a, c, u, w)
        b, c, v, w, third = _orthogonalize(b, c, v, w)
        # NaN ends the sweeps too.
        if not max(first, second, third) >= 1e-15:
            break
    x, y, z = np.sqrt(_dot(a, a)), np.sqrt(_dot(b, b)), np.sqrt(_dot(c, c))
    # Sort downwards; each exchange flips the determinant of V, mended at the end.
    even = True
    if x < y:
        a, b, u, v, x, y, even = b, a, v, u, y, x, not even
    if y < z:
        b, c, v, w, y, z, even = c, b, w, v, z, y, not even
    if x < y:
        a, b, u, v, x, y, even = b, a, v, u, y, x, not even
    if not even:
        c, w = (-c[0], -c[1], -c[2]), (-w[0], -w[1], -w[2])
    left, middle = _left_vectors(a, b, x, y)
    right = _cross(left, middle)
    # A's third column is +-sigma_3 times this cross product.
    if _dot(c, right) < 0.0:
        z = -z
    for i in range(3):
        U[i, 0], U[i, 1], U[i, 2] = left[i], middle[i], right[i]
        V[i, 0], V[i, 1], V[i, 2] = u[i], v[i], w[i]
    sigma[0], sigma[1], sigma[2] = x * largest, y * largest, z * largest


@kernel
def _orthonormalize(frame, out):
    """A rotation but for round-off without it, ``V (3 - V^T V) / 2``: else it would grow from start to start."""
    u = (frame[0, 0], frame[1, 0], frame[2, 0])
    v = (frame[0, 1], frame[1, 1], frame[2, 1])
    w = (frame[0, 2], frame[1, 2], frame[2, 2])
    uv, uw, vw = 0.5 * _dot(u, v), 0.5 * _dot(u, w), 0.5 * _dot(v, w)
    a, b, c = 1.5 - 0.5 * _dot(u, u), 1.5 - 0.5 * _dot(v, v), 1.5 - 0.5 * _dot(w, w)
    for i in range(3):
        out[i, 0] = a * u[i] - uv * v[i] - uw * w[i]
        out[i, 1] = b * v[i] - uv * u[i] - vw * w[i]
        out[i, 2] = c * w[i] - uw * u[i] - vw * v[i]


@kernel
def _product(F, u, scale):
    return (
        (F[0, 0] * u[0] + F[0, 1] * u[1] + F[0, 2] * u[2]) * scale,
        (F[1, 0] * u[0] + F[1, 1] * u[1] + F[1, 2] * u[2]) * scale,
        (F[2, 0] * u[0] + F[2, 1] * u[1] + F[2, 2] * u[2]) * scale,
    )


@kernel
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def _cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel
def _rotate(a, b, c, s):
    """Columns ``c a - s b`` and ``s a + c b``."""
    return (
        (c * a[0] - s * b[0], c * a[1] - s * b[1], c * a[2] - s * b[2]),
        (s * a[0] + c * b[0], s * a[1] + c * b[1], s * a[2] + c * b[2]),
    )


@kernel
def _orthogonalize(a, b, u, v):
    """Rotate columns a, b (and u, v alike) so that a and b are orthogonal; also the cosine between them before."""
    aa, bb, ab = _dot(a, a), _dot(b, b), _dot(a, b)
    size = np.sqrt(aa * bb)
    if abs(ab) <= 1e-16 * size or ab == 0.0:
        return a, b, u, v, 0.0
    zeta = (bb - aa) / (2.0 * ab)
    t = 1.0 / (abs(zeta) + np.sqrt(1.0 + zeta * zeta))
    if zeta < 0.0:
        t = -t
    c = 1.0 / np.sqrt(1.0 + t * t)
    s = c * t
    a, b = _rotate(a, b, c, s)
    u, v = _rotate(u, v, c, s)
    return a, b, u, v, abs(ab) / size if size > 0.0 else 0.0


@kernel
def _left_vectors(a, b, x, y):
    """First two left singular vectors from columns a, b of lengths x >= y; what vanishes is completed."""
    if x > 1e-300:
        left = (a[0] / x, a[1] / x, a[2] / x)
    else:
        left = (1.0, 0.0, 0.0)
    if y > 1e-300 + 1e-15 * x:
        return left, (b[0] / y, b[1] / y, b[2] / y)
    # Any vector across: the axis that is least along it, less its part along it.
    k = 0
    if abs(left[1]) < abs(left[k]):
        k = 1
    if abs(left[2]) < abs(left[k]):
        k = 2
    axis = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
    along = _dot(axis, left)
    across = (axis[0] - along * left[0], axis[1] - along * left[1], axis[2] - along * left[2])
    norm = np.sqrt(_dot(across, across))
    return left, (across[0] / norm, across[1] / norm, across[2] / norm)


@kernel
def eigh3(S, values, Q):
    """Eigenvalues and rotation of eigenvectors of one symmetric 3 x 3 matrix: ``S = Q diag(values) Q^T``, unsorted."""
    x, y, z = S[0, 0], S[1, 1], S[2, 2]
    yz, xz, xy = S[1, 2], S[0, 2], S[0, 1]
    u, v, w = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    for _sweep in range(30):
        off = abs(xy) + abs(xz) + abs(yz)
        # NaN ends the sweeps too.
        if not off > 1e-16 * (abs(x) + abs(y) + abs(z)):
            break
        x, y, xy, xz, yz, u, v = _diagonalize(x, y, xy, xz, yz, u, v)
        x, z, xz, xy, yz, u, w = _diagonalize(x, z, xz, xy, yz, u, w)
        y, z, yz, xy, xz, v, w = _diagonalize(y, z, yz, xy, xz, v, w)
    values[0], values[1], values[2] = x, y, z
    for i in range(3):
        Q[i, 0], Q[i, 1], Q[i, 2] = u[i], v[i], w[i]


@kernel
def _diagonalize(p, q, pq, pr, qr, u, v):
    """One Jacobi rotation in the plane of p, q: the entry pq vanishes, pr and qr mix, columns u and v turn."""
    if pq == 0.0:
        return p, q, pq, pr, qr, u, v
    theta = (q - p) / (2.0 * pq)
    t = 1.0 / (abs(theta) + np.sqrt(theta * theta + 1.0))
    if theta < 0.0:
        t = -t
    c = 1.0 / np.sqrt(t * t + 1.0)
    s = t * c
    u, v = _rotate(u, v, c, s)
    return p - t * pq, q + t * pq, 0.0, c * pr - s * qr, s * pr + c * qr, u, v


@kernel
def into_frame(U, A, V, T, out):
    """``U^T A V`` into out; T (3,3) is scratch."""
    for i in range(3):
        for j in range(3):
            T[i, j] = U[0, i] * A[0, j] + U[1, i] * A[1, j] + U[2, i] * A[2, j]
    for i in range(3):
        for j in range(3):
            out[i, j] = T[i, 0] * V[0, j] + T[i, 1] * V[1, j] + T[i, 2] * V[2, j]


@kernel
def out_of_frame(U, A, V, T, out):
    """``U A V^T`` into out; T (3,3) is scratch."""
    for i in range(3):
        for j in range(3):
            T[i, j] = U[i, 0] * A[0, j] + U[i, 1] * A[1, j] + U[i, 2] * A[2, j]
    for i in range(3):
        for j in range(3):
            out[i, j] = T[i, 0] * V[j, 0] + T[i, 1] * V[j, 1] + T[i, 2] * V[j, 2]


@kernel
def symmetric_from_six(s, S):
    """Write the 3 x 3 matrix of six numbers into S."""
    S[0, 0], S[1, 1], S[2, 2] = s[0], s[1], s[2]
    S[1, 2] = S[2, 1] = s[3]
    S[0, 2] = S[2, 0] = s[4]
    S[0, 1] = S[1, 0] = s[5]


def axes(count: int) -> np.ndarray:
    """The world's axes as frames to start a decomposition from, (count,3,3)."""
    return np.tile(np.eye(3), (count, 1, 1))


def batch_svd(F: np.ndarray, frames: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Signed singular value decompositions, F (n,3,3) -> U (n,3,3), sigma (n,3), V (n,3,3).

    ``frames`` (n,3,3): rotations to start V from; near it they spare a third of the work.
    """
    n = len(F)
    U, sigma, V = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 3, 3))
    _batch_svd(n, F, axes(n) if frames is None else frames, U, sigma, V)
    return U, sigma, V


@parallel_kernel
def _batch_svd(begin, end, F, frames, U, sigma, V):
    for e in range(begin, end):
        _orthonormalize(frames[e], V[e])
        svd3(F[e], U[e], sigma[e], V[e])


def batch_eigh(s: np.ndarray, frames: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues (n,3) and rotations (n,3,3) of symmetric matrices stored as six numbers each, s (n,6).

    ``frames`` (n,3,3): rotations to start from; near the eigenvectors they spare half of the work.
    """
    values, Q = np.empty((len(s), 3)), np.empty((len(s), 3, 3))
    _batch_eigh(len(s), s, axes(len(s)) if frames is None else frames, values, Q)
    return values, Q


@parallel_kernel
def _batch_eigh(begin, end, s, frames, values, Q):
    S, T, R, W = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    for e in range(begin, end):
        symmetric_from_six(s[e], S)
        _orthonormalize(frames[e], W)
        into_frame(W, S, W, T, R)
        eigh3(R, values[e], T)
        for i in range(3):
            for j in range(3):
                Q[e, i, j] = W[i, 0] * T[0, j] + W[i, 1] * T[1, j] + W[i, 2] * T[2, j]


def batch_stretch(sigma: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Polar stretches ``S = V diag(sigma) V^T`` of sigma (n,3) and V (n,3,3) as six numbers each, (n,6)."""
    s = np.empty((len(sigma), 6))
    _batch_stretch(len(sigma), sigma, V, s)
    return s


@parallel_kernel
def _batch_stretch(begin, end, sigma, V, s):
    for e in range(begin, end):
        for k in range(6):
            i = k if k < 3 else (1 if k == 3 else 0)
            j = k if k < 3 else (1 if k == 5 else 2)
            s[e, k] = (
                V[e, i, 0] * sigma[e, 0] * V[e, j, 0]
                + V[e, i, 1] * sigma[e, 1] * V[e, j, 1]
                + V[e, i, 2] * sigma[e, 2] * V[e, j, 2]
            )
