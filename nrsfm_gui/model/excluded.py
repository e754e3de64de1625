"""The observations that settings hide from the solver, and settings that hide others. No Qt."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from core import InputError
from core.data import format_hidden, parse_hidden
from core.foundation import read_only

if TYPE_CHECKING:
    from core import Sequence, Settings
    from core.foundation import Bools


def excluded(sequence: Sequence, settings: Settings) -> Bools | None:
    """Return which observations (F, P) settings hide; None where they hide none, or do not fit the tracks."""
    return None if settings.hide is None else _mask(settings.hide, *sequence.visible.shape)


def with_excluded(settings: Settings, mask: Bools) -> Settings:
    """Return settings that hide these observations (F, P), and no others."""
    return settings.with_changes(hide=format_hidden(mask) or None)


@lru_cache(maxsize=8)
def _mask(text: str, frames: int, points: int) -> Bools | None:
    try:
        return read_only(parse_hidden(text, frames, points), bool)
    except InputError:  # the form shows the sentence
        return None
