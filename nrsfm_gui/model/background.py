"""Pictures behind the tracks, as the user chose them: a frozen value. No Qt."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from core import InputError, Sequence

OPACITY = 0.7


@dataclass(frozen=True)
class Background:
    """An image sequence or a video; frame f of the tracks, counted from 1, lies over picture f + offset."""

    path: Path
    opacity: float = OPACITY  # 0 is not seen, 1 is opaque
    offset: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.opacity <= 1:
            raise InputError(f"the opacity of the background is {self.opacity}; accepted are 0 to 1")

    @classmethod
    def of_sequence(cls, sequence: Sequence) -> Background | None:
        """Return the video that a sequence names, None where it names none or that is no file."""
        video = sequence.video
        return cls(video) if video is not None and os.path.isfile(video) else None

    def picture(self, frame: int, sequence: Sequence | None) -> int:
        """Return the number of the picture behind a frame, both counted from 0."""
        frames = None if sequence is None or sequence.video != self.path else sequence.video_frames
        if frames is not None and frame < len(frames):
            return int(frames[frame]) + self.offset
        return frame + self.offset
