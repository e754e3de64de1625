"""In which order and how fast the frames are played. No Qt."""

from __future__ import annotations

from enum import Enum

FRAMES_PER_SECOND = 15.0  # at speed 1: the files give no frame rate
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0)


class Loop(Enum):
    """What comes after the last frame."""

    AGAIN = "loop"
    BACK = "back and forth"
    ONCE = "once"


def frame_in_round(step: int, count: int, loop: Loop) -> int:
    """Return the frame, 0 to count - 1, that comes `step` steps after the first."""
    if loop is Loop.ONCE:
        return min(step, count - 1)
    if loop is Loop.AGAIN or count == 1:
        return step % count
    place = step % (2 * count - 2)
    return place if place < count else 2 * count - 2 - place
