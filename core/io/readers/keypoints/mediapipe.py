"""Landmarks of MediaPipe as JSON: a list of frames, each a list of landmarks.

    [[{"x": 0.47, "y": 0.52, "z": -0.1, "visibility": 0.99}, ...], ...]

A frame may also be an object with the landmarks of one person under "landmarks", "pose_landmarks" or such,
and is null or empty where nobody is seen. The frames may stand under "frames". x and y are relative to the
picture.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ....foundation.exceptions import InputError
from ...files.allowance import Allowance
from ...files.contents import parse_json
from ...files.reading_options import ReadingOptions
from ...files.variables import LoadedFile, Parts
from .poses import HALF, SKELETONS_OF_MEDIAPIPE, in_pixels, keypoints

ACCEPTED = (
    "accepted is a list of frames of MediaPipe, each a list of landmarks with x, y and visibility, or the "
    "folder of OpenPose's files"
)


def load_landmarks(path: Path, content: bytes) -> LoadedFile:
    """Return landmarks (F, P, 2) and visibility (F, P), NaN in frames without any."""
    value = parse_json(content)
    if isinstance(value, dict) and "people" in value:
        raise InputError("is one frame of OpenPose; accepted is the folder of all its frames")
    if isinstance(value, dict):
        lists = [item for key, item in value.items() if "frame" in key or "landmarks" in key]
        value = next((item for item in lists if isinstance(item, list)), None)
    if not isinstance(value, list) or not value:
        raise InputError(f"holds no frames; {ACCEPTED}")
    frames = [_landmarks(frame, number) for number, frame in enumerate(value, 1)]
    points = max(len(frame) for frame in frames)
    Allowance(len(content)).use_array((len(frames), points, 3), 8)
    stacked = np.full((len(frames), points, 3), np.nan)
    for number, frame in enumerate(frames):
        if frame and len(frame) != points:
            raise InputError(f"frame {number + 1} has {len(frame)} landmarks; others have {points}")
        if frame:
            stacked[number] = frame
    variables: dict[str, Any] = {"landmarks": stacked[..., :2]}
    if np.isfinite(stacked[..., 2]).any():
        variables["visibility"] = stacked[..., 2]
    return LoadedFile(path, content, variables)


def _landmarks(frame: Any, number: int) -> list[tuple[float, float, float]]:
    """Return x, y and visibility, NaN for none, of the landmarks of a frame."""
    if isinstance(frame, dict):
        frame = next((item for key, item in frame.items() if "landmarks" in key), None)
    try:
        return [
            (float(item["x"]), float(item["y"]), float(item.get("visibility", np.nan)))
            for item in frame or []
        ]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise InputError(f"frame {number} holds other than landmarks; {ACCEPTED}") from None


def read_landmarks(file: LoadedFile, options: ReadingOptions) -> Parts:
    """Return landmarks in pixels, visible from a visibility on."""
    landmarks, visibility = file.variables["landmarks"], file.variables.get("visibility")
    least = HALF if options.threshold is None else options.threshold
    seen = np.isfinite(landmarks).all(axis=2)
    roles, notes, reading = {"landmarks": "tracks"}, [], {}
    if visibility is not None:
        seen &= visibility > least
        roles["visibility"] = "visibility"
        reading["threshold"] = f"{least:g}"
        notes.append(f"a point is visible above a visibility of {least:g} (threshold)")
    names, edges = SKELETONS_OF_MEDIAPIPE.get(landmarks.shape[1], (None, None))
    parts = keypoints(
        landmarks,
        seen,
        "MediaPipe",
        edges=edges,
        point_names=names,
        provenance="; ".join(notes),
        roles=roles,
        reading=reading,
    )
    return in_pixels(parts, options)
