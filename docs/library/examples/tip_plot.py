"""The tip of a bar that is let go, plotted over the time for two solvers, and a picture of the bar."""

import numpy as np
import sinew as sw
from matplotlib import pyplot as plt

plt.switch_backend("Agg")  # no window is needed

X = np.array([[x, y, z] for x in (0.0, 0.4) for y in (0.0, 0.1) for z in (0.0, 0.1)])
faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]

for solver in ("mixed_fem", "linearly_implicit"):
    body = sw.Body(
        surface=sw.Surface.of_faces(X, faces),
        materials=sw.Material(youngs_modulus=1e5),
        pinned_vertices=X[:, 0] == 0.0,
        resolution=sw.Resolution(cells_across=8),
        solver=sw.Solver(solver=solver),
    )
    frames = list(sw.simulate(sw.Job(bodies=body, frame_end=24)))
    plt.plot([frame.time for frame in frames], [frame.positions[4:, 2].mean() for frame in frames], label=solver)

plt.xlabel("time, s")
plt.ylabel("height of the tip, m")
plt.legend()
plt.savefig("tip.png")
frames[-1].picture("bar.png", colour="von_mises", title=f"frame {frames[-1].number}")
