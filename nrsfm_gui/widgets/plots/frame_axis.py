"""Where a frame lies on the timeline: one map for slider, curve and heat-strip, so that they align."""

from __future__ import annotations

from dataclasses import dataclass

LEFT, RIGHT = 58, 74  # pixels beside the frames: axis labels, color bar


@dataclass(frozen=True)
class FrameAxis:
    """Frames side by side in a widget: each takes an equal share of the width between the margins."""

    count: int
    width: int  # of the widget, pixels

    @property
    def left(self) -> float:
        """Left end of the first frame, pixels."""
        return float(LEFT)

    @property
    def span(self) -> float:
        """Width of all frames, pixels."""
        return float(max(self.width - LEFT - RIGHT, 1))

    @property
    def right(self) -> float:
        """Right end of the last frame, pixels."""
        return self.left + self.span

    def center(self, frame: float) -> float:
        """Return the x of the middle of a frame, pixels."""
        return self.left + (frame + 0.5) * self.span / max(self.count, 1)

    def frame_at(self, x: float) -> int:
        """Return the frame at an x, the nearest one beyond the ends."""
        frame = int((x - self.left) * self.count // self.span)
        return min(max(frame, 0), max(self.count - 1, 0))
