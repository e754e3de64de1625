"""Pictures behind the tracks, as the user chose them: a frozen value. No Qt."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from core import Sequence

OPACITY = 0.7


@dataclass(frozen=True)
class Background:
    """An image sequence or a video; frame f of the tracks, counted from 1, lies over picture f + offset."""

    path: Path
    opacity: float = OPACITY  # 0 is not seen, 1 is opaque
    offset: int = 0

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

    def as_plain(self) -> dict[str, Any]:
        """Return values that JSON can hold."""
        return {"path": str(self.path), "opacity": self.opacity, "offset": self.offset}

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> Background | None:
        """Return a background from the values of `as_plain`, None where there are none.

        Raises InputError where an entry is absent or not accepted.
        """
        if not values:
            return None
        path, opacity, offset = (values.get(name) for name in ("path", "opacity", "offset"))
        numbers = type(opacity) in (int, float) and type(offset) is int
        if not (isinstance(path, str) and path and numbers and 0 <= float(str(opacity)) <= 1):
            raise InputError(
                f"the background is {dict(values)}; "
                "accepted are a path, an opacity from 0 to 1 and a whole offset"
            )
        assert isinstance(offset, int)
        return cls(Path(path), float(str(opacity)), offset)
