"""3 x 3 linear algebra in kernels: singular value decomposition, symmetric eigenvectors and the polar stretch.

The algorithms are Jacobi rotations, two-sided for symmetric matrices and one-sided for singular values. With one-sided
rotations, even the smallest singular value has full relative accuracy, which a body of 1e14 Pa needs. The eigenvalues
of ``F^T F`` would lose half the digits. Matrices are processed in groups of ``LANES``, one per lane of a workspace W
(:mod:`.simd_math`).

The singular value decomposition is the signed one: ``F = U diag(sigma) V^T`` with rotations U and V and ``sigma_1 >=
sigma_2 >= |sigma_3|``, so that an inverted F has ``sigma_3 < 0``.

A symmetric matrix S is stored as six numbers ``s = (S11, S22, S33, S23, S13, S12)``.
"""

from __future__ import annotations

import numpy as np

from .jit import inlined, inner_kernel, parallel_kernel
from .simd_math import LANES, combine, cross, dot, load_matrix, matrix, set_matrix, set_six, six, store_matrix

SMALLEST_SUM = 0.1
"""Magnitude below which the divisor ``sigma_i + sigma_j`` in stretch derivatives is clamped (inverted elements)."""


IDENTITY_STRETCH = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
"""Polar stretch of an undeformed element: the identity matrix as six numbers."""


FRAME, SCALE, GOES_ON, WORKSPACE = 9 * LANES, 18 * LANES, 19 * LANES, 20 * LANES
"""Offsets in the workspace of a decomposition, and the size ``WORKSPACE`` of the workspace.

The workspace has twenty rows of ``LANES`` numbers, one number per matrix: nine rows for the matrix, nine for the
rotation (by columns, at ``FRAME``), one for the scale (``SCALE``) and one for the convergence measure (``GOES_ON``).
"""

CONVERGED = 1e-15
"""Tolerance of the convergence measure of a matrix.

For singular values, the measure is the sum of the cosines between the columns. For symmetric matrices, the measure is
the magnitude of the off-diagonal entries divided by that of the diagonal entries. A converged matrix is not modified
further, so results do not depend on the other matrices in the group.
"""


@inlined
def _rotate(a, b, c, s):
    """Return the columns ``c a - s b`` and ``s a + c b``: a Jacobi rotation of cosine c and sine s."""
    return (
        (c * a[0] - s * b[0], c * a[1] - s * b[1], c * a[2] - s * b[2]),
        (s * a[0] + c * b[0], s * a[1] + c * b[1], s * a[2] + c * b[2]),
    )


@inlined
def _tangent(p, q, pq, turns):
    """Return the tangent of the Jacobi rotation that diagonalises ``[[p, pq], [pq, q]]``, or 0 without ``turns``."""
    d, h = q - p, 2.0 * pq
    size = abs(d) + np.sqrt(d * d + h * h)
    h = h if d >= 0.0 else -h
    return h / size if turns and size > 0.0 else 0.0


@inlined
def _frame(V):
    """Return the nearly orthogonal matrix V after one Newton step to orthogonality, ``V (3 - V^T V) / 2``.

    V is a tuple of three columns. Round-off would otherwise accumulate in a rotation that is reused as an initial
    guess.
    """
    u, v, w = V
    uv, uw, vw = 0.5 * dot(u, v), 0.5 * dot(u, w), 0.5 * dot(v, w)
    a, b, c = 1.5 - 0.5 * dot(u, u), 1.5 - 0.5 * dot(v, v), 1.5 - 0.5 * dot(w, w)
    return (
        (a * u[0] - uv * v[0] - uw * w[0], a * u[1] - uv * v[1] - uw * w[1], a * u[2] - uv * v[2] - uw * w[2]),
        (b * v[0] - uv * u[0] - vw * w[0], b * v[1] - uv * u[1] - vw * w[1], b * v[2] - uv * u[2] - vw * w[2]),
        (c * w[0] - uw * u[0] - vw * v[0], c * w[1] - uw * u[1] - vw * v[1], c * w[2] - uw * u[2] - vw * v[2]),
    )


@inlined
def _orthogonalize(a, b, u, v, active):
    """Make columns a and b of F V orthogonal by a Jacobi rotation, and rotate columns u and v of V likewise.

    Return the rotated a, b, u and v, and the absolute cosine between a and b before the rotation. Nothing rotates if
    ``active`` is False.
    """
    aa, bb, ab = dot(a, a), dot(b, b), dot(a, b)
    size = np.sqrt(aa * bb)
    t = _tangent(aa, bb, ab, active and abs(ab) > 1e-16 * size)
    c = 1.0 / np.sqrt(1.0 + t * t)
    s = c * t
    a, b = _rotate(a, b, c, s)
    u, v = _rotate(u, v, c, s)
    return a, b, u, v, abs(ab) / size if size > 0.0 else 0.0


@inner_kernel
def _svd_lanes(W):
    """Find the rotation V that makes the columns of F V orthogonal, for ``LANES`` matrices F at once.

    The workspace W has 20 rows of ``LANES`` numbers, one number per matrix.

    Rows 0-8: before the call, F by columns; after the call, F V divided by the scale, by columns.
    Rows 9-17: before the call, the initial V by columns; after the call, V by columns.
    Row 18: receives the scale, the largest absolute entry of F.
    Row 19: scratch.
    """
    for lane in range(LANES):
        largest = 0.0
        for i in range(9):
            largest = max(largest, abs(W[i * LANES + lane]))
        W[SCALE + lane], W[GOES_ON + lane] = largest, 1.0
    for lane in range(LANES):
        # The largest entry is scaled to 1, so that products neither underflow nor overflow.
        scale = 1.0 / W[SCALE + lane] if W[SCALE + lane] > 0.0 else 1.0
        V = _frame(matrix(W, FRAME + lane))
        set_matrix(W, lane, _products(matrix(W, lane), V, scale))
        set_matrix(W, FRAME + lane, V)
    for _sweep in range(30):
        for lane in range(LANES):
            a, b, c = matrix(W, lane)
            u, v, w = matrix(W, FRAME + lane)
            active = W[GOES_ON + lane] >= CONVERGED
            a, b, u, v, first = _orthogonalize(a, b, u, v, active)
            a, c, u, w, second = _orthogonalize(a, c, u, w, active)
            b, c, v, w, third = _orthogonalize(b, c, v, w, active)
            set_matrix(W, lane, (a, b, c))
            set_matrix(W, FRAME + lane, (u, v, w))
            W[GOES_ON + lane] = first + second + third if active else 0.0
        if _all_done(W):
            break


@inlined
def _all_done(W):
    """Return True if all matrices in the workspace W have converged or contain NaN."""
    going_on = 0
    for lane in range(LANES):
        going_on += 1 if W[GOES_ON + lane] >= CONVERGED else 0
    return going_on == 0


@inlined
def _scaled(a, scale):
    return a[0] * scale, a[1] * scale, a[2] * scale


@inlined
def _products(A, V, scale):
    """Return ``scale`` times A V. All matrices are tuples of three columns."""
    u, v, w = V
    return _scaled(combine(u, A), scale), _scaled(combine(v, A), scale), _scaled(combine(w, A), scale)


@inner_kernel
def _signed_svd(W, lane, U, sigma, V):
    """Write the signed singular value decomposition of one matrix to U (3,3), sigma (3,) and V (3,3).

    ``W``: workspace after :func:`_svd_lanes`.
    ``lane``: index of the matrix in each row of W.
    """
    a, b, c = matrix(W, lane)
    u, v, w = matrix(W, FRAME + lane)
    x, y, z = np.sqrt(dot(a, a)), np.sqrt(dot(b, b)), np.sqrt(dot(c, c))
    # Sort in descending order. Each swap changes the sign of det V; an odd number of them is corrected at the end.
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
    right = cross(left, middle)
    # The third column is +-sigma_3 times this cross product.
    if dot(c, right) < 0.0:
        z = -z
    for i in range(3):
        U[i, 0], U[i, 1], U[i, 2] = left[i], middle[i], right[i]
        V[i, 0], V[i, 1], V[i, 2] = u[i], v[i], w[i]
    sigma[0], sigma[1], sigma[2] = _scaled((x, y, z), W[SCALE + lane])


@inner_kernel
def _left_vectors(a, b, x, y):
    """Return the first two left singular vectors, from the columns a and b of F V.

    The lengths of the columns are x >= y. If a column vanishes, any unit vector orthogonal to the other column is used.
    """
    if x > 1e-300:
        left = (a[0] / x, a[1] / x, a[2] / x)
    else:
        left = (1.0, 0.0, 0.0)
    if y > 1e-300 + 1e-15 * x:
        return left, (b[0] / y, b[1] / y, b[2] / y)
    # An orthogonal vector: the axis of the smallest component of ``left``, minus its projection onto ``left``.
    k = 0
    if abs(left[1]) < abs(left[k]):
        k = 1
    if abs(left[2]) < abs(left[k]):
        k = 2
    axis = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
    along = dot(axis, left)
    across = (axis[0] - along * left[0], axis[1] - along * left[1], axis[2] - along * left[2])
    norm = np.sqrt(dot(across, across))
    return left, (across[0] / norm, across[1] / norm, across[2] / norm)


@inner_kernel
def eigh3(S, values, Q):
    """Decompose a symmetric matrix S (3,3) as ``S = Q diag(values) Q^T``.

    ``values`` (3,): receives the eigenvalues, unsorted.
    ``Q`` (3,3): receives a rotation with the eigenvectors as columns.
    """
    x, y, z = S[0, 0], S[1, 1], S[2, 2]
    yz, xz, xy = S[1, 2], S[0, 2], S[0, 1]
    u, v, w = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    for _sweep in range(30):
        off = abs(xy) + abs(xz) + abs(yz)
        # The condition is negated so that NaN also ends the sweeps.
        if not off > 1e-16 * (abs(x) + abs(y) + abs(z)):
            break
        x, y, xy, xz, yz, u, v = _diagonalize(x, y, xy, xz, yz, u, v, True)
        x, z, xz, xy, yz, u, w = _diagonalize(x, z, xz, xy, yz, u, w, True)
        y, z, yz, xy, xz, v, w = _diagonalize(y, z, yz, xy, xz, v, w, True)
    values[0], values[1], values[2] = x, y, z
    for i in range(3):
        Q[i, 0], Q[i, 1], Q[i, 2] = u[i], v[i], w[i]


@inlined
def into_frame(U, A, V, T, out):
    """Transform a matrix A (3,3) into the frame of the rotations U and V: ``out = U^T A V``.

    T (3,3) is scratch.
    """
    for i in range(3):
        for j in range(3):
            T[i, j] = U[0, i] * A[0, j] + U[1, i] * A[1, j] + U[2, i] * A[2, j]
    for i in range(3):
        for j in range(3):
            out[i, j] = T[i, 0] * V[0, j] + T[i, 1] * V[1, j] + T[i, 2] * V[2, j]


@inlined
def out_of_frame(U, A, V, T, out):
    """Transform a matrix A (3,3) back from the frame of the rotations U and V: ``out = U A V^T``.

    T (3,3) is scratch.
    """
    for i in range(3):
        for j in range(3):
            T[i, j] = U[i, 0] * A[0, j] + U[i, 1] * A[1, j] + U[i, 2] * A[2, j]
    for i in range(3):
        for j in range(3):
            out[i, j] = T[i, 0] * V[j, 0] + T[i, 1] * V[j, 1] + T[i, 2] * V[j, 2]


def axes(count: int) -> np.ndarray:
    """Return ``count`` identity matrices (count,3,3), initial guesses of rotations."""
    initial_rotations = np.zeros((count, 3, 3))
    initial_rotations.reshape(count, 9)[:, ::4] = 1.0
    return initial_rotations


def batch_svd(F: np.ndarray, initial_rotations: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the signed singular value decompositions U (n,3,3), sigma (n,3), V (n,3,3) of matrices F (n,3,3).

    ``initial_rotations`` (n,3,3): initial guesses of the rotations V. Close guesses save a third of the work.
    """
    n = len(F)
    U, sigma, V = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 3, 3))
    _batch_svd(n, F, axes(n) if initial_rotations is None else initial_rotations, U, sigma, V)
    return U, sigma, V


@parallel_kernel
def _batch_svd(begin, end, F, initial_rotations, U, sigma, V):
    W = np.empty(WORKSPACE)
    for first in range(begin, end, LANES):
        svd_group(W, first, end, F, initial_rotations, U, sigma, V)


@inner_kernel
def svd_group(W, first, end, F, initial_rotations, U, sigma, V):
    """Compute signed singular value decompositions of the matrices F[first : min(first + LANES, end)].

    The results are written to the same rows of U, sigma and V (:func:`batch_svd`).
    ``initial_rotations``: initial guesses of V.
    ``W`` (WORKSPACE,): scratch.
    """
    for lane in range(LANES):
        # Lanes beyond the last matrix repeat it.
        e = min(first + lane, end - 1)
        load_matrix(W, lane, F[e].T)
        load_matrix(W, FRAME + lane, initial_rotations[e].T)
    _svd_lanes(W)
    for e in range(first, min(first + LANES, end)):
        _signed_svd(W, e - first, U[e], sigma[e], V[e])


def batch_eigh(s: np.ndarray, initial_rotations: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the unsorted eigenvalues (n,3) and the eigenvectors (n,3,3) of symmetric matrices.

    ``s`` (n,6): matrices as six numbers S11, S22, S33, S23, S13, S12.
    ``initial_rotations`` (n,3,3): initial guesses of the eigenvectors. Close guesses save half of the work.

    The eigenvectors are the columns of rotations.
    """
    values, Q = np.empty((len(s), 3)), np.empty((len(s), 3, 3))
    _batch_eigh(len(s), s, axes(len(s)) if initial_rotations is None else initial_rotations, values, Q)
    return values, Q


@parallel_kernel
def _batch_eigh(begin, end, s, initial_rotations, values, Q):
    W = np.empty(WORKSPACE)
    for first in range(begin, end, LANES):
        eigh_group(W, first, end, s, initial_rotations, values, Q)


@inner_kernel
def eigh_group(W, first, end, s, initial_rotations, values, Q):
    """Diagonalise the symmetric matrices s[first : min(first + LANES, end)].

    The results are written to the same rows of ``values`` and Q (:func:`batch_eigh`).
    ``initial_rotations``: initial guesses of Q.
    ``W`` (WORKSPACE,): scratch.
    """
    for lane in range(LANES):
        # Lanes beyond the last matrix repeat it.
        e = min(first + lane, end - 1)
        for k in range(6):
            W[k * LANES + lane] = s[e, k]
        load_matrix(W, FRAME + lane, initial_rotations[e].T)
    _eigh_lanes(W)
    for e in range(first, min(first + LANES, end)):
        lane = e - first
        for i in range(3):
            values[e, i] = W[i * LANES + lane] * W[SCALE + lane]
        store_matrix(W, FRAME + lane, Q[e].T)


@inner_kernel
def _eigh_lanes(W):
    """Diagonalise ``LANES`` symmetric matrices at once.

    The workspace W has 20 rows of ``LANES`` numbers, one number per matrix.

    Rows 0-5: before the call, the six numbers of the matrix.
    Rows 0-2: after the call, the eigenvalues divided by the scale.
    Rows 9-17: before the call, the initial rotation by columns; after the call, the eigenvectors by columns.
    Row 18: receives the scale, the largest absolute entry of the matrix.
    Row 19: scratch.
    """
    for lane in range(LANES):
        largest = 0.0
        for i in range(6):
            largest = max(largest, abs(W[i * LANES + lane]))
        W[SCALE + lane], W[GOES_ON + lane] = largest if largest > 0.0 else 1.0, 1.0
    for lane in range(LANES):
        # Transform the matrix to the initial frame and divide it by the scale.
        V = _frame(matrix(W, FRAME + lane))
        x, y, z, yz, xz, xy = six(W, lane)
        u, v, w = V
        a, b, c = _products(((x, xy, xz), (xy, y, yz), (xz, yz, z)), V, 1.0 / W[SCALE + lane])
        set_six(W, lane, (dot(u, a), dot(v, b), dot(w, c), dot(v, c), dot(u, c), dot(u, b)))
        set_matrix(W, FRAME + lane, V)
    for _sweep in range(30):
        for lane in range(LANES):
            x, y, z, yz, xz, xy = six(W, lane)
            u, v, w = matrix(W, FRAME + lane)
            active = W[GOES_ON + lane] >= CONVERGED
            x, y, xy, xz, yz, u, v = _diagonalize(x, y, xy, xz, yz, u, v, active)
            x, z, xz, xy, yz, u, w = _diagonalize(x, z, xz, xy, yz, u, w, active)
            y, z, yz, xy, xz, v, w = _diagonalize(y, z, yz, xy, xz, v, w, active)
            set_six(W, lane, (x, y, z, yz, xz, xy))
            set_matrix(W, FRAME + lane, (u, v, w))
            size = abs(x) + abs(y) + abs(z)
            W[GOES_ON + lane] = (abs(xy) + abs(xz) + abs(yz)) / size if active and size > 0.0 else 0.0
        if _all_done(W):
            break


@inlined
def _diagonalize(p, q, pq, pr, qr, u, v, active):
    """Apply the Jacobi rotation that makes the off-diagonal entry pq of a symmetric 3 x 3 matrix zero.

    Return the diagonal entries p and q, the off-diagonal entries pq, pr and qr, and the columns u and v of the
    eigenvector matrix. Nothing changes if ``active`` is False.
    """
    t = _tangent(p, q, pq, active)
    c = 1.0 / np.sqrt(1.0 + t * t)
    s = t * c
    u, v = _rotate(u, v, c, s)
    return p - t * pq, q + t * pq, 0.0 if active else pq, c * pr - s * qr, s * pr + c * qr, u, v


def batch_stretch(sigma: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Return the polar stretches ``S = V diag(sigma) V^T`` of n matrices as six numbers each, (n,6).

    ``sigma`` (n,3): singular values.
    ``V`` (n,3,3): rotations.
    """
    s = np.empty((len(sigma), 6))
    _batch_stretch(len(sigma), sigma, V, s)
    return s


@parallel_kernel
def _batch_stretch(begin, end, sigma, V, s):
    for e in range(begin, end):
        polar_stretch(sigma[e], V[e], s[e])


@inlined
def polar_stretch(sigma, V, s):
    """Write the polar stretch ``V diag(sigma) V^T`` of one element to s (6,)."""
    for k in range(6):
        i = k if k < 3 else (1 if k == 3 else 0)
        j = k if k < 3 else (1 if k == 5 else 2)
        s[k] = V[i, 0] * sigma[0] * V[j, 0] + V[i, 1] * sigma[1] * V[j, 1] + V[i, 2] * sigma[2] * V[j, 2]
