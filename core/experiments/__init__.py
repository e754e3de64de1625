"""Many runs, and tables of what they gave: sweeps, the paper's tables and figures, the benchmark."""
