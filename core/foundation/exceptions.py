"""The error that bad input raises, and how its sentences are printed."""

from __future__ import annotations

import os
import re
import textwrap

MOST_CHARACTERS = 410  # of a message besides the folder of the file that it names: four lines
LONGEST_FOLDER = 170  # characters of it that do not count
_FIRST, _MARK = 0.4, " ... "  # share of a longer one that is its beginning, and what stands for its middle
_MOST_LINES, _WIDTH, _COMMAND = 4, 110, " " * 20  # before it a command puts its name
LONGEST_NAME = 200  # characters of a name that a file gives to a sequence, a point, a unit
LONGEST_SENTENCE = 2000  # characters of what it says besides
_FEWER, _FEWEST = 20, 200  # characters by which it is made shorter where its lines break early, down to these
# Fillers, variation selectors and the Braille pattern without a dot: they are printable to Python, but
# show nothing, so that two names would look the same.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


class InputError(ValueError):
    """Bad input. The message names the file, the variable, what was found and what is accepted.

    Names and values in it are of files that are not trusted: what cannot be printed is escaped, and what is
    far too long is left out in the middle.

    Examples
    --------
    >>> import core
    >>> core.Settings(eta=2.0)
    Traceback (most recent call last):
    core.foundation.exceptions.InputError: eta is 2; accepted is a number above 0 and at most 1
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(_shortened(printable(str(message))))

    @classmethod
    def of(cls, error: OSError | InputError) -> InputError:
        """Return the error for a refusal, of the operating system with its path where it has one."""
        if isinstance(error, OSError) and error.filename is not None and error.strerror:
            return cls(f"{error.filename}: {error.strerror}")
        return cls(str(error))


THIN_SPACE = "\u202f"  # between the thousands of numbers


def printable(text: str) -> str:
    """Return a text as one line that any terminal shows and any file holds, with the escapes of Python."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() or c == THIN_SPACE else _escape(c) for c in text)
    return _INVISIBLE.sub(lambda found: _escape(found[0]), text)


def printable_name(text: str, most: int = LONGEST_NAME) -> str:
    """Return a name or sentence of a file as `printable`, shortened: long lines stop a window for seconds."""
    shown = printable(text[: most + 1])
    return shown if len(shown) <= most else f"{shown[:most]}..."


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode()


def needs(what: str, package: str, extra: str) -> str:
    """Return the sentence for a package that something needs, with the command that installs it."""
    return (
        f"{what} needs {package}, which is not installed here; install it with: "
        f"pip install 'nrsfm-gui[{extra}]'"
    )


def names_file(sentence: str) -> bool:
    """Return whether a sentence begins with a path, so that it needs no other."""
    return os.path.isabs(sentence.partition(": ")[0])


def _shortened(message: str) -> str:
    """Return a message without the middle of one that is far too long: four lines, wherever these break."""
    if len(message) <= _WIDTH - len(_COMMAND):
        return message  # One line. A damaged file of a million lines has as many messages.
    folder = min(len(message.partition(": ")[0].rpartition("/")[0]), LONGEST_FOLDER)
    shown = message
    for most in range(MOST_CHARACTERS, _FEWEST, -_FEWER):
        lines = max(
            len(textwrap.wrap(shown[folder:], _WIDTH, initial_indent=indent)) for indent in ("", _COMMAND)
        )
        if len(shown) <= folder + MOST_CHARACTERS and lines <= _MOST_LINES:
            break
        first, last = folder + int(_FIRST * most), most - int(_FIRST * most) - len(_MARK)
        shown = f"{message[:first]}{_MARK}{message[-last:]}"
    return shown
