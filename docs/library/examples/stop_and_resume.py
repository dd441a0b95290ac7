"""A simulation that is left half-way and gone on with, to the same bits."""

import numpy as np
import sinew as sw

X = np.array([[x, y, z] for x in (0.0, 0.4) for y in (0.0, 0.1) for z in (0.2, 0.3)])
faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
body = sw.Body(
    surface=sw.Surface.of_faces(X, faces),
    materials=sw.Material(youngs_modulus=1e5),
    colliders=[sw.Ground(height=0.0, friction=0.8)],
    resolution=sw.Resolution(cells_across=6),
)
job = sw.Job(bodies=body, frame_end=10)

for frame in sw.simulate(job, cache="bar.frames"):
    if frame.number == 5:
        break  # as well: Ctrl+C, or the end of the process
print(f"left after frame {frame.number}, {frame.progress:.0%}")

resumed = [frame.positions for frame in sw.simulate(job, cache="bar.frames")]  # 1 to 5 are read, 6 to 10 computed
whole = [frame.positions for frame in sw.simulate(job)]
print("the same bits:", np.array_equal(resumed, whole))

try:
    next(sw.simulate(sw.Job(bodies=body, frame_end=10, frame_rate=30.0), cache="bar.frames"))
except sw.SinewError as error:
    print(f"{error.code}: {error}")
