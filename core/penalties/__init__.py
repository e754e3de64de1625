"""Penalties on the singular values of X#, and their proximal operators."""
