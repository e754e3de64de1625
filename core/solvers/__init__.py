"""The methods, one a file; each implements `core.solvers.solver.Algorithm`."""
