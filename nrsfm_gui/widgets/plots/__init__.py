"""Plots and what they are drawn with."""
