"""Sweeps: many sequences under many settings, each run a line of a file that only grows."""
