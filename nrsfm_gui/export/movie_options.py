"""The options of a movie: view, size, frames, camera motion. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

from core import InputError
from nrsfm_gui.model.appearance import check_accepted

VIEWS = {"3d": "3-D view", "2d": "2-D view", "window": "whole window"}
SIDES = (64, 7680)  # pixels: least and most of width and height
MOST_FPS = 240.0


@dataclass(frozen=True, kw_only=True)
class MovieOptions:
    """What a movie shows. Raises InputError where a value is not among those accepted."""

    view: str = "3d"  # a key of VIEWS
    width: int = 1280  # pixels
    height: int = 720
    fps: float = 15.0  # frames per second
    first: int = 0  # frames of the sequence, 0-based, both included
    last: int = 0
    seconds: float = 6.0  # how long a single frame is shown
    turn: float = 0.0  # degrees per second around the vertical, of the 3-D view
    one_turn: bool = False  # or one turn over the whole movie

    def __post_init__(self) -> None:
        check_accepted(self, view=VIEWS)
        for name in ("width", "height"):
            if not SIDES[0] <= getattr(self, name) <= SIDES[1]:
                raise InputError(
                    f"{name} is {getattr(self, name)}; accepted are {SIDES[0]} to {SIDES[1]} pixels"
                )
        if not 0 < self.fps <= MOST_FPS:
            raise InputError(f"fps is {self.fps:g}; accepted are numbers above 0, up to {MOST_FPS:g}")
        if not 0 <= self.first <= self.last:
            raise InputError(f"frames {self.first + 1} to {self.last + 1} are none; give first and last")
        if not 0 < self.seconds <= 3600:
            raise InputError(f"seconds are {self.seconds:g}; accepted are numbers above 0, up to 3600")

    @property
    def count(self) -> int:
        """The number of pictures."""
        if self.first == self.last:
            return max(1, round(self.seconds * self.fps))
        return self.last - self.first + 1

    @property
    def turns(self) -> bool:
        """Whether the camera of the 3-D view turns."""
        return self.one_turn or self.turn != 0.0

    def shots(self) -> list[tuple[int, float]]:
        """Return (frame, degrees turned) of every picture; a whole turn ends one step before it began."""
        rate = 360.0 * self.fps / self.count if self.one_turn else self.turn
        step = 0 if self.first == self.last else 1
        return [(self.first + step * index, index * rate / self.fps) for index in range(self.count)]
