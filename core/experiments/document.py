"""A report as a list of blocks, written as Markdown and as HTML.

Text may hold `code` and **strong** words, as Markdown has them.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import TypeAlias

STYLE = """
:root { color-scheme: light dark; --ink: #1d2330; --soft: #5b6475; --line: #d9dee7; --paper: #ffffff;
  --band: #f5f7fa; --accent: #1f5fbf; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7ee; --soft: #9aa3b5; --line: #38404f;
  --paper: #171a21; --band: #1f242d; --accent: #7fb0ff; } }
body { font: 16px/1.55 system-ui, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; color: var(--ink);
  background: var(--paper); max-width: 78rem; margin: 2.5rem auto 5rem; padding: 0 1.5rem; }
p, li { max-width: 52rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.35rem; margin: 3rem 0 .6rem; padding-top: .8rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 2rem 0 .4rem; }
a { color: var(--accent); }
code { font: .88em ui-monospace, "DejaVu Sans Mono", monospace; background: var(--band); padding: .1em .3em;
  border-radius: 3px; overflow-wrap: anywhere; }
pre { background: var(--band); padding: .8rem 1rem; border-radius: 6px; overflow-x: auto; }
pre code { background: none; padding: 0; }
.scroll { overflow-x: auto; margin: 1rem 0 1.6rem; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); padding: 0 0 .5rem; width: max-content;
  max-width: min(52rem, 92vw); }
th, td { padding: .28rem .75rem; text-align: right; white-space: nowrap; }
th.label, td.label { text-align: left; }
thead th { border-bottom: 1.5px solid var(--ink); vertical-align: bottom; }
tbody tr.rule td { border-top: 1px solid var(--line); }
tbody tr:last-child td { border-bottom: 1px solid var(--line); }
td.soft { color: var(--soft); }
.pictures { display: flex; flex-wrap: wrap; gap: 1rem; margin: 1rem 0 2rem; }
figure { margin: 0; max-width: 100%; }
figure img { max-width: 100%; background: #ffffff; border: 1px solid var(--line); border-radius: 6px; }
figcaption { color: var(--soft); font-size: .85rem; margin-top: .3rem; }
.note { border-left: 4px solid var(--accent); background: var(--band); padding: .6rem 1rem;
  max-width: 50rem; border-radius: 0 6px 6px 0; }
"""


@dataclass(frozen=True)
class Heading:
    """A title; level 1 is that of the report."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    """A paragraph, or where it is a note, one that must not be overlooked."""

    text: str
    note: bool = False


@dataclass(frozen=True)
class BulletList:
    """A list with bullets."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """Commands or the like, line by line."""

    text: str


@dataclass(frozen=True)
class Cell:
    """An entry of a table."""

    text: str
    strong: bool = False
    soft: bool = False  # beside the others: a published number


@dataclass(frozen=True)
class TableRow:
    """A line of a table; `rule` draws a line above it."""

    cells: tuple[Cell, ...]
    rule: bool = False


@dataclass(frozen=True)
class ReportTable:
    """A table whose first `labels` columns are words; the others are figures, aligned on the right."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[TableRow, ...]
    labels: int = 1


@dataclass(frozen=True)
class ReportImage:
    """A picture by its path relative to the report."""

    path: str
    caption: str
    width: int  # CSS pixels


@dataclass(frozen=True)
class ImageRow:
    """Pictures side by side, as many as fit."""

    items: tuple[ReportImage, ...]


Block: TypeAlias = Heading | Paragraph | BulletList | Code | ReportTable | ImageRow


def as_markdown(blocks: list[Block]) -> str:
    """Return the report as Markdown."""
    return "\n\n".join(_markdown(block) for block in blocks) + "\n"


def as_html(blocks: list[Block], title: str) -> str:
    """Return the report as one HTML page that needs nothing but its pictures."""
    body = "\n".join(_html(block) for block in blocks)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _markdown(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {text}"
        case Paragraph(text, note):
            return f"> {text}" if note else text
        case BulletList(items):
            return "\n".join(f"- {item}" for item in items)
        case Code(text):
            return f"```\n{text}\n```"
        case ReportTable():
            return _markdown_table(block)
        case ImageRow(items):
            return "\n\n".join(f"![{item.caption}]({item.path})\n\n*{item.caption}*" for item in items)


def _markdown_table(table: ReportTable) -> str:
    count = len(table.header)
    rules = [":---"] * table.labels + ["---:"] * (count - table.labels)
    lines = [list(table.header), rules]
    for row in table.rows:
        lines.append([f"**{cell.text}**" if cell.strong and cell.text else cell.text for cell in row.cells])
    body = "\n".join(f"| {' | '.join(_escaped(text) for text in line)} |" for line in lines)
    return f"{table.caption}\n\n{body}" if table.caption else body


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def _html(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"<h{level}>{_inline(text)}</h{level}>"
        case Paragraph(text, note):
            return f'<p class="note">{_inline(text)}</p>' if note else f"<p>{_inline(text)}</p>"
        case BulletList(items):
            return "<ul>\n" + "\n".join(f"<li>{_inline(item)}</li>" for item in items) + "\n</ul>"
        case Code(text):
            return f"<pre><code>{html.escape(text)}</code></pre>"
        case ReportTable():
            return _html_table(block)
        case ImageRow(items):
            return '<div class="pictures">\n' + "\n".join(_html_picture(item) for item in items) + "\n</div>"


def _html_picture(picture: ReportImage) -> str:
    source, words = html.escape(picture.path, quote=True), _inline(picture.caption)
    plain = html.escape(picture.caption, quote=True)
    image = (
        f'<a href="{source}"><img src="{source}" alt="{plain}" width="{picture.width}" loading="lazy"></a>'
    )
    return f"<figure>{image}<figcaption>{words}</figcaption></figure>"


def _html_table(table: ReportTable) -> str:
    def of(tag: str, index: int, cell: Cell) -> str:
        names = [name for name, on in (("label", index < table.labels), ("soft", cell.soft)) if on]
        joined = " ".join(names)
        kind = f' class="{joined}"' if names else ""
        # The attribute is for viewers that know little CSS.
        align = "" if index < table.labels else ' align="right"'
        text = f"<b>{_inline(cell.text)}</b>" if cell.strong else _inline(cell.text)
        return f"<{tag}{kind}{align}>{text}</{tag}>"

    head = "".join(of("th", index, Cell(text)) for index, text in enumerate(table.header))
    lines = []
    for row in table.rows:
        cells = "".join(of("td", index, cell) for index, cell in enumerate(row.cells))
        kind = ' class="rule"' if row.rule else ""
        lines.append(f"<tr{kind}>{cells}</tr>")
    caption = f"<caption>{_inline(table.caption)}</caption>" if table.caption else ""
    body = "\n".join(lines)
    return (
        f'<div class="scroll"><table>{caption}\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _inline(text: str) -> str:
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(
        f"<code>{html.escape(part[1:-1])}</code>"
        if part.startswith("`") and len(part) > 1
        else re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", html.escape(part, quote=False))
        for part in parts
    )
