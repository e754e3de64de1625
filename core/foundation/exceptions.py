"""The one kind of error that bad input raises."""

from __future__ import annotations


class InputError(ValueError):
    """Bad input, said in one sentence: the file, the variable, what was found and what is accepted."""

    @classmethod
    def of(cls, error: OSError) -> InputError:
        """Return what the system refuses as bad input: of a path, where it names one."""
        named = error.filename is not None and error.strerror
        return cls(f"{error.filename}: {error.strerror}" if named else str(error))
