"""Sequences of tracks and what is known about them."""
