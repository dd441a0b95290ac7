"""Small jobs built in code."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation
from sinew.core.foundation.schema.settings import MaterialSettings, ResolutionSettings, SolverSettings
from sinew.core.foundation.schema.tracks import samples_at, steps_of
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.jobs.job.body import Body
from sinew.core.jobs.job.environment import Collider, Ground, Spring
from sinew.core.jobs.job.force_field import ForceField
from sinew.core.jobs.job.job import Job
from sinew.core.mechanics.constraints.kinematic_region import KinematicRegion
from sinew.core.mechanics.forces.field_coordinates import FieldForm, FieldNumbers
from sinew.core.simulation.frame_loop.single_body import simulate_body
from sinew.core.simulation.preparation.prepare import prepare


def box_surface(size=(0.4, 0.1, 0.1), cells=(8, 2, 2)) -> SurfaceMesh:
    """A closed box of triangles with vertices on a grid, from the origin."""
    corner, faces, index = [], [], {}

    def vertex(p):
        key = tuple(int(v) for v in p)
        if key not in index:
            index[key] = len(corner)
            corner.append([key[i] * size[i] / cells[i] for i in range(3)])
        return index[key]

    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (0, cells[axis]):
            for a in range(cells[u]):
                for b in range(cells[v]):
                    quad = []
                    for da, db in ((0, 0), (1, 0), (1, 1), (0, 1)):
                        p = [0, 0, 0]
                        p[axis], p[u], p[v] = side, a + da, b + db
                        quad.append(vertex(p))
                    quad = quad if side else quad[::-1]
                    faces += [[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]]
    return SurfaceMesh(np.array(corner), np.array(faces))


def shaken_bar(frames=12, solver="mixed_fem", **solver_settings) -> Job:
    """A soft bar with a stiff end, held at x = 0 by a pin that is shaken."""
    surface = box_surface()
    X = surface.positions
    pins = np.flatnonzero(X[:, 0] < 1e-9)
    shake = np.zeros((frames, 1, 3))
    shake[:, 0, 2] = 0.03 * np.sin(np.arange(frames))
    body = Body(
        surface=surface,
        materials=(MaterialSettings("Flesh", 5e4), MaterialSettings("Bone", 1e9, 0.3, 1500.0)),
        material_weights=np.column_stack([X[:, 0] <= 0.25, X[:, 0] > 0.25]).astype(float),
        pinned_vertices=pins,
        pin_positions=X[pins] + shake,
        resolution=ResolutionSettings(cells_across=8),
        solver=SolverSettings(solver=solver, max_iterations=4, **solver_settings),
    )
    return Job(bodies=(body,), frame_start=1, frame_end=frames, frame_rate=24.0)


def turning_bone(frames, low=(0.16, 0.02, 0.02), size=(0.08, 0.06, 0.06), step=(0.1, 0.003)) -> KinematicRegion:
    """A box that turns about x by ``step[0]`` radians a frame and rises by ``step[1]`` metres."""
    box = box_surface(size, (4, 3, 3))
    X = box.positions + low
    centre = X.mean(axis=0)
    turns = Rotation.from_rotvec(np.arange(frames)[:, None] * [step[0], 0.0, 0.0]).as_matrix()
    rise = np.arange(frames)[:, None, None] * [0.0, 0.0, step[1]]
    return KinematicRegion("Bone", SurfaceMesh(X, box.triangles), (X - centre) @ turns.swapaxes(1, 2) + centre + rise)


def followed_bar(frames=8, solver="mixed_fem", regions=None, **solver_settings) -> Job:
    """The bar of flesh, without pins, with a bone that moves it."""
    body = Body(
        surface=box_surface(),
        materials=(MaterialSettings("Flesh", 5e4),),
        regions=(turning_bone(frames),) if regions is None else regions,
        resolution=ResolutionSettings(cells_across=14),
        solver=SolverSettings(solver=solver, **{"max_iterations": 4, **solver_settings}),
    )
    return Job(bodies=(body,), frame_start=1, frame_end=frames, frame_rate=24.0)


def rising_plate(frames=12) -> Collider:
    """A square below the bar that rises by a centimetre a frame."""
    corners = np.array([[-1.0, -1.0, -0.5], [1.0, -1.0, -0.5], [1.0, 1.0, -0.5], [-1.0, 1.0, -0.5]])
    rise = np.arange(frames)[:, None, None] * np.array([0.0, 0.0, 0.01])
    return Collider("Plate", np.array([[0, 1, 2], [0, 2, 3]]), corners + rise, friction=0.3, thickness=0.004)


def pulled_end(frames=12) -> Spring:
    """A spring that pulls the far end of the bar up, and lets go half-way."""
    X = box_surface().positions
    far = np.flatnonzero(X[:, 0] > X[:, 0].max() - 1e-9)
    targets = X[far] + np.arange(frames)[:, None, None] * np.array([0.0, 0.0, 0.005])
    return Spring("Hook", far, np.ones(len(far)), targets, np.where(np.arange(frames) < 6, 50.0, 0.0))


def wavering_sheet(frames=12) -> ForceField:
    """A triangle beside the bar that sinks and pushes it away, now more, now less."""
    corners = np.array([[0.0, 0.5, 0.0], [0.4, 0.5, 0.0], [0.2, 0.5, 0.4]])
    sinking = np.arange(frames)[:, None, None] * np.array([0.0, 0.0, -0.01])
    numbers = np.array([FieldNumbers(2.0, power=1.0, noise=0.5, flow=0.3)])
    form, up = FieldForm("FORCE", "SURFACE"), np.array([[0.0, 0.0, 1.0]])
    faces = np.array([[0, 1, 2]])
    return ForceField("Sheet", form, numbers, np.zeros((1, 3)), up, 7, vertices=corners + sinking, triangles=faces)


def surrounded_bar(frames=12) -> Job:
    """The shaken bar with everything that may act on it: ground, collider, spring, released pins, fields."""
    job = shaken_bar(frames)
    n, p = len(job.body.surface.positions), len(job.body.pinned_vertices)
    held = np.ones((frames, p), dtype=bool)
    held[8:, : p // 2] = False
    return job.with_body(
        colliders=(Ground(height=-1.0), rising_plate(frames)),
        springs=(pulled_end(frames),),
        pin_held=held,
        accelerations=np.arange(frames)[:, None, None] * np.ones((1, n, 3)),
        force_fields=(wavering_sheet(frames),),
    )


def free_box(frames, **options) -> Job:
    """A box of 0.2 m without pins."""
    surface = box_surface((0.2, 0.2, 0.2), (2, 2, 2))
    n = len(surface.positions)
    solver = SolverSettings(**{"max_iterations": 20, **options.pop("solver", {})})
    body = Body(
        surface=surface,
        materials=(MaterialSettings("Rubber", 2e5),),
        material_weights=np.ones((n, 1)),
        pinned_vertices=np.zeros(0, dtype=np.int32),
        pin_positions=np.zeros((frames, 0, 3)),
        resolution=ResolutionSettings(cells_across=2),
        solver=solver,
        **options,
    )
    return Job(bodies=(body,), frame_start=1, frame_end=frames, frame_rate=24.0)


def changed(job, **fields) -> Job:
    """The job with other fields of its own, or of its only body."""
    clock = {name: fields.pop(name) for name in list(fields) if name in Job.__dataclass_fields__}
    return replace(job, bodies=(replace(job.body, **fields),), **clock)


def baked(job, store=None):
    """Surface positions of every frame; ``store`` keeps what preparing the job computes."""
    prepared = prepare(job, store)
    return [prepared.surface(frame.state.positions, k) for k, frame in enumerate(simulate_body(job, prepared))]


def at_steps(track: np.ndarray, frames: int, steps: int) -> np.ndarray:
    """A track with another number of samples from each frame to the next."""
    if steps_of(track, frames) == steps:
        return track
    out = [track[0]]
    for frame in range(1, frames):
        for k in range(1, steps + 1):
            before, after, part = samples_at(track, frames, frame, k / steps)
            out.append(before + part * (after - before))
    return np.array(out)
