"""Tracks from a video: its pictures, and points that are followed through them."""

from .video import VIDEO_SUFFIXES, Video

__all__ = ["VIDEO_SUFFIXES", "Video"]
