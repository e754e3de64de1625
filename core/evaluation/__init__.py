"""Errors against a ground truth, alignment, the Challenge score, and cross-validation."""
