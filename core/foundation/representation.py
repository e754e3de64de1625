"""The `__repr__` of values that hold arrays: the fields in one line, of an array its type and shape."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import MISSING, Field, fields
from enum import Enum
from typing import Any

import numpy as np

LONGEST = 200  # characters of a representation
LONGEST_VALUE = 120  # characters of the representation of a field
MOST_ITEMS = 8  # of a collection that is shown item by item


class OneLine:
    """Base of dataclasses that are represented in one line, without the fields that are their defaults."""

    def __init_subclass__(cls) -> None:
        """Give each its own, which `dataclass` leaves as it is."""
        super().__init_subclass__()
        if "__repr__" not in vars(cls):
            cls.__repr__ = OneLine.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        """Return at most 200 characters; the last fields are left out where there are too many."""
        name = type(self).__name__
        parts = [
            f"{entry.name}={_short(getattr(self, entry.name))}"
            for entry in fields(self)  # type: ignore[arg-type]  # every subclass is a dataclass
            if entry.repr and not _is_default(entry, getattr(self, entry.name))
        ]
        text = f"{name}({', '.join(parts)})"
        while len(text) > LONGEST:
            parts.pop()
            text = f"{name}({', '.join([*parts, '...'])})"
        return text


def _is_default(entry: Field[Any], value: object) -> bool:
    if entry.default_factory is not MISSING:
        return isinstance(value, Collection) and not value
    return value is entry.default or (not isinstance(value, np.ndarray) and bool(value == entry.default))


def _short(value: object) -> str:
    """Return a value in one line: of an array the type and shape, of what is long its type."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}[{', '.join(map(str, value.shape))}]" if value.ndim else _short(value.item())
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Enum):
        return str(value)
    if isinstance(value, tuple | list | dict):
        return _short_collection(value)
    text = repr(value)
    if len(text) <= LONGEST_VALUE and "\n" not in text:
        return text
    return f"{text[:57]}...'" if isinstance(value, str) else f"{type(value).__name__}(...)"


def _short_collection(value: tuple[Any, ...] | list[Any] | dict[Any, Any]) -> str:
    """Return the items in one line, or their number where they are many or long."""
    if len(value) <= MOST_ITEMS:
        if isinstance(value, dict):
            text = "{" + ", ".join(f"{key!r}: {_short(item)}" for key, item in value.items()) + "}"
        else:
            text = ", ".join(map(_short, value))
            text = f"[{text}]" if isinstance(value, list) else f"({text}{',' * (len(value) == 1)})"
        if len(text) <= LONGEST_VALUE:
            return text
    return f"{type(value).__name__} of {len(value)}"
