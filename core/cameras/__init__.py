"""Cameras: intrinsics, calibration of tracks, and rotations estimated from tracks."""
