"""Dataclasses as values that JSON can hold, and back: one writer and one reader of what is stored.

The annotations of a class say what a file may hold. A value of another kind is refused in a sentence that
names its place. A dataclass checks its own ranges, and arrays are held elsewhere: a hook names them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from pathlib import Path
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints, is_typeddict

import numpy as np

from .exceptions import LONGEST_SENTENCE, InputError, printable

PLAIN = {bool, int, float, str, NoneType}  # of which JSON has values
LARGEST_COUNT = 2**53  # above, numbers of JSON are no exact whole numbers elsewhere
SHOWN = 40  # letters of a value that a sentence shows


class Hook(NamedTuple):
    """How values of a class and of its subclasses are written and read, where their fields do not say it."""

    write: Callable[[Any], Any]
    read: Callable[[Any, Any, str], Any]  # of the annotation, the value that was written, and its place


class Records:
    """Writes and reads records.

    `hooks`: by class or annotation; `names`: classes in annotations that their module imports for type
    checkers only; `left_out`: names of fields that are not stored, by class.
    """

    def __init__(
        self,
        hooks: Mapping[Any, Hook] | None = None,
        names: Mapping[str, Any] | None = None,
        left_out: Mapping[type, Collection[str]] | None = None,
    ) -> None:
        self.hooks, self.names, self.left_out = dict(hooks or {}), dict(names or {}), dict(left_out or {})
        self._found: dict[type, dict[str, Any]] = {}

    def write(self, value: Any, kind: Any = None) -> Any:
        """Return a value as JSON can hold it; `kind` is its annotation, where there is one."""
        if type(value) in PLAIN:
            return value
        hook = self.hooks.get(kind) or self._hook(type(value))
        if hook is not None:
            return hook.write(value)
        if is_dataclass(value):
            return self.write_fields(value)
        if isinstance(value, Enum):
            return value.value
        if isinstance(value, Path):
            return str(value)
        if isinstance(value, dict):
            return {key: self.write(each) for key, each in value.items()}
        if isinstance(value, frozenset):
            return sorted(value)
        return [self.write(each) for each in value] if isinstance(value, list | tuple) else value

    def write_fields(self, value: Any) -> dict[str, Any]:
        """Return the stored fields of a dataclass."""
        return {
            name: self.write(getattr(value, name), hint) for name, hint in self._hints(type(value)).items()
        }

    def read(self, kind: Any, value: Any, where: str) -> Any:
        """Return what was written of a value of a kind; `where` is its place in the file."""
        origin, parts = get_origin(kind) or kind, get_args(kind)
        hook = self.hooks.get(kind) or self._hook(origin)
        if hook is not None:
            return hook.read(kind, value, where)
        if kind is Any:
            return value
        if origin in (Union, UnionType):
            return self._read_union(parts, value, where)
        if origin in (tuple, list, frozenset):
            return origin(self._read_items(origin, parts, value, where))
        if origin is dict or is_typeddict(kind):
            check_kind(where, value, dict, "an object")
            hints = get_type_hints(kind) if origin is not dict else dict.fromkeys(value, parts[1])
            return {
                name: self.read(hints[name], each, _place(where, name)) if name in hints else each
                for name, each in value.items()
            }
        if is_dataclass(kind):
            return self.read_fields(kind, value, where)
        if issubclass(kind, Enum):
            names = [each.value for each in kind]
            if value not in names:
                raise refused(where, value, f"one of {', '.join(map(str, names))}")
            return kind(value)
        return _read_plain(kind, value, where)

    def read_fields(self, kind: Any, value: Any, where: str) -> Any:
        """Return a dataclass of its stored fields; one that is absent has its default."""
        check_kind(where, value, dict, "an object")
        hints = self._hints(kind)
        for name in value:
            if name not in hints:
                raise InputError(f"{where or 'it'} holds {name[:SHOWN]!r}; accepted are {', '.join(hints)}")
        for entry in fields(kind):
            needed = entry.default is MISSING and entry.default_factory is MISSING
            if needed and entry.name in hints and entry.name not in value:
                raise InputError(f"{where or 'it'} lacks {entry.name!r}")
        found = {name: self.read(hints[name], each, _place(where, name)) for name, each in value.items()}
        self.check(kind, found, where)
        try:
            return kind(**found)
        except InputError as error:
            raise InputError(f"{where}: {error}" if where else str(error)) from error
        except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError) as error:
            raise InputError(f"{where or 'it'} holds a value of another kind ({error})") from error

    def check(self, kind: Any, values: Mapping[str, Any], where: str) -> None:
        """Refuse values that a dataclass does not check itself; for a subclass to define."""

    def _read_union(self, parts: tuple[Any, ...], value: Any, where: str) -> Any:
        if value is None and NoneType in parts:
            return None
        if {Path, str} <= {*parts} and isinstance(value, str):
            return value  # as it is: the class decides whether it is a name or a path
        refusals = []
        for part in parts:
            if part is not NoneType:
                try:
                    return self.read(part, value, where)
                except InputError as refusal:
                    refusals.append(refusal)
        raise refusals[-1]

    def _read_items(self, origin: Any, parts: tuple[Any, ...], value: Any, where: str) -> list[Any]:
        check_kind(where, value, list | tuple, "a list")
        kinds = parts
        if origin is not tuple or parts[-1] is Ellipsis:
            kinds = (parts[0],) * len(value)
        if len(kinds) != len(value):
            raise refused(where, value, f"{len(kinds)} values")
        return [
            self.read(kind, each, f"{where}[{number}]")
            for number, (kind, each) in enumerate(zip(kinds, value, strict=True))
        ]

    def _hook(self, kind: Any) -> Hook | None:
        bases = kind.__mro__ if isinstance(kind, type) else ()
        return next((self.hooks[base] for base in bases if base in self.hooks), None)

    def _hints(self, kind: type) -> dict[str, Any]:
        """Return the annotations of the stored fields of a class, by their names."""
        if kind in self._found:
            return self._found[kind]
        out = self.left_out.get(kind, ())
        stored = {entry.name: entry.type for entry in fields(kind) if entry.name not in out}
        names = vars(sys.modules[kind.__module__])
        found = get_type_hints(SimpleNamespace(__annotations__=stored), names, self.names | names)
        return self._found.setdefault(kind, found)


def refused(where: str, value: Any, accepted: str) -> InputError:
    """Return the error that names what was found at a place, and what is accepted there."""
    found = repr(value)
    found = found if len(found) <= SHOWN else f"{found[:SHOWN]}…"
    return InputError(f"{where or 'it'} is {found}; accepted is {accepted}")


def check_kind(where: str, value: Any, kind: Any, accepted: str) -> None:
    """Refuse what an argument is where it is of another kind."""
    if not isinstance(value, kind):
        raise refused(where, value, accepted)


def _place(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _read_plain(kind: type, value: Any, where: str) -> Any:
    if kind is bool and isinstance(value, bool):
        return value
    if kind is int and type(value) is int and abs(value) <= LARGEST_COUNT:
        return value
    if kind is float and (isinstance(value, float) or (type(value) is int and abs(value) <= LARGEST_COUNT)):
        return float(value)
    if kind is Path and isinstance(value, str) and value:
        return Path(value)
    if kind is str and isinstance(value, str):
        return shown_text(value)
    names = {bool: "true or false", int: "a whole number", float: "a number", Path: "a path", str: "a text"}
    raise refused(where, value, names.get(kind, "null"))


def check_shapes(
    shapes: Mapping[str, tuple[str | int, ...]], arrays: Mapping[str, Any], sizes: dict[str, int], where: str
) -> None:
    """Compare arrays with their shapes, whose letters are sizes that agree; "3P" is three times "P".

    `sizes` of letters may be known; the first array with another letter fixes its size.
    """
    for name, letters in shapes.items():
        if arrays.get(name) is None:
            continue
        shape = np.shape(arrays[name])
        if len(shape) == len(letters):
            for letter, size in zip(letters, shape, strict=True):
                if isinstance(letter, str):
                    sizes.setdefault(letter, size)
                if letter == "P":
                    sizes.setdefault("3P", 3 * size)
        expected = tuple(sizes.get(entry, entry) if isinstance(entry, str) else entry for entry in letters)
        if shape != expected:
            text, general = (", ".join(map(str, entries)) for entries in (expected, letters))
            raise InputError(f"{where}: {name} has shape {shape}; accepted is ({general}), here ({text})")


def shown_text(text: str, most: int = LONGEST_SENTENCE) -> str:
    """Return a text as it is shown: escaped where it cannot be printed, but for line ends, and shortened."""
    shown = text if len(text) <= most else f"{text[:most]}..."
    return "\n".join(map(printable, shown.split("\n")))
