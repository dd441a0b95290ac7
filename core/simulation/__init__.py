"""Running a model over frames: jobs, bakes, the frame store, diagnostics."""
