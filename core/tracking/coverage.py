"""Which tracks of a video are kept, and sentences about what they cover: frames without any, a background."""

from __future__ import annotations

from collections.abc import Sequence as Items

import numpy as np
import numpy.typing as npt

from ..data.sequence import MIN_POINTS, Sequence
from ..foundation.types import Bools, Ints
from .opencv import load_opencv

EVEN_SHARE = 0.2  # of the kept tracks, that a frame has where so many are followed in it
MOST_RANGES = 4  # of frames, or cuts, that a sentence names
# Tracks are of a background where one homography moves them, from one frame to another so many frames later.
SPAN, STRIDE = 10, 5  # frames between the two, and between one such pair and the next
FEWEST = 12  # tracks that are seen in both
WITHIN = 0.0025  # of the longer side of the picture, between a place and where the homography has it
OFTEN, RARELY = 0.8, 0.2  # shares of the pairs in which a track follows it: a background, or something else
# It is sure where most tracks are of the background, some are of something else, and hardly any are between.
LEAST_BACKGROUND, LEAST_OTHER, MOST_BETWEEN = 0.5, 0.05, 0.1


def chosen_tracks(seen: Bools, most: int) -> Ints:
    """Return at most so many tracks, ascending: the longest, but none of the frames is left with few.

    `seen`: (F, N) whether a track has a place in a frame.

    Those come first that are seen in most of the frames that do not have `EVEN_SHARE` of the tracks yet.
    """
    frames, count = seen.shape
    lengths = seen.sum(axis=0)
    if count <= most:
        return np.arange(count)
    first, end = seen.argmax(axis=0), frames - seen[::-1].argmax(axis=0)
    wanted = np.full(frames, max(MIN_POINTS, round(EVEN_SHARE * most)))
    left = np.ones(count, dtype=bool)
    chosen: list[int] = []
    while len(chosen) < most:
        before = np.concatenate([[0], np.cumsum(wanted > 0)])
        gains = np.where(left, before[end] - before[first], 0)
        if not gains.any():
            break
        best = int(np.lexsort((lengths, gains))[-1])
        chosen.append(best)
        left[best] = False
        wanted -= seen[:, best]
    others = np.flatnonzero(left)
    others = others[np.argsort(-lengths[others], kind="stable")[: most - len(chosen)]]
    return np.sort(np.concatenate([np.array(chosen, dtype=np.int64), others]))


def coverage_remarks(sequence: Sequence, pictures: Items[int]) -> tuple[str, ...]:
    """Return sentences about frames that a sequence does not have or that share no points, and a background.

    `pictures`: 0-based numbers of the frames of the video that were followed.
    """
    frames = np.arange(sequence.frame_count) if sequence.video_frames is None else sequence.video_frames
    remarks = []
    absent = np.setdiff1d(pictures, frames)
    if absent.size:
        parts = np.split(absent, np.flatnonzero(np.diff(np.searchsorted(pictures, absent)) > 1) + 1)
        remarks.append(
            f"{len(absent)} of {len(pictures)} frames of the video have fewer than {MIN_POINTS} tracks and "
            f"are left out: {_listed([_range(part) for part in parts])}"
        )
    visible = sequence.visible
    cuts = np.flatnonzero((visible[:-1] & visible[1:]).sum(axis=1) < MIN_POINTS) + 1
    if cuts.size:
        remarks.append(
            f"fewer than {MIN_POINTS} tracks go on, as at a cut, into frame "
            f"{_listed([str(frames[cut] + 1) for cut in cuts])} of the video; its parts can be tracked one "
            "by one, each from its first frame to its last"
        )
    background = _background(sequence)
    if background:
        remarks.append(
            f"{background} of {sequence.point_count} tracks move as one flat background; where the object is "
            "elsewhere, begin in a region around it"
        )
    return tuple(remarks)


def _background(sequence: Sequence) -> int:
    """Return how many tracks are of a flat background before which others move, 0 where that is not sure."""
    if sequence.image_size is None:
        return 0
    cv2, tracks, visible = load_opencv(), sequence.tracks, sequence.visible
    tried, fitted = np.zeros(sequence.point_count), np.zeros(sequence.point_count)
    for first in range(0, sequence.frame_count - SPAN, STRIDE):
        before, after = tracks[first], tracks[first + SPAN]
        both = np.flatnonzero(visible[first] & visible[first + SPAN])
        if len(both) < FEWEST:
            continue
        _, inside = cv2.findHomography(
            before[:, both].T, after[:, both].T, cv2.RANSAC, WITHIN * max(sequence.image_size)
        )
        if inside is not None:
            tried[both] += 1
            fitted[both] += inside.ravel()
    shares = fitted[tried > 0] / tried[tried > 0]
    background, others = int((shares > OFTEN).sum()), int((shares < RARELY).sum())
    count = sequence.point_count  # also of those that are in no pair, of which nothing is known
    sure = background >= LEAST_BACKGROUND * count and others > LEAST_OTHER * count
    return background if sure and len(shares) - background - others <= MOST_BETWEEN * len(shares) else 0


def _range(pictures: npt.NDArray[np.int64]) -> str:
    first, last = pictures[0] + 1, pictures[-1] + 1
    return str(first) if first == last else f"{first} to {last}"


def _listed(parts: list[str]) -> str:
    more = f" and {len(parts) - MOST_RANGES} more" if len(parts) > MOST_RANGES else ""
    return ", ".join(parts[:MOST_RANGES]) + more
