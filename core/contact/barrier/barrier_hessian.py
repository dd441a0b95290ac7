"""Hessian and normal force of the IPC barrier, per active pair of primitives.

A pair consists of two vertices, an edge and a vertex, a face and a vertex, or two edges, with the vertices x_i. Its
squared distance D is the minimum of ``|r|²``, ``r = sum_i c_i(s) x_i``, over the parameters s of the nearest points. C
is the row vector of the weights c_i at the minimum, B_j the row vector of their derivatives dc_i/ds_j. For every kind
of pair the derivatives of D are

    dD/dx = 2 C^T r,        d²D/dx² = 2 (C^T C - K (E^T E)^-1 K^T)

where E has the columns ``e_j = dr/ds_j``, and K the columns ``K_j = C^T e_j + B_j^T r``.

Gradient and Hessian lie in a subspace of at most five of the twelve dimensions, spanned by C and ``B_j^T r``. The
barrier of nearly parallel edges is multiplied by a mollifier, a function of ``|u x v|²`` for the edge vectors u and v
[IPC20]. ipctk computes the same Hessian, but on one thread and as a sparse matrix. The computation by ipctk would be
most of the cost of contact apart from the factorization.

Source: [IPC20] Li et al., Incremental Potential Contact, 2020, Sec. 4.1 and Eq. 24.
"""

from __future__ import annotations

import math

import numpy as np

from ...foundation.kernels.jit import inner_kernel, parallel_kernel
from ...foundation.kernels.simd_math import cross, dot, minus
from ...mechanics.assembly.semi_definite import clamp_negative
from ...mechanics.assembly.stencils import Stencils

POINTS, EDGE_POINT, FACE_POINT, EDGES = 0, 1, 2, 3
"""Kinds of pairs: vertex-vertex, edge-vertex, face-vertex and edge-edge.

In edge-vertex and face-vertex pairs the nearest point is interior to the edge or face. Edge-edge pairs have nine kinds,
``EDGES + t`` for t from 0 to 8. The number t is the value of ipctk's ``EdgeEdgeDistanceType``: the nearest points are
ends of both edges (0 to 3), an end of the second edge only (4, 5), an end of the first edge only (6, 7), or interior to
both edges (8).
"""


def hessian_stencils(
    points: np.ndarray,
    kinds: np.ndarray,
    pair_parameters: np.ndarray,
    y: np.ndarray,
    dhat: float,
    stiffness: float,
    projected: bool = True,
) -> Stencils:
    """Return the barrier's 12 x 12 Hessian blocks, N/m, of pairs of primitives.

    Primitives are vertices, edges and faces.

    Parameters
    ----------
    points : (k,4)
        Vertex indices of each pair, -1 if unused. The vertices of the first primitive come first. In an edge-vertex or
        face-vertex pair, the first primitive is the vertex.
    kinds : (k,), kind of each pair
        One of ``POINTS``, ``EDGE_POINT`` and ``FACE_POINT``, or for two edges ``EDGES + t``. The number t, 0 to 8, says
        which ends of the edges are nearest to each other (ipctk's ``EdgeEdgeDistanceType``).
    pair_parameters : (k,3), three numbers per pair
        Area weight, m²; minimum distance dmin, m; mollifier threshold, m⁴.
    y : (s,3) m, positions of the surface vertices
    dhat : m, activation distance
    stiffness : Pa, barrier stiffness
    projected : if True, negative eigenvalues of each block are set to zero
    """
    out = np.zeros((len(points), 4, 3, 4, 3))
    _hessian_stencils(len(points), points, kinds, pair_parameters, y, dhat, stiffness, projected, out)
    return Stencils(points, out)


def normal_force_magnitudes(
    points: np.ndarray, kinds: np.ndarray, pair_parameters: np.ndarray, y: np.ndarray, dhat: float, stiffness: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the vertex weights and the normal forces of pairs of primitives.

    The arguments are those of :func:`hessian_stencils`. The result is three arrays:

    - (k,4): signed barycentric weights. The weights of the first primitive's vertices sum to 1, those of the second to
      -1. So the weighted sum of all vertices is the vector between the nearest points of the pair.
    - (k,), N: the barrier's normal forces.
    - (k,), N/m: decrease of the normal forces per metre of separation.

    For pairs of nearly parallel edges the force and its decrease are set to zero. A small rotation can move the nearest
    points of parallel edges from one end to the other.
    """
    shares, forces, slopes = np.zeros(points.shape), np.zeros(len(points)), np.zeros(len(points))
    _normal_force_magnitudes(len(points), points, kinds, pair_parameters, y, dhat, stiffness, shares, forces, slopes)
    return shares, forces, slopes


@inner_kernel
def _barycentric_weights(kind, c, B):
    """Write the weights c (4,) of a pair's vertices and their derivatives B (2,4). Return the number of parameters.

    The weighted sum of the vertices is the vector between two points, one on each primitive. Up to two parameters move
    the points along an edge or face. c holds the weights at zero parameters.
    """
    c[:] = 0.0
    B[:, :] = 0.0
    c[0] = 1.0
    free = 0
    if kind < EDGES:
        c[1] = -1.0
        for k in range(kind):
            B[k, 1], B[k, 2 + k] = 1.0, -1.0
        free = kind
    else:
        # ipctk's distance types: the nearest points are ends of both edges (0 to 3), only of the second (4, 5), only of
        # the first (6, 7), or of no edge (8).
        part = kind - EDGES
        one = part == 4 or part == 5 or part == 8
        other = part >= 6
        end = part == 2 or part == 3 or part == 7
        other_end = part == 1 or part == 3 or part == 5
        c[0], c[1] = (0.0, 1.0) if end else (1.0, 0.0)
        c[2], c[3] = (0.0, -1.0) if other_end else (-1.0, 0.0)
        if one:
            B[0, 0], B[0, 1] = -1.0, 1.0
            free = 1
        if other:
            B[free, 2], B[free, 3] = 1.0, -1.0
            free += 1
    return free


@inner_kernel
def _weighted_sum(c, x, out):
    for j in range(3):
        out[j] = c[0] * x[0, j] + c[1] * x[1, j] + c[2] * x[2, j] + c[3] * x[3, j]


@inner_kernel
def _gathered(points, y, x):
    """Copy the positions y of the vertices ``points`` (4,) into x (4,3). Unused entries are zero."""
    for i in range(4):
        for j in range(3):
            x[i, j] = y[points[i], j] if points[i] >= 0 else 0.0


@inner_kernel
def _barrier(D, reach, scale):
    """Return ipctk's barrier and its first and second derivative with respect to D, all times ``scale``.

    D is the squared distance minus dmin². The barrier vanishes where D is ``reach``.
    """
    log, part = math.log(D / reach), reach / D
    b = -scale * (D - reach) ** 2 * log
    return b, scale * (reach - D) * (2.0 * log - part + 1.0), scale * ((part + 2.0) * part - 2.0 * log - 3.0)


@inner_kernel
def _nearest_points(kind, x, c, B, r, e, L):
    """Write the vector r (3,) between the nearest points of a pair. Return the number of parameters s.

    Written, too: the weights c (4,) of the vertices at the nearest points, their derivatives B (2,4), the derivatives
    e_s (3,) of r in e (2,3), and ``(E^T E)^-1`` in L (2,2), padded with zeros.
    """
    e[:, :] = 0.0
    L[:, :] = 0.0
    free = _barycentric_weights(kind, c, B)
    _weighted_sum(c, x, r)
    for k in range(free):
        _weighted_sum(B[k], x, e[k])
    a, b, d = dot(e[0], e[0]), dot(e[0], e[1]), dot(e[1], e[1])
    if free == 1:
        L[0, 0] = 1.0 / a
    elif free == 2:
        det = a * d - b * b
        L[0, 0], L[0, 1], L[1, 0], L[1, 1] = d / det, -b / det, -b / det, a / det
    p, q = dot(e[0], r), dot(e[1], r)
    for i in range(4):
        c[i] -= (L[0, 0] * p + L[0, 1] * q) * B[0, i] + (L[1, 0] * p + L[1, 1] * q) * B[1, i]
    _weighted_sum(c, x, r)
    return free


@inner_kernel
def _squared_distance(kind, x, c, B, g, H):
    """Return the squared distance, m², of a pair, and write its gradient g (4,3) and Hessian H (4,3,4,3).

    The weights of the vertices at the nearest points are written to c (4,), and the derivatives of the weights to B
    (2,4).
    """
    L, K = np.empty((2, 2)), np.zeros((2, 4, 3))
    r, e = np.empty(3), np.empty((2, 3))
    free = _nearest_points(kind, x, c, B, r, e, L)
    for k in range(free):
        for i in range(4):
            for j in range(3):
                K[k, i, j] = c[i] * e[k, j] + B[k, i] * r[j]
    for i in range(4):
        for m in range(3):
            g[i, m] = 2.0 * c[i] * r[m]
            s = L[0, 0] * K[0, i, m] + L[0, 1] * K[1, i, m]
            t = L[1, 0] * K[0, i, m] + L[1, 1] * K[1, i, m]
            for j in range(4):
                for n in range(3):
                    H[i, m, j, n] = -2.0 * (s * K[0, j, n] + t * K[1, j, n])
                H[i, m, j, m] += 2.0 * c[i] * c[j]
    return dot(r, r)


@inner_kernel
def _parallel(x, threshold):
    """Return ``|u x v|² / threshold`` for two edge vectors u and v. Below 1 they are nearly parallel."""
    across = cross(minus(x[1], x[0]), minus(x[3], x[2]))
    return dot(across, across) / threshold


@inner_kernel
def _mollify(x, threshold, b, first_derivative, g, H):
    """Replace the Hessian H of the barrier b of two edges by the Hessian of the mollified barrier ``m b``.

    The mollifier m rises from 0 for parallel edge vectors u and v to 1 if ``|u x v|²`` is ``threshold`` (m⁴).
    """
    edges, cross_gradient, part = np.empty((2, 3)), np.empty((4, 3)), _parallel(x, threshold)
    for k in range(3):
        edges[0, k], edges[1, k] = x[1, k] - x[0, k], x[3, k] - x[2, k]
    u, v = edges[0], edges[1]
    m, first, second = (2.0 - part) * part, 2.0 * (1.0 - part) / threshold, -2.0 / threshold**2
    # Gradient of |u x v|² by the ends of the edges. ``bent`` is its Hessian without signs and the factor 2.
    across = cross(u, v)
    cross_gradient[1, 0], cross_gradient[1, 1], cross_gradient[1, 2] = cross(v, across)
    cross_gradient[3, 0], cross_gradient[3, 1], cross_gradient[3, 2] = cross(across, u)
    for k in range(3):
        for i in (1, 3):
            cross_gradient[i, k] *= 2.0
            cross_gradient[i - 1, k] = -cross_gradient[i, k]
    uu, vv, uv = dot(u, u), dot(v, v), dot(u, v)
    sign = (-1.0, 1.0)
    for i in range(4):
        for k in range(3):
            for j in range(4):
                for n in range(3):
                    same = 1.0 if k == n else 0.0
                    if i < 2 and j < 2:
                        bent = vv * same - v[k] * v[n]
                    elif i >= 2 and j >= 2:
                        bent = uu * same - u[k] * u[n]
                    elif i < 2:
                        bent = 2.0 * u[k] * v[n] - v[k] * u[n] - uv * same
                    else:
                        bent = 2.0 * v[k] * u[n] - u[k] * v[n] - uv * same
                    total = (
                        first * 2.0 * sign[i % 2] * sign[j % 2] * bent
                        + second * cross_gradient[i, k] * cross_gradient[j, n]
                    )
                    both = first * first_derivative * (cross_gradient[i, k] * g[j, n] + g[i, k] * cross_gradient[j, n])
                    H[i, k, j, n] = m * H[i, k, j, n] + both + b * total


@parallel_kernel
def _hessian_stencils(begin, end, points, kinds, pair_parameters, y, dhat, stiffness, projected, out):
    x, g, H = np.zeros((4, 3)), np.empty((4, 3)), np.empty((4, 3, 4, 3))
    c, B, basis = np.empty(4), np.empty((2, 4)), np.empty((9, 12))
    half, A = np.empty((9, 12)), np.empty((3, 9, 9))
    for p in range(begin, end):
        _gathered(points[p], y, x)
        weight, kept, threshold = pair_parameters[p]
        # The barrier is a function of squared distances beyond dmin².
        D = _squared_distance(kinds[p], x, c, B, g, H) - kept * kept
        reach = (2.0 * kept + dhat) * dhat
        if D >= reach:
            continue
        b, first_derivative, second_derivative = _barrier(D, reach, weight * stiffness * dhat / reach**2)
        for i in range(4):
            for k in range(3):
                for j in range(4):
                    for n in range(3):
                        H[i, k, j, n] = first_derivative * H[i, k, j, n] + second_derivative * g[i, k] * g[j, n]
        is_mollified = kinds[p] >= EDGES and _parallel(x, threshold) < 1.0
        if is_mollified:
            _mollify(x, threshold, b, first_derivative, g, H)
        if projected:
            count = _translation_free_basis(basis) if is_mollified else _distance_subspace(c, B, x, basis)
            _project_semidefinite(H.reshape(12, 12), basis, count, half, A, out[p].reshape(12, 12))
        else:
            for i in range(4):
                for j in range(3):
                    for k in range(4):
                        for m in range(3):
                            out[p, i, j, k, m] = H[i, j, k, m]


@parallel_kernel
def _normal_force_magnitudes(begin, end, points, kinds, pair_parameters, y, dhat, stiffness, shares, forces, slopes):
    x, B, r, e, L = np.empty((4, 3)), np.empty((2, 4)), np.empty(3), np.empty((2, 3)), np.empty((2, 2))
    for p in range(begin, end):
        _gathered(points[p], y, x)
        weight, kept, threshold = pair_parameters[p]
        _nearest_points(kinds[p], x, shares[p], B, r, e, L)
        square = dot(r, r)
        D, reach = square - kept * kept, (2.0 * kept + dhat) * dhat
        if D < reach and (kinds[p] < EDGES or _parallel(x, threshold) >= 1.0):
            _, first_derivative, second_derivative = _barrier(D, reach, weight * stiffness * dhat / reach**2)
            forces[p] = -2.0 * math.sqrt(square) * first_derivative
            slopes[p] = 2.0 * first_derivative + 4.0 * square * second_derivative


@inner_kernel
def _translation_free_basis(basis):
    """Set ``basis`` (9,12) to orthonormal displacements of four vertices with zero sum. Return their number, 9."""
    basis[:, :] = 0.0
    for a in range(3):
        for i in range(4):
            for k in range(3):
                basis[3 * a + k, 3 * i + k] = 0.5 if i == 0 or i == a + 1 else -0.5
    return 9


@inner_kernel
def _distance_subspace(c, B, x, basis):
    """Write an orthonormal basis of the range of a squared distance's Hessian. Return the number of basis vectors."""
    r, units, count = np.empty(3), np.empty((3, 4)), 0
    _weighted_sum(c, x, r)
    length = math.sqrt(dot(r, r))
    for k in range(3):
        for i in range(4):
            units[k, i] = c[i] if k == 0 else B[k - 1, i]
        for other in range(k):
            part = _dot4(units[k], units[other])
            for i in range(4):
                units[k, i] -= part * units[other, i]
        square = _dot4(units[k], units[k])
        if square == 0.0:
            break
        for i in range(4):
            units[k, i] /= math.sqrt(square)
        for m in range(3 if k == 0 else 1):
            for i in range(4):
                for j in range(3):
                    basis[count, 3 * i + j] = units[k, i] * (r[j] / length if k else 1.0 if j == m else 0.0)
            count += 1
    return count


@inner_kernel
def _dot4(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]


@inner_kernel
def _project_semidefinite(H, basis, n, half, A, out):
    """Add H (12,12) without its negative eigenvalues to ``out`` (12,12).

    The first n rows of ``basis`` are an orthonormal basis of a subspace that contains the range of H.
    """
    for a in range(n):
        half[a] = 0.0
        for i in range(12):
            if basis[a, i] != 0.0:
                for j in range(12):
                    half[a, j] += basis[a, i] * H[i, j]
        for b in range(n):
            total = 0.0
            for j in range(12):
                total += half[a, j] * basis[b, j]
            A[0, a, b] = total
    clamp_negative(A[0, :n, :n], A[1, :n, :n], A[2, 0, :n], A[2, 1, :n])
    for a in range(n):
        half[a] = 0.0
        for b in range(n):
            for j in range(12):
                half[a, j] += A[0, a, b] * basis[b, j]
    for a in range(n):
        for i in range(12):
            if basis[a, i] != 0.0:
                for j in range(12):
                    out[i, j] += basis[a, i] * half[a, j]
