"""The 2-D view: tracks of the current frame."""
