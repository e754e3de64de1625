"""From a sequence and settings to a result: calibration, starts, solve, refinement, provenance."""
