"""From a job to its frames: preparation, contact set-up, matching and the loop over frames."""
