"""The 3-D view of a scene."""
