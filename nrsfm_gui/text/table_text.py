"""Tables and cells as text: short enough for a screen, or for a spreadsheet, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from core.experiments.report import ReportTable
from core.foundation import printable

TABLE_FORMS = TABS, MARKDOWN, LATEX = "tabs", "Markdown", "LaTeX"  # of a table that is copied
LONGEST_TEXT = 300  # characters of a cell


def shortened(text: str, most: int = LONGEST_TEXT) -> str:
    """Return a text of a file on one line, without what cannot be printed, and not longer than a screen."""
    line = printable(" ".join(text[: 4 * most].split()))
    return line if len(line) <= most else f"{line[: most - 1]}…"


def tabbed_text(lines: Iterable[Iterable[Any]]) -> str:
    """Return cells for a spreadsheet: a tab between them, nothing for None."""
    from core.experiments.report import formula_safe

    texts = (
        ["" if cell is None else " ".join(str(formula_safe(cell)).split()) for cell in line] for line in lines
    )
    return "".join("\t".join(line) + "\n" for line in texts)


def rendered(table: ReportTable, form: str) -> str:
    """Return a table in Markdown or LaTeX."""
    from core.experiments.report import render_latex, render_markdown

    return (render_latex(table) if form == LATEX else render_markdown([table]).strip()) + "\n"
