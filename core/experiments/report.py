"""A report as a list of blocks, rendered as Markdown and as HTML by the Jinja2 templates in `templates`.

Text may contain `code` and **strong** parts, as in Markdown.
"""

from __future__ import annotations

import csv
import html
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from ..foundation import InputError, needs, printable, replacing

if TYPE_CHECKING:
    import pandas as pd
    from jinja2 import Environment
    from markupsafe import Markup

TEMPLATES = Path(__file__).with_name("templates")
REPORT_FILES = ("report.md", "report.html")
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")  # of cells that spreadsheets compute
LARGE_NUMBER = 100  # from which on a number has no digits after the point


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is the title of the report."""

    kind: ClassVar[str] = "heading"
    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; `highlighted` is for what must not be overlooked."""

    kind: ClassVar[str] = "paragraph"
    text: str
    highlighted: bool = False


@dataclass(frozen=True)
class BulletList:
    """A list with bullets."""

    kind: ClassVar[str] = "list"
    lines: tuple[str, ...]


@dataclass(frozen=True)
class CodeBlock:
    """Lines of code, such as commands."""

    kind: ClassVar[str] = "code"
    text: str


@dataclass(frozen=True)
class TableCell:
    """An entry of a table."""

    text: str
    strong: bool = False
    muted: bool = False  # not measured here: a published number


@dataclass(frozen=True)
class ReportTable:
    """A table whose first `labels` columns are text, on the left; `alignment` has another l or r for each."""

    kind: ClassVar[str] = "table"
    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str | TableCell]]
    labels: int = 1
    alignment: str = ""
    rules: Collection[int] = ()  # rows with a line above them

    @property
    def cells(self) -> list[list[TableCell]]:
        """The cells of all rows; a text alone is a plain one."""
        return [
            [cell if isinstance(cell, TableCell) else TableCell(cell) for cell in row] for row in self.rows
        ]

    @property
    def sides(self) -> str:
        """An "l" for every column that is aligned on the left, an "r" for the others."""
        return self.alignment or "l" * self.labels + "r" * (len(self.header) - self.labels)


def table_of(
    caption: str, lines: Sequence[Mapping[str, str | TableCell]], *, labels: int = 1, group: int = 0
) -> ReportTable:
    """Return lines, cells by the names of the same columns, as a table.

    `group`: how many cells at the left name a group of lines; its first line shows them, below a rule.
    """
    rows: list[list[str | TableCell]] = []
    rules: list[int] = []
    last: list[str | TableCell] = []
    for line in lines:
        cells = [*line.values()]
        if group and cells[:group] != last:
            last = cells[:group]
            rules.append(len(rows))
        else:
            cells[:group] = [""] * group
        rows.append(cells)
    return ReportTable(caption, [*lines[0]] if lines else (), rows, labels, rules=rules)


@dataclass(frozen=True)
class ReportImage:
    """An image by its path relative to the report."""

    path: str
    caption: str
    width: int  # CSS pixels


@dataclass(frozen=True)
class ImageGallery:
    """Images in rows, as many in each as fit."""

    kind: ClassVar[str] = "images"
    images: tuple[ReportImage, ...]


ReportBlock: TypeAlias = Heading | Paragraph | BulletList | CodeBlock | ReportTable | ImageGallery


def check_installed(*modules: str) -> None:
    """Raise InputError where a package of the extra `experiments` is absent, with how to install it."""
    for name in modules:
        try:
            import_module(name)
        except ImportError as error:
            raise InputError(needs("this", str(error.name), "experiments")) from error


def render_markdown(blocks: list[ReportBlock]) -> str:
    """Return the blocks as Markdown."""
    return _environment().get_template("report.md.jinja").render(blocks=blocks)


def render_html(blocks: list[ReportBlock], title: str) -> str:
    """Return the blocks as an HTML page that needs no other file than its images."""
    return _environment().get_template("report.html.jinja").render(blocks=blocks, title=title)


def render_latex(table: ReportTable) -> str:
    r"""Return a table as LaTeX, for the package booktabs.

    >>> rows = [("a_b", TableCell("1.5", strong=True))]
    >>> print(render_latex(ReportTable("errors", ("object", "mm"), rows)))
    % errors
    % \usepackage{booktabs}
    \begin{tabular}{lr}
    \toprule
    object & mm \\
    \midrule
    a\_b & \textbf{1.5} \\
    \bottomrule
    \end{tabular}
    """
    lines = [f"% {_one_line(table.caption)}", r"% \usepackage{booktabs}"]
    lines += [rf"\begin{{tabular}}{{{table.sides}}}", r"\toprule"]
    lines += [rf"{' & '.join(map(_latex, table.header))} \\", r"\midrule"]
    for row in table.cells:
        cells = [rf"\textbf{{{_latex(cell.text)}}}" if cell.strong else _latex(cell.text) for cell in row]
        lines.append(rf"{' & '.join(cells)} \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "−": "$-$",
    "±": r"$\pm$",
} | {character: f"\\{character}" for character in "&%$#_{}"}


def _latex(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in _one_line(text))


def _one_line(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)


def write_report(blocks: list[ReportBlock], title: str, folder: Path) -> Path:
    """Write `report.md` and `report.html`, and return the path of the latter."""
    for name, text in zip(REPORT_FILES, (render_markdown(blocks), render_html(blocks, title)), strict=True):
        with replacing(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8", errors="backslashreplace")
    return folder / REPORT_FILES[-1]


def write_frame(path: Path, table: pd.DataFrame) -> None:
    """Write a table as csv: numbers with all digits, nothing of what is missing, no text that is computed."""
    lines = without_missing(table).itertuples(index=False, name=None)
    with (
        replacing(path) as temporary,
        temporary.open("w", newline="", encoding="utf-8", errors="backslashreplace") as stream,
    ):
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerows(map(formula_safe, line) for line in chain([table.columns], lines))


def without_missing(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of Python's own values, None where one is missing."""
    return table.astype(object).where(table.notna(), None)


def formula_safe(value: object) -> object:
    """Return a cell of csv that no spreadsheet computes: texts that begin as a formula get an apostrophe.

    >>> formula_safe("=1+1"), formula_safe(-1.5), formula_safe("drink")
    ("'=1+1", -1.5, 'drink')
    """
    if not isinstance(value, str):
        return value
    return f"'{printable(value)}" if value.startswith(FORMULA_STARTS) else printable(value)


def format_fixed(value: float, digits: int) -> str:
    """Return a number with so many digits after the point, and with a minus sign where it is negative."""
    return f"{value:.{digits}f}".replace("-", "−")


def format_significant(value: float) -> str:
    """Return a number with three significant digits, or without digits after the point from 100 on."""
    return f"{value:.0f}" if value >= LARGE_NUMBER else f"{value:.3g}"


@cache
def _environment() -> Environment:
    check_installed("jinja2")
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=lambda name: name is not None and ".html" in name,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"inline": _inline, "markdown": _markdown, "markdown_cell": _markdown_cell}
    return environment


def _markdown(text: str) -> str:
    """Return text as Markdown: in names there are no tags, links or pictures, but in `code`."""
    text = re.sub(r"``+|\\+`", "'", text)  # only `code` as it is found here is code in Markdown
    parts = re.split(r"(`[^`\n]+`)", text)
    parts[::2] = [re.sub(r"(\\*)([\[\]])", r"\1\1\\\2", part.replace("`", "'")) for part in parts[::2]]
    parts[::2] = [re.sub(r"<(?=[a-zA-Z/!?])", "&lt;", part) for part in parts[::2]]
    return "\n".join(map(printable, "".join(parts).split("\n")))


def _markdown_cell(text: str) -> str:
    return _markdown(" ".join(text.split("\n"))).replace("|", "\\|")  # on one line


def _inline(text: str) -> Markup:
    """Return text as HTML, with its `code` and **strong** parts as elements."""
    from markupsafe import Markup

    parts = []
    for index, part in enumerate(re.split(r"`([^`]+)`", text)):
        escaped = html.escape(part, quote=False)
        is_code = index % 2 == 1
        parts.append(
            f"<code>{escaped}</code>" if is_code else re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escaped)
        )
    return Markup("".join(parts))
