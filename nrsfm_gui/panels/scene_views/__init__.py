"""The 3-D and the 2-D view: what they draw, from where, and how."""
