"""Parameters described where they are declared: what they mean, what is accepted, how an editor offers them.

A field of a frozen dataclass is declared by `parameter`. The command line, the forms of the window, guidance
and reports read the descriptions by `parameters_of`. A class that inherits from `CheckedParameters` checks
its values when it is made; `check_parameters` does so on demand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from enum import Enum
from functools import cache
from inspect import cleandoc
from textwrap import fill, indent
from typing import Any, TypeVar

import numpy as np

from .exceptions import InputError
from .representation import OneLine

ParameterValue = float | str
_Kind = TypeVar("_Kind", bound=Enum)
_KEY = "parameter"
_RAISES = """Raises
------
InputError
    where a value is outside its range; the sentence names it and what is accepted."""


@dataclass(frozen=True)
class Parameter(OneLine):
    """One number, or one word of a few."""

    name: str
    tip: str  # what it means, as a sentence
    label: str = ""  # in forms; the name where empty
    section: str = ""  # of the form, and of the help of the command line
    objective: str = ""  # the only one that it is a parameter of; "" of one that all have
    text: bool = False  # whether it is any text, as a source or a path; its class checks it
    choices: tuple[str, ...] = ()  # of a word; a number where empty
    least: float = 0.0
    most: float = float("inf")
    open_below: bool = False  # whether `least` itself is refused
    open_above: bool = False  # whether `most` itself is refused
    integer: bool = False
    optional: bool = False  # whether None is accepted
    absent: str = ""  # what None stands for, in a few words
    slider: tuple[float, float] | None = None  # from where to where; None for a number that is typed
    logarithmic: bool = True  # of the slider
    live: bool = False  # whether a run continues from its point under another value

    @property
    def title(self) -> str:
        """The label in forms."""
        return self.label or self.name.replace("_", " ")

    @property
    def accepted(self) -> str:
        """What is accepted, in words."""
        if self.choices:
            return ", ".join(self.choices)
        kind = "a whole number" if self.integer else "a number"
        below = f"above {self.least:g}" if self.open_below else f"of at least {self.least:g}"
        if self.most == float("inf"):
            return f"{kind} {below}"
        return f"{kind} {below} and {'below' if self.open_above else 'at most'} {self.most:g}"

    def checked(self, value: object) -> ParameterValue:
        """Return a value as it is used: a text, an int of a whole number, a float of any other."""
        if self.text:
            return str(value)
        if self.choices:
            if value not in self.choices:
                raise InputError(f"{self.name} is {value!r}; accepted are {', '.join(self.choices)}")
            return str(value)
        try:
            number = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise InputError(f"{self.name} is {value}; accepted is {self.accepted}") from None
        except OverflowError:
            raise InputError(f"{self.name} is too large; accepted is {self.accepted}") from None
        if not np.isfinite(number):
            accepted = self.accepted.replace("a number", "a finite number")
            raise InputError(f"{self.name} is {value}; accepted is {accepted}")
        above = self.least < number if self.open_below else self.least <= number
        below = number < self.most if self.open_above else number <= self.most
        if not (above and below) or (self.integer and number != int(number)):
            raise InputError(f"{self.name} is {number:g}; accepted is {self.accepted}")
        if self.integer:
            return int(value) if isinstance(value, int | np.integer) else int(number)
        return number


def parameter(default: Any, tip: str, **description: Any) -> Any:
    """Return a dataclass field that is described as a `Parameter`; its name is that of the field."""
    metadata = {
        "tip": tip + accepted_words(description.get("choices", ())),
        _KEY: Parameter("", tip, **description),
    }
    return field(default=default, metadata=metadata)


def chosen_of(kinds: type[_Kind], name: str, value: object) -> _Kind:
    """Return a member of an enumeration, which may be given by its value. `name` is for the InputError."""
    try:
        return kinds(value)
    except ValueError:
        listed = ", ".join(str(kind.value) for kind in kinds)
        raise InputError(f"{name} is {value!r}; accepted are {listed}") from None


def accepted_words(choices: Iterable[str], *others: str) -> str:
    """Return the sentence that ends a tip in a docstring, "" where any number is accepted."""
    listed = ", ".join([*(f'"{choice}"' for choice in choices), *others])
    return listed and f" Accepted: {listed}."


def parameters_of(kind: Any) -> dict[str, Parameter]:
    """Return the described fields of a dataclass, or of an instance, by name in the order of declaration."""
    described: Any = kind if isinstance(kind, type) else type(kind)
    return dict(_parameters_of_class(described))


@cache  # settings are checked each time that a slider moves
def _parameters_of_class(kind: Any) -> dict[str, Parameter]:
    return {
        entry.name: replace(entry.metadata[_KEY], name=entry.name)
        for entry in fields(kind)
        if _KEY in entry.metadata
    }


def check_parameters(instance: Any) -> None:
    """Check every described field of a dataclass instance, and store it as an int or a float of Python."""
    for name, description in parameters_of(instance).items():
        value = getattr(instance, name)
        if description.text or (value is None and description.optional):
            continue
        if isinstance(value, str) and not description.choices:
            raise InputError(f"{name} is {value!r}, a text; accepted is {description.accepted}")
        object.__setattr__(instance, name, description.checked(value))


def tips_of(kind: Any) -> dict[str, str]:
    """Return what the fields of a class mean that have a "tip", also before a dataclass is made of it."""
    own = {name: each for name, each in vars(kind).items() if isinstance(each, Field)}
    found = getattr(kind, "__dataclass_fields__", {}) | own
    return {name: each.metadata["tip"] for name, each in found.items() if "tip" in each.metadata}


def with_parameters(doc: str | None, tips: Mapping[str, str]) -> str | None:
    """Return a docstring whose "{parameters}" are sections on what each parameter means, and on errors."""
    lines = [each for name, tip in tips.items() for each in (name, indent(fill(tip, 100), "    "))]
    section = "\n".join(("Parameters", "----------", *lines))
    return doc and cleandoc(doc).replace("{parameters}", f"{section}\n\n{_RAISES}")


class CheckedParameters:
    """Base of a dataclass whose described fields are checked when an instance is made.

    "{parameters}" in its docstring is what the descriptions say.
    """

    def __init_subclass__(cls) -> None:
        """Say in the docstring what each parameter means, as it is said where it is declared."""
        super().__init_subclass__()
        cls.__doc__ = with_parameters(cls.__doc__, tips_of(cls))

    def __post_init__(self) -> None:
        check_parameters(self)
