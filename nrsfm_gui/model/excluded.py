"""The observations that settings hide from the solver, and settings that hide others. No Qt."""

from __future__ import annotations

from functools import lru_cache

from core import InputError, Sequence, Settings
from core.data import format_hidden, parse_hidden
from core.foundation import Bools, read_only


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
