"""Tracks from a video: its pictures, and points that are followed through them."""

from .opencv import missing_packages, plugin_warning
from .samples import sample_videos, video_path
from .tracker import CHECK, POINTS, TrackingStep, rectangle, track_video
from .video import VIDEO_SUFFIXES, Video

__all__ = [
    "CHECK",
    "POINTS",
    "VIDEO_SUFFIXES",
    "TrackingStep",
    "Video",
    "missing_packages",
    "plugin_warning",
    "rectangle",
    "sample_videos",
    "track_video",
    "video_path",
]
