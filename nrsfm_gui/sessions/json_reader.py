"""A place in a JSON document, read as what it should be or refused with a sentence that names it.

cattrs would structure the entries by their types, but most of them depend on what was read before: shapes of
arrays on the sequence, tracks that are left out on its calibration, the best point on the current one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from core import InputError
from core.foundation import LONGEST_SENTENCE, printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from nrsfm_gui.sessions.archive import ArchiveReader

SHOWN = 40  # letters of a value that a sentence shows
LARGEST_COUNT = 2**53  # above, numbers of JSON are no exact whole numbers elsewhere
LARGEST_NUMBER = 1e50  # of arrays that are computed with: squares and products of it are finite
KIND_NAMES = {"f": "numbers", "i": "whole numbers", "b": "truth values"}


@dataclass(frozen=True)
class Node:
    """A value of a document and the way to it."""

    archive: ArchiveReader
    where: str  # like runs[2].update; "" for the document
    value: Any

    def refused(self, accepted: str) -> InputError:
        """Return the error that names what was found here, and what is accepted."""
        found = repr(self.value)
        found = found if len(found) <= SHOWN else f"{found[:SHOWN]}…"
        return InputError(f"{self.archive.path}: {self.where or 'it'} is {found}; accepted is {accepted}")

    def child(self, key: str) -> Node:
        """Return the value of a key."""
        if not isinstance(self.value, dict):
            raise self.refused(f"an object with {key!r}")
        if key not in self.value:
            raise InputError(f"{self.archive.path}: {self.where or 'it'} lacks {key!r}")
        return Node(self.archive, f"{self.where}.{key}" if self.where else key, self.value[key])

    def optional(self, key: str) -> Node | None:
        """Return the value of a key, None where there is none or it is null."""
        if not isinstance(self.value, dict):
            raise self.refused(f"an object with {key!r}")
        return None if self.value.get(key) is None else self.child(key)

    def items(self) -> tuple[Node, ...]:
        """Return the values of a list."""
        if not isinstance(self.value, list):
            raise self.refused("a list")
        return tuple(Node(self.archive, f"{self.where}[{i}]", value) for i, value in enumerate(self.value))

    def mapping(self) -> dict[str, Any]:
        """Return an object as it is."""
        if not isinstance(self.value, dict):
            raise self.refused("an object")
        return self.value

    def keys(self) -> tuple[str, ...]:
        """Return the keys of an object."""
        return tuple(self.mapping())

    def text(self) -> str:
        """Return a text."""
        if not isinstance(self.value, str):
            raise self.refused("a text")
        return self.value

    def sentence(self, most: int = LONGEST_SENTENCE) -> str:
        """Return a text that is shown: what cannot be printed is escaped, but for line ends.

        Of more than `most` characters the rest is left out: a window takes seconds to lay out a long line.
        """
        text = self.text()
        shown = text if len(text) <= most else f"{text[:most]}..."
        return "\n".join(map(printable, shown.split("\n")))

    def one_of(self, accepted: Iterable[str]) -> str:
        """Return one of some texts."""
        names = tuple(accepted)
        if self.value not in names:
            raise self.refused(f"one of {', '.join(names)}")
        return str(self.value)

    def flag(self) -> bool:
        """Return true or false."""
        if not isinstance(self.value, bool):
            raise self.refused("true or false")
        return self.value

    def integer(self, least: int = 0, most: int = LARGEST_COUNT) -> int:
        """Return a whole number in a range."""
        if type(self.value) is not int or not least <= self.value <= most:
            raise self.refused(
                f"a whole number of at least {least}" if most == LARGEST_COUNT else f"{least} to {most}"
            )
        return self.value

    def number(self) -> float:
        """Return a number, which need not be finite."""
        whole = type(self.value) is int and abs(self.value) <= LARGEST_COUNT
        if not whole and not isinstance(self.value, float):
            raise self.refused("a number")
        return float(self.value)

    def array(self, *shape: int | None, kind: str = "f") -> npt.NDArray[Any]:
        """Return the array that is named here; None in a shape is any size.

        `kind` is "f" for numbers, "i" for whole numbers, "b" for truth values.
        """
        array = self.archive.array(self.text())
        fits = array.ndim == len(shape) and all(
            wanted in (None, size) for wanted, size in zip(shape, array.shape, strict=True)
        )
        if not fits or array.dtype.kind != kind:
            sides = ", ".join("n" if side is None else str(side) for side in shape)
            raise InputError(
                f"{self.archive.path}: {self.where} is {array.dtype} of shape {array.shape}; accepted are "
                f"{KIND_NAMES[kind]} of shape ({sides})"
            )
        return array

    def finite(self, *shape: int | None) -> npt.NDArray[Any]:
        """Return an array of finite numbers, none of them above `LARGEST_NUMBER`."""
        array = self.array(*shape)
        if not np.isfinite(array).all():
            raise InputError(f"{self.archive.path}: {self.where} holds a value that is not finite")
        if (np.abs(array) > LARGEST_NUMBER).any():
            raise InputError(f"{self.archive.path}: {self.where} holds a number above {LARGEST_NUMBER:g}")
        return array
