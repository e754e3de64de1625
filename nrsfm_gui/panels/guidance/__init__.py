"""Guidance without ground truth: held-out errors over one parameter."""
