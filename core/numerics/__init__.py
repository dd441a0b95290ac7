"""Linear solvers, line search and time integration rules."""
