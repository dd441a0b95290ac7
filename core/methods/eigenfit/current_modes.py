"""[EigenFit19] in its published form: modes of the current configuration, recomputed at the start of each step.

Let M be the mass matrix, and K the stiffness at the start of the step, projected to be positive semi-definite. The
mass-orthonormal modes u_i satisfy ``K u_i = lambda_i M u_i``. The modes are the columns of U, and Lambda is the
diagonal matrix of the eigenvalues lambda_i. R holds the ratios of fine to coarse eigenvalues at rest. The paper adds
``M U (R - 1) U^T f`` to the forces f and ``M U (R - 1) Lambda U^T M`` to the stiffness (Eqs. 14, 15). These two terms
derive from the potential

    V(x) = 1/2 q . C q,    q = Lambda^-1 U^T dW/dx + Y^T (x - start),    C = (R - 1) Lambda,    Y = K U Lambda^-1 = M U

with the elastic energy W. Only the positions x change during the step. The coordinates q are a linearization of the
modal coordinates of :mod:`.stretch_potential`. K in Y is the elastic stiffness alone, so q excludes the part of a
mode's stiffness due to springs of pins. The stiffness-proportional damping is that of the stretch potential.

Two points differ from the paper. First, the paper pairs modes by their index. Here current modes are paired with the
modes at rest by the modal assurance criterion (MAC). For the comparison, the modes at rest are rotated by the mean
rotation of the body. If R is not diagonal, R is transformed by the orthogonal matrix nearest to the overlap of the
current modes with the rotated modes at rest. Second, the eigensolver starts from the rotated modes at rest instead of
the modes of the last step. So a step depends only on the state at its start, and a resumed bake is bitwise identical.
Linear elasticity needs the modes only once.

Trap: as in the paper, V is not a potential of the whole motion, and the forces of V may have a resultant and a torque.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...mechanics.assembly.low_rank import LowRank
from ...mechanics.energies.kinematics import Deformation
from ...mechanics.forces.elastic import ElasticDensity
from ...mechanics.forces.step_potential import LowRankPotential, Motion
from ..subspaces.space import Space
from .matching import Pairs, Spectra, modal_coordinate_transform, target_modal_stiffness
from .near_modes import TrackedModes, near_modes, track_modes
from .stretch_potential import mean_rotation
from .vibrations import Springs


class CurrentModes:
    """EigenFit as published [EigenFit19]: vibration modes of the current configuration, from one eigenproblem per step.

    Implements :class:`.methods.MatchMethod`.
    """

    name = "current_modes"
    label = "EigenFit (Current Modes)"
    description = "As published: modes of the current shape, recomputed in each step; takes two to four times as long"
    of_positions, controls = True, False
    variants = ((),)
    stiffness = None

    def __init__(self, space: Space, spectra: Spectra, pairs: Pairs, springs: Springs | None = None) -> None:
        self.spectra, self.pairs = spectra, pairs
        self._space, self._finder = space, near_modes(space, springs, spectra.coarse[0])
        root = np.sqrt(spectra.coarse[pairs.coarse])
        self._excess = target_modal_stiffness(spectra, pairs) / np.outer(root, root) - np.eye(len(root))  # R - 1
        self._is_linear = not any(law.rotation_invariant for law, _ in space.elastic.groups)
        self._known: tuple[np.ndarray, TrackedModes, LowRank] | None = None

    def load(self, scale: np.ndarray, beta: float = 0.0, _factors: np.ndarray | None = None) -> CurrentLoad:
        """Return the load that corrects the modal stiffness in a step.

        ``scale`` (c,): factor of the stiffness per element or cubature point. ``beta``, s: stiffness-proportional
        damping.
        """
        return CurrentLoad(self, scale, beta)

    def at(self, x: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, LowRank]:
        """Return the modal coordinates and the added low-rank stiffness of the k current modes.

        ``x`` (r,3): unknowns at the start of the step. ``scale`` (c,): factor of the stiffness per element or cubature
        point. The first result is q (k,), kg^(1/2) m: modal coordinates at the start of the step. The second result is
        the stiffness ``Y C Y^T``, N/m. Y is the derivative dq/dx, and C is the stiffness correction in the potential
        ``1/2 q . C q``.
        """
        elastic = self._space.elastic.scaled(scale)
        deformation = elastic.deformation(x)
        if not self._is_linear or self._known is None or not np.array_equal(self._known[0], scale):
            self._known = scale, *self._found(elastic, deformation, float(scale.mean()))
        _, now, low_rank = self._known
        return np.tensordot(now.modes, elastic.nodal_forces(elastic.stress(deformation))) / now.eigenvalues, low_rank

    def _found(self, elastic: ElasticDensity, deformation: Deformation, scale: float) -> tuple[TrackedModes, LowRank]:
        turn = np.eye(3) if self._is_linear else mean_rotation(elastic.weights, deformation)
        modes, tangent = self.spectra.modes @ turn.T, elastic.tangent(deformation)
        found = self._finder.find(replace(self._space, elastic=elastic), tangent, modes, len(modes), scale)
        now = track_modes(found, modes[self.pairs.coarse], self._space.mass)
        root = np.sqrt(now.eigenvalues)
        core = root[:, None] * (now.turn @ self._excess @ now.turn.T) * root
        pulls = np.stack(
            [elastic.nodal_forces(tangent.stress_change(elastic.delta_F(u))) for u in now.modes],
            axis=-1,
        )
        Y = pulls / now.eigenvalues
        if not self.spectra.is_one_mesh:
            F = modal_coordinate_transform(now.modes, Y)
            core = F @ core @ F.T
        return now, LowRank(Y, core)


class CurrentLoad:
    """Load that corrects the stiffness of the current vibration modes.

    ``scale`` (c,): factor of the stiffness per element or cubature point. ``beta``, s: stiffness-proportional damping.
    """

    def __init__(self, modes: CurrentModes, scale: np.ndarray, beta: float) -> None:
        self._modes, self._scale, self._beta = modes, scale, beta

    def begin(self, motion: Motion) -> CurrentPotential:
        """Return the potential of the load in a step."""
        return CurrentPotential(*self._modes.at(motion.x_prev, self._scale), motion, self._beta / motion.step)


class CurrentPotential(LowRankPotential):
    """Potential of the modal coordinates q in a step, with stiffness-proportional damping.

    The potential is ``1/2 q . C q + friction / 2 (q - q_b) . C (q - q_b)`` with the stiffness correction C. q_b are the
    coordinates at the positions that the time integration rule extrapolates (``motion.base``).

    ``q`` (k,), kg^(1/2) m: coordinates at the start of the step. ``low_rank``: the derivative dq/dx and C.
    ``friction``: damping coefficient, s, divided by the time step, s.
    """

    def __init__(self, q: np.ndarray, low_rank: LowRank, motion: Motion, friction: float) -> None:
        self._q, self._start, self._friction, self._core = q, motion.x_prev, friction, low_rank.core
        self._rows = low_rank.vectors.reshape(-1, len(q))
        self._base = self._coordinates(motion.base)
        self.low_rank = low_rank.scaled(1.0 + friction)

    def _coordinates(self, x: np.ndarray) -> np.ndarray:
        return self._q + (x - self._start).ravel() @ self._rows

    def value(self, positions: np.ndarray) -> float:
        """Return the potential, J, at positions (r,3) m."""
        q = self._coordinates(positions)
        away = q - self._base
        return 0.5 * float(q @ self._core @ q + self._friction * (away @ self._core @ away))

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """Return the gradient (r,3), N, of the potential at positions (r,3) m."""
        q = self._coordinates(positions)
        return (self._rows @ (self._core @ (q + self._friction * (q - self._base)))).reshape(positions.shape)
