"""A report made fit for Qt's rich text: its body in the colors of a theme, no picture wider than the view."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nrsfm_gui.model.theme import Theme

BODY = re.compile(r"<body[^>]*>(.*)</body>", re.DOTALL | re.IGNORECASE)
LEFT_OUT = re.compile(r"<(style|script)\b.*?</\1>", re.DOTALL | re.IGNORECASE)
WIDTH = re.compile(r'(<img\b[^>]*?\bwidth=")(\d+)(")')
IMAGE = re.compile(r"<img\b[^>]*>")
SOURCE = re.compile(r'\bsrc="([^"]*)"')
WITHOUT_WIDTH = re.compile(r"<img\b(?![^>]*\bwidth=)")
# What Qt does not know, in terms of what it does.
REPLACED = (
    (re.compile(r"<figure>"), "<p>"),
    (re.compile(r"</figure>"), "</p>"),
    (re.compile(r"<figcaption>"), '<br><span class="soft">'),
    (re.compile(r"</figcaption>"), "</span>"),
    (re.compile(r"<caption>(.*?)</caption>", re.DOTALL), ""),
)
CAPTION = re.compile(r"<table>\s*<caption>(.*?)</caption>", re.DOTALL)


def page_for(text: str, width: int) -> str:
    """Return the HTML of a report with pictures of at most `width` pixels."""
    found = BODY.search(text)
    body = LEFT_OUT.sub("", found[1] if found else text)
    body = CAPTION.sub(r'<p class="soft">\1</p><table cellspacing="0" cellpadding="4">', body)
    body = body.replace("<table>", '<table cellspacing="0" cellpadding="4">')
    for pattern, other in REPLACED:
        body = pattern.sub(other, body)
    body = WIDTH.sub(lambda image: f"{image[1]}{min(int(image[2]), width)}{image[3]}", body)
    return WITHOUT_WIDTH.sub(f'<img width="{width}"', body)


def picture_widths(page: str) -> dict[str, int]:
    """Return the width of every picture of `page_for`, by its path."""
    found: dict[str, int] = {}
    for image in IMAGE.findall(page):
        source, width = SOURCE.search(image), WIDTH.search(image)
        if source and width:
            found[html.unescape(source[1])] = int(width[2])
    return found


def sheet(theme: Theme) -> str:
    """Return the style sheet of a report in a theme."""
    return f"""
        body {{ color: {theme.text}; }}
        h1 {{ font-size: 20pt; font-weight: 600; margin-top: 4px; }}
        h2 {{ font-size: 15pt; font-weight: 600; margin-top: 26px; }}
        h3 {{ font-size: 11pt; font-weight: 600; margin-top: 18px; }}
        a {{ color: {theme.accent}; text-decoration: none; }}
        code {{ font-family: monospace; background-color: {theme.raised}; }}
        pre {{ font-family: monospace; background-color: {theme.raised}; margin: 6px 0; }}
        table {{ margin: 6px 0 14px 0; border-collapse: collapse; }}
        th {{ font-weight: 600; padding: 3px 9px; border-bottom: 1px solid {theme.muted}; }}
        td {{ padding: 3px 9px; border-bottom: 1px solid {theme.border}; }}
        .soft {{ color: {theme.muted}; }}
        .note {{ background-color: {theme.raised}; }}
    """
