"""Outputs that would take the place of an input, or of one another, refused before any work is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..foundation.exceptions import InputError
from ..io.readers.challenge_folder import challenge_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from ..data.sequence import Sequence


def check_outputs(outputs: Iterable[tuple[str, Path]], inputs: Mapping[Path, str]) -> None:
    """Refuse an output that is an input, or another output, by whatever name.

    Parameters
    ----------
    outputs
        the option that names each file to write, and the file.
    inputs
        what each file that is read is, as a sentence says it: "the input".

    Raises
    ------
    InputError
        naming the file and both of its uses.
    """
    taken = dict(inputs)
    for option, path in outputs:
        for other, what in taken.items():
            if _same(path, other):
                raise InputError(f"{option} {path} is {what}, which it would overwrite; name another file")
        taken[path] = f"another output ({option})"


def files_of(sequence: Sequence) -> dict[Path, str]:
    """Return the file that a sequence was read from and those beside it that belong to it."""
    if sequence.source is None:
        return {}
    found = {sequence.source: "the input"}
    item = challenge_file(sequence.source)
    if item is not None:
        both = [item] if item.companion is None else [item, item.companion]
        found |= dict.fromkeys([each.visibility for each in both], "the visibility of the input")
        found |= {each.file: "the companion of the input" for each in both[1:]}
        found[item.truth] = "the ground truth of the input"
    return found


def _same(first: Path, second: Path) -> bool:
    if first.resolve() == second.resolve():
        return True
    # Where upper and lower case are the same, two spellings are one file.
    return first.exists() and second.exists() and first.samefile(second)
