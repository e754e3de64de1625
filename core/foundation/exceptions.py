"""The error that bad input raises."""

from __future__ import annotations

MOST_CHARACTERS = 600  # of a message
_FIRST, _LAST = 200, 395  # of a longer one, at its beginning and its end


class InputError(ValueError):
    """Bad input. The message names the file, the variable, what was found and what is accepted.

    Names and values in it are of files that are not trusted: what cannot be printed is escaped, and what is
    far too long is left out in the middle.
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(_shortened(printable(str(message))))

    @classmethod
    def of(cls, error: OSError) -> InputError:
        """Return the error for a refusal of the operating system, with its path where it has one."""
        named = error.filename is not None and error.strerror
        return cls(f"{error.filename}: {error.strerror}" if named else str(error))


def printable(text: str) -> str:
    r"""Return a text as one line that any terminal shows and any file holds, with the escapes of Python.

    Parameters
    ----------
    text
        of a file, which is not trusted.

    Returns
    -------
    str
        with escapes for line ends, control characters, marks that change the direction of what follows, and
        bytes that are no text.

    Examples
    --------
    >>> printable("a\x1b[31m b")
    'a\\x1b[31m b'
    """
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text


def _shortened(message: str) -> str:
    """Return a message without the middle of one that is far too long."""
    return message if len(message) <= MOST_CHARACTERS else f"{message[:_FIRST]} ... {message[-_LAST:]}"
