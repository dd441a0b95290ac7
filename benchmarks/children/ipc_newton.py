"""Incremental Potential Contact as a plain projected Newton method; runs without the package.

Usage: ``python ipc_newton.py IN.npz OUT.npz``, with a Python that has ipctk, cvxopt and SciPy. Alg. 1 of [IPC20] (Li et
al. 2020, "Incremental Potential Contact"): implicit Euler; every iteration factorises the projected Hessian by CHOLMOD
and searches along its direction up to the first collision. A step ends when a direction moves no coordinate faster than
``eps_d`` times the diagonal of the scene. Friction is lagged: normal forces are those at the beginning of the step.
Barrier, friction and CCD are ipctk's. The energy is Stable Neo-Hookean without logarithm, on plain tets:

    psi = mu/2 (|F|^2 - 3) - mu (J - 1) + (lambda + mu)/2 (J - 1)^2

Its Hessian is projected by its eigenvalues in closed form (Smith, de Goes, Kim 2018).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import ipctk
import numpy as np
import scipy.sparse as sp
from cvxopt import cholmod, matrix, spmatrix

SHORTEST = 1e-3
"""Length of a step, relative to the direction, at which round-off hides its effect on the energy and iterations end."""

CLAMP = ipctk.PSDProjectionMethod.CLAMP
PAIRS = ((0, 1, 2), (1, 2, 0), (0, 2, 1))
"""Two axes and the third one."""


class Clock:
    """Processor seconds by part of the solver."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Add the time of the block to a part."""
        start = time.process_time()
        yield
        self.seconds[part] = self.seconds.get(part, 0.0) + time.process_time() - start


class Elastic:
    """Stable Neo-Hookean tets of plain linear shape functions."""

    def __init__(self, scene: dict[str, np.ndarray]) -> None:
        X, self.tets = scene["rest_positions"], scene["tets"].astype(int)
        self.mu, self.lam = scene["mu"], scene["lam"] + scene["mu"]
        corners = X[self.tets]
        edges = np.transpose(corners[:, 1:] - corners[:, :1], (0, 2, 1))
        inner = np.linalg.inv(edges)
        self.B = np.concatenate([-inner.sum(axis=1, keepdims=True), inner], axis=1)
        self.volumes = np.linalg.det(edges) / 6.0
        dof = (3 * self.tets[:, :, None] + np.arange(3)).reshape(-1, 12)
        rows, columns = np.repeat(dof, 12, axis=1).ravel(), np.tile(dof, (1, 12)).ravel()
        keys, self.place = np.unique(columns * (3 * len(X)) + rows, return_inverse=True)
        self.rows = keys % (3 * len(X))
        self.starts = np.searchsorted(keys, 3 * len(X) * np.arange(3 * len(X) + 1))

    def _F(self, x: np.ndarray) -> np.ndarray:
        return np.einsum("mai,maj->mij", x[self.tets], self.B)

    def value(self, x: np.ndarray) -> float:
        """Return the energy, J."""
        F = self._F(x)
        J = np.linalg.det(F) - 1.0
        shear = np.einsum("mij,mij->m", F, F) - 3.0 - 2.0 * J
        return float(self.volumes @ (0.5 * self.mu * shear + 0.5 * self.lam * J * J))

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Return the gradient (n,3), N."""
        F = self._F(x)
        cofactors = np.stack([np.cross(F[:, 1], F[:, 2]), np.cross(F[:, 2], F[:, 0]), np.cross(F[:, 0], F[:, 1])], 1)
        J = np.einsum("mi,mi->m", F[:, 0], cofactors[:, 0])
        P = self.mu[:, None, None] * F + (self.lam * (J - 1.0) - self.mu)[:, None, None] * cofactors
        forces = np.einsum("m,mij,maj->mai", self.volumes, P, self.B)
        return np.stack([np.bincount(self.tets.ravel(), forces[..., i].ravel(), len(x)) for i in range(3)], axis=1)

    def hessian(self, x: np.ndarray) -> sp.csc_matrix:
        """Return the projected Hessian (3n,3n), N/m."""
        U, s, V = np.linalg.svd(self._F(x))
        flip_U, flip_V = np.sign(np.linalg.det(U)), np.sign(np.linalg.det(V))
        U[:, :, 2] *= flip_U[:, None]
        V[:, 2] *= flip_V[:, None]
        s[:, 2] *= flip_U * flip_V
        c = np.stack([s[:, 1] * s[:, 2], s[:, 0] * s[:, 2], s[:, 0] * s[:, 1]], axis=1)
        a = self.lam * (s[:, 0] * c[:, 0] - 1.0) - self.mu
        D = self.mu[:, None, None] * np.eye(3) + self.lam[:, None, None] * c[:, :, None] * c[:, None]
        own, other = np.zeros((len(s), 3, 3)), np.zeros((len(s), 3, 3))
        for i, j, k in PAIRS:
            D[:, i, j] += a * s[:, k]
            D[:, j, i] += a * s[:, k]
            symmetric, turning = (np.maximum(self.mu - sign * a * s[:, k], 0.0) for sign in (1.0, -1.0))
            own[:, i, j] = own[:, j, i] = 0.5 * (symmetric + turning)
            other[:, i, j] = other[:, j, i] = 0.5 * (symmetric - turning)
        values, vectors = np.linalg.eigh(D)
        D = np.einsum("mik,mk,mjk->mij", vectors, np.maximum(values, 0.0), vectors)
        b = np.einsum("mij,maj->mai", V, self.B)
        K = np.einsum("mai,mik,mck->maick", b, D, b) + np.einsum("mak,mik,mci->maick", b, other, b)
        K += np.einsum("maj,mij,mcj->maic", b, own, b)[..., None] * np.eye(3)[:, None]
        K = np.einsum("m,mpi,maick,mqk->mapcq", self.volumes, U, K, U, optimize=True)
        blocks = np.bincount(self.place, K.ravel(), len(self.rows))
        return sp.csc_matrix((blocks, self.rows, self.starts), shape=(x.size, x.size))


class Contact:
    """Barrier, friction and CCD of ipctk. Surface vertices are those of bodies, then those of obstacles."""

    def __init__(self, scene: dict[str, np.ndarray]) -> None:
        faces, rest = scene["faces"].astype(np.int32), scene["surface_rest"]
        self.mesh = ipctk.CollisionMesh(np.asfortranarray(rest), ipctk.edges(faces), faces)
        self.mesh.can_collide = ipctk.make_vertex_patches_filter(scene["body_ids"].astype(np.int32))
        self.vertices, self.obstacles = scene["vertices"], scene["obstacles"]
        self.dhat, self.friction = float(scene["dhat"]), float(scene["friction"])
        self.barrier = ipctk.BarrierPotential(self.dhat, float(scene["stiffness"]), use_physical_barrier=True)
        self.dissipation = ipctk.FrictionPotential(float(scene["eps_v"]))
        self.ccd, self.h = ipctk.AdditiveCCD(), float(scene["time_step"])
        kept = (3 * self.vertices[:, None] + np.arange(3)).ravel()
        shape = (3 * len(rest), 3 * len(scene["rest_positions"]))
        self.to_surface = sp.csr_matrix((np.ones(len(kept)), (np.arange(len(kept)), kept)), shape=shape)
        self.candidates = ipctk.Candidates()

    def surface(self, x: np.ndarray) -> np.ndarray:
        """Return the positions of all surface vertices."""
        return np.asfortranarray(np.concatenate([x[self.vertices], self.obstacles]))

    def longest_step(self, x: np.ndarray, p: np.ndarray) -> float:
        """Return the largest step along p without collision, at most 1; keep the candidates of the path."""
        here, there = self.surface(x), self.surface(x + p)
        self.candidates.build(self.mesh, here, there, 0.5 * self.dhat)
        return self.candidates.compute_collision_free_stepsize(self.mesh, here, there, 0.0, self.ccd)

    def collisions(self, x: np.ndarray) -> ipctk.NormalCollisions:
        """Return the active pairs among the candidates of the path."""
        found = ipctk.NormalCollisions()
        found.use_area_weighting = True
        found.build(self.candidates, self.mesh, self.surface(x), self.dhat, 0.0)
        return found

    def begin_step(self, x: np.ndarray) -> None:
        """Lag friction: its normal forces are those at x."""
        self.start, self.tangential = self.surface(x), ipctk.TangentialCollisions()
        self.candidates.build(self.mesh, self.start, self.start, 0.5 * self.dhat)
        self.tangential.build(self.mesh, self.start, self.collisions(x), self.barrier, self.friction)

    def _velocity(self, x: np.ndarray) -> np.ndarray:
        return np.asfortranarray((self.surface(x) - self.start) / self.h)

    def value(self, x: np.ndarray) -> float:
        """Return the potential of barrier and friction, J."""
        sliding = self.dissipation(self.tangential, self.mesh, self._velocity(x))
        return self.barrier(self.collisions(x), self.mesh, self.surface(x)) + self.h * sliding

    def derivatives(self, x: np.ndarray) -> tuple[np.ndarray, sp.csc_matrix]:
        """Return the gradient (n,3) and the projected Hessian (3n,3n)."""
        found, y, v = self.collisions(x), self.surface(x), self._velocity(x)
        gradient = self.barrier.gradient(found, self.mesh, y)
        gradient = gradient + self.dissipation.gradient(self.tangential, self.mesh, v)
        hessian = self.barrier.hessian(found, self.mesh, y, CLAMP)
        hessian = hessian + self.dissipation.hessian(self.tangential, self.mesh, v, CLAMP) / self.h
        T = self.to_surface
        return (T.T @ gradient).reshape(-1, 3), (T.T @ hessian @ T).tocsc()


class Simulation:
    """Steps of implicit Euler."""

    def __init__(self, scene: dict[str, np.ndarray]) -> None:
        X, self.h = scene["rest_positions"], float(scene["time_step"])
        shape = (len(X), len(X))
        self.M = sp.csr_matrix((scene["mass_data"], scene["mass_indices"], scene["mass_indptr"]), shape=shape)
        self.M3 = sp.kron(self.M, sp.identity(3)).tocsc()
        self.elastic, self.contact, self.clock = Elastic(scene), Contact(scene), Clock()
        self.gravity, self.most = scene["gravity"], int(scene["iterations"])
        self.slowest = float(scene["eps_d"]) * float(np.linalg.norm(np.ptp(X, axis=0)))
        self.x, self.v, self.iterations = X.copy(), np.zeros_like(X), 0

    def value(self, x: np.ndarray) -> float:
        """Return the incremental potential, J."""
        d = x - self.predicted
        inertia = 0.5 * float(np.sum(d * (self.M @ d))) / self.h**2
        with self.clock.timed("elastic"):
            inertia += self.elastic.value(x)
        with self.clock.timed("contact"):
            return inertia + self.contact.value(x)

    def direction(self, x: np.ndarray) -> np.ndarray:
        """Return the projected Newton direction (n,3)."""
        with self.clock.timed("contact"):
            gradient, hessian = self.contact.derivatives(x)
        with self.clock.timed("elastic"):
            gradient += self.elastic.gradient(x) + self.M @ (x - self.predicted) / self.h**2
            hessian = sp.tril(self.elastic.hessian(x) + self.M3 / self.h**2 + hessian, format="coo")
        with self.clock.timed("linear"):
            A = spmatrix(hessian.data, hessian.row, hessian.col, hessian.shape)
            p = matrix(-gradient.ravel())
            cholmod.linsolve(A, p)
        return np.array(p).reshape(-1, 3)

    def step(self) -> None:
        """Advance by a step."""
        self.contact.begin_step(self.x)
        self.predicted = self.x + self.h * self.v + self.h**2 * self.gravity
        x = self.x.copy()
        for _ in range(self.most):
            self.iterations += 1
            p = self.direction(x)
            before = self.value(x)
            with self.clock.timed("contact"):
                length = self.contact.longest_step(x, p)
            while self.value(x + length * p) > before and length > SHORTEST:
                length *= 0.5
            x = x + length * p
            if np.abs(p).max() <= self.slowest * self.h or length <= SHORTEST:
                break
        self.v, self.x = (x - self.x) / self.h, x


def main(source: str, target: str) -> None:
    """Simulate the scene and write positions, processor seconds and iterations of every frame."""
    with np.load(source, allow_pickle=False) as archive:
        scene = {key: archive[key] for key in archive.files}
    ipctk.set_num_threads(1)
    made = Simulation(scene)
    positions, seconds, iterations = [made.x], [], []
    for _ in range(int(scene["frames"])):
        start, made.iterations = time.process_time(), 0
        made.step()
        seconds.append(time.process_time() - start)
        iterations.append(made.iterations)
        positions.append(made.x)
    np.savez(target, positions=positions, seconds=seconds, iterations=iterations, **made.clock.seconds)


if __name__ == "__main__":
    main(*sys.argv[1:])
