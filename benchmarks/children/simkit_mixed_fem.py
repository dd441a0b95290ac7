"""simkit's Mixed FEM, of all vertices or in a given basis, on a body from a file; runs in the peers' environment.

Usage: ``python simkit_mixed_fem.py IN.npz OUT.npz``. Pins are removed from the unknowns, mass and gravity are inputs,
and the energy is the one of simkit's mixed ones that equals Stable Neo-Hookean without logarithm: Macklin and
Mueller's. The timing is of simkit's solver with its own functions for stretch, energy and derivatives.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import scipy.sparse as sp
from simkit.deformation_jacobian import deformation_jacobian
from simkit.energies import elastic_energy_S, elastic_gradient_S, elastic_hessian_S
from simkit.solvers.sqpmfem import sqp_mfem
from simkit.stretch import stretch
from simkit.stretch_gradient import stretch_gradient_dz
from simkit.symmetric_stretch_map import symmetric_stretch_map

MATERIAL = "macklin-mueller-neo-hookean"


class Body:
    """Matrix blocks for simkit's solver, of unknowns ``u``, stretches ``s`` and multipliers.

    A subclass provides the volumes of its tets, the deformation gradients ``J_u u + F_held``, and inertia and weight in
    its unknowns.
    """

    def __init__(self, mu: np.ndarray, lam: np.ndarray, volumes: np.ndarray, time_step: float) -> None:
        self.mu, self.lam, self.volumes = (each.reshape(-1, 1) for each in (mu, lam, volumes))
        self.h = time_step
        _, self.Ci = symmetric_stretch_map(len(volumes), 3)
        self.w = np.kron(self.volumes, np.array([[1.0, 1, 1, 2, 2, 2]]).T)
        self.W = sp.diags(self.w.ravel())

    def split(self, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the unknowns, stretches and multipliers."""
        n, m = self.J_u.shape[1], len(self.w)
        return p[:n], p[n : n + m], p[n + m :]

    def F(self, u: np.ndarray) -> np.ndarray:
        """Return the deformation gradients, (m,3,3)."""
        return (self.J_u @ u + self.F_held).reshape(-1, 3, 3)

    def energy(self, p: np.ndarray) -> float:
        """Return the Lagrangian over h², J."""
        u, s, multiplier = self.split(p)
        elastic = elastic_energy_S(s.reshape(-1, 6), self.mu, self.lam, self.volumes, MATERIAL)
        constraint = self.w * (self.Ci @ stretch(self.F(u)) - s)
        return self.rest_of_energy(u) + elastic + float((multiplier.T @ constraint).item())

    def gradients(self, p: np.ndarray) -> list[np.ndarray]:
        """Return the derivatives by positions and by stretches, and the constraint."""
        u, s, _ = self.split(p)
        elastic = elastic_gradient_S(s.reshape(-1, 6), self.mu, self.lam, self.volumes, MATERIAL)
        return [self.rest_of_gradient(u), elastic.reshape(-1, 1), self.w * (self.Ci @ stretch(self.F(u)) - s)]

    def hessians(self, p: np.ndarray) -> list[sp.spmatrix]:
        """Return ``H_u, H_s, G_u, G_s`` and the inverse of the last."""
        u, s, _ = self.split(p)
        G_u = stretch_gradient_dz(u, self.J_u, dim=3, Ci=self.Ci, GJq=self.F_held) @ self.W
        H_s = sp.block_diag(list(elastic_hessian_S(s.reshape(-1, 6), self.mu, self.lam, self.volumes, MATERIAL)))
        return [self.M_u / self.h**2, H_s.tocsc(), G_u, -self.W, -sp.diags(1.0 / self.w.ravel())]


class FullSpace(Body):
    """Unknowns are the coordinates of free vertices; pinned ones stay at their initial positions."""

    def __init__(self, body: dict[str, np.ndarray]) -> None:
        super().__init__(body["mu"], body["lam"], body["volumes"], float(body["time_step"]))
        X, tets = body["rest_positions"], body["tets"].astype(int)
        n = len(X)
        free = np.setdiff1d(np.arange(n), body["pinned"])
        self.free = (3 * free[:, None] + np.arange(3)).ravel()
        mass = sp.csr_matrix((body["mass_data"], body["mass_indices"], body["mass_indptr"]), shape=(n, n))
        self.mass = sp.kron(mass, sp.identity(3)).tocsr()
        self.forces = body["forces"].reshape(-1, 1)
        self.J = deformation_jacobian(X, tets)
        self.J_u = self.J[:, self.free]
        self.M_u = self.mass[self.free][:, self.free].tocsc()

    def begin(self, x: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Begin a step at positions and velocities (n,3); return the initial unknowns."""
        self.held = x.copy().reshape(-1, 1)
        self.held[self.free] = 0.0
        self.F_held = self.J @ self.held
        self.predicted = (x + self.h * v).reshape(-1, 1)
        return x.reshape(-1, 1)[self.free]

    def whole(self, u: np.ndarray) -> np.ndarray:
        """Return all coordinates as a column."""
        x = self.held.copy()
        x[self.free] = u
        return x

    def rest_of_energy(self, u: np.ndarray) -> float:
        """Return inertia over h² and weight, J."""
        d = self.whole(u) - self.predicted
        return 0.5 * float((d.T @ (self.mass @ d)).item()) / self.h**2 - float((self.forces.T @ self.whole(u)).item())

    def rest_of_gradient(self, u: np.ndarray) -> np.ndarray:
        """Return the gradient of inertia and weight, N."""
        return (self.mass @ (self.whole(u) - self.predicted) / self.h**2 - self.forces)[self.free]

    def hessians(self, p: np.ndarray) -> list[sp.spmatrix]:
        """Return the Hessian blocks, the third one sparse."""
        blocks = super().hessians(p)
        return [*blocks[:2], blocks[2].tocsc(), *blocks[3:]]


class Subspace(Body):
    """Unknowns are those of a scalar basis (n,r), ``x = X + basis u``, with elasticity at cubature tets only."""

    def __init__(self, body: dict[str, np.ndarray]) -> None:
        super().__init__(body["mu"], body["lam"], body["volumes"], float(body["time_step"]))
        X, basis = body["rest_positions"], body["basis"]
        J = deformation_jacobian(X, body["tets"].astype(int))
        named = J.shape[1] // 3  # it has no vertices after the last one of a tet
        self.J_u = np.asarray(J @ sp.kron(sp.csr_matrix(basis[:named]), sp.identity(3)).toarray())
        self.F_held = J @ X[:named].reshape(-1, 1)
        self.M_u = np.kron(body["mass"], np.identity(3))
        self.forces = body["forces"].reshape(-1, 1)

    def begin(self, x: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Begin a step at unknowns and their velocities (r,3); return the initial unknowns."""
        self.predicted = (x + self.h * v).reshape(-1, 1)
        return x.reshape(-1, 1)

    def whole(self, u: np.ndarray) -> np.ndarray:
        """Return all unknowns as a column."""
        return u

    def rest_of_energy(self, u: np.ndarray) -> float:
        """Return inertia over h² and weight, J."""
        d = u - self.predicted
        return 0.5 * float((d.T @ (self.M_u @ d)).item()) / self.h**2 - float((self.forces.T @ u).item())

    def rest_of_gradient(self, u: np.ndarray) -> np.ndarray:
        """Return the gradient of inertia and weight, N."""
        return self.M_u @ (u - self.predicted) / self.h**2 - self.forces


def main(source: str, target: str) -> None:
    """Simulate a body and write positions and seconds of every step."""
    with np.load(source, allow_pickle=False) as archive:
        body = {key: archive[key] for key in archive.files}
    problem = Subspace(body) if "basis" in body else FullSpace(body)
    x, v = body["positions"].copy(), body["velocities"].copy()
    s = body["stretch"].reshape(-1, 1)
    positions, seconds = [], []
    for _ in range(int(body["steps"])):
        u = problem.begin(x, v)
        start = time.perf_counter()
        p = np.vstack([u, s, np.zeros_like(s)])
        p = sqp_mfem(
            p, problem.energy, problem.hessians, problem.gradients, tolerance=0.0, max_iter=int(body["iterations"])
        )
        u, s, _ = problem.split(p)
        seconds.append(time.perf_counter() - start)
        new = problem.whole(u).reshape(-1, 3)
        x, v = new, (new - x) / problem.h
        positions.append(x)
    np.savez(target, positions=np.array(positions), seconds=np.array(seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
