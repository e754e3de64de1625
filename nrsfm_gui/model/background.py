"""Pictures behind the tracks, as the user chose them: a frozen value. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

OPACITY = 0.7


@dataclass(frozen=True)
class Background:
    """An image sequence or a video; frame f of the tracks, counted from 1, lies over picture f + offset."""

    path: Path
    opacity: float = OPACITY  # 0 is not seen, 1 is opaque
    offset: int = 0

    def as_plain(self) -> dict[str, Any]:
        """Return values that JSON can hold."""
        return {"path": str(self.path), "opacity": self.opacity, "offset": self.offset}

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> Background | None:
        """Return a background from the values of `as_plain`, None where there are none.

        Raises
        ------
        InputError
            where an entry is absent or not accepted.
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
