"""The methods, one a file; each implements `core.solver.Algorithm`."""
