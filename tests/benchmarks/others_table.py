"""What is read of the files of others, or why it is not: a Markdown table.

    python tests/benchmarks/others_table.py FOLDER ...

Each file in a folder, and each folder in it that is one sequence, is read with no options. Where
the README.md of the folder has a row in which the file is named, that row stands beside what was read.
Files that are not sequences (videos, sessions, settings) have the sentence that refuses them. Exits with 1
where anything but a sentence of at most four lines refuses a file.
"""

from __future__ import annotations

import re
import sys
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path

from frame import Table, parser

from core import InputError
from core.foundation.exceptions import printable
from core.io.readers import inspect_file, is_sequence_folder

WIDTH, MOST_LINES = 110, 4  # of a sentence


def main() -> None:
    """Parse the arguments, read, print a row for each file."""
    arguments = parser(__doc__)
    arguments.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    bad = 0
    for folder in arguments.parse_args().folders:
        rows = rows_of_readme(folder / "README.md")
        print(f"\n## {folder.name}\n")
        table = Table("file", "right", "read, or why not", "remarks")
        for path in files_of(folder):
            read, remarks, fine = described(path)
            bad += not fine
            name = str(path.relative_to(folder))
            cells = name, right(name, rows), read, remarks
            table.row(*(printable(each).replace("|", "/") for each in cells))
    sys.exit(min(bad, 1))


def files_of(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder, and the folders that are one sequence each."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not is_sequence_folder(path):
            yield from files_of(path)
        elif not path.name.startswith(("README", "LICENSE")):
            yield path


def rows_of_readme(readme: Path) -> list[list[str]]:
    """Return the cells of the tables of a README; none where it is absent."""
    if not readme.is_file():
        return []
    lines = readme.read_text("utf-8").splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]


def right(name: str, rows: list[list[str]]) -> str:
    """Return what a README says of a file, without its name."""
    for file, *cells in rows:
        named = [each.strip("` /") for each in re.split(r",| / ", file)]
        first = named[0].rpartition(".")[0]
        patterns = [re.escape(first * each.startswith(".") + each).replace(r"\.\.\.", ".*") for each in named]
        last = patterns[-1].partition(r"\.")[2]  # "ani_top / ani_back.analysis.h5" have one suffix
        patterns += [rf"{each}\.{last}" for each in patterns if r"\." not in each]
        if any(re.fullmatch(each, name) for each in patterns if each):
            return "; ".join(cells)
    return ""


def described(path: Path) -> tuple[str, str, bool]:
    """Return what was read of a file or folder, the remarks on it, and whether it ended as it may."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            contents = inspect_file(path)
        sequence, sentence = contents.sequence, contents.problem
    except InputError as error:
        sequence, sentence = None, str(error)
    except Exception as error:  # what is looked for here
        return f"**{type(error).__name__}**: {error}", "", False
    if sequence is None:
        return f"*refused*: {sentence}", "", 0 < len(textwrap.wrap(sentence, WIDTH)) <= MOST_LINES
    frames, points = sequence.visible.shape
    has = {"K": sequence.intrinsics, "truth": sequence.truth, "names": sequence.point_names}
    given = ", ".join(name for name, value in has.items() if value is not None)
    size, seen = f"{frames} frames x {points} points", f"{sequence.visible.mean():.1%} visible"
    read = f"{size}, {seen}, {sequence.camera.value}{', with ' + given if given else ''}"
    return read, "; ".join(contents.remarks), True


if __name__ == "__main__":
    main()
