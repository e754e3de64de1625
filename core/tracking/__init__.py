"""Tracks from a video: its pictures, and points that are followed through them."""

from .opencv import missing_packages, plugin_warning
from .region import rectangle
from .samples import sample_videos, video_path
from .tracker import (
    CHECK,
    POINTS,
    TrackingStep,
    cut_track,
    follow_places,
    replace_track,
    track_video,
    without_track,
)
from .video import Video

__all__ = [
    "CHECK",
    "POINTS",
    "TrackingStep",
    "Video",
    "cut_track",
    "follow_places",
    "missing_packages",
    "plugin_warning",
    "rectangle",
    "replace_track",
    "sample_videos",
    "track_video",
    "video_path",
    "without_track",
]
