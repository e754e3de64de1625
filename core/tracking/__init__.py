"""Tracks from a video: its pictures, and points that are followed through them."""

from .decoding import PICTURE_SUFFIXES, list_pictures, matching_pictures
from .opencv import missing_packages, plugin_warning
from .region import rectangle
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
from .video import Video, sample_videos, video_path

__all__ = [
    "CHECK",
    "PICTURE_SUFFIXES",
    "POINTS",
    "TrackingStep",
    "Video",
    "cut_track",
    "follow_places",
    "list_pictures",
    "matching_pictures",
    "missing_packages",
    "plugin_warning",
    "rectangle",
    "replace_track",
    "sample_videos",
    "track_video",
    "video_path",
    "without_track",
]
