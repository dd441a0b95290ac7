"""EigenFit for a job: the match of a body's vibrations, and its error in a trial simulation."""
