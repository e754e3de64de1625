"""The error that bad input raises."""

from __future__ import annotations


class InputError(ValueError):
    """Bad input. The message names the file, the variable, what was found and what is accepted."""

    @classmethod
    def of(cls, error: OSError) -> InputError:
        """Return the error for a refusal of the operating system, with its path where it has one."""
        named = error.filename is not None and error.strerror
        return cls(f"{error.filename}: {error.strerror}" if named else str(error))
