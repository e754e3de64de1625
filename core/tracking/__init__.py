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
