"""The help texts: of every panel, by the title of its dock, and the page on the method. No Qt.

They are in `assets/help`: `panels.toml` and `method.html`, whose pictures `tests/benchmarks/help_pictures.py`
makes.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from string import Template

from core.foundation import InputError, help_page
from nrsfm_gui.model.theme import Theme

CODE = re.compile(r"^```\w*\n(?P<code>.*?)^```\n", re.MULTILINE | re.DOTALL)
SCENE = "3-D view"
TIMELINE = "Timeline"
BIBTEX = re.compile('<pre class="muted">(.*?)</pre>', re.DOTALL)  # in the page on the method


def with_copy_links(page: str, scheme: str) -> tuple[str, tuple[str, ...]]:
    """Return a page in Markdown with a link "scheme:N" after its Nth block of code, and the blocks."""
    blocks: list[str] = []

    def linked(found: re.Match[str]) -> str:
        blocks.append(found["code"])
        return f"{found[0]}\n[Copy these lines]({scheme}:{len(blocks) - 1})\n"

    return CODE.sub(linked, page), tuple(blocks)


@cache
def panel_texts() -> dict[str, str]:
    """Return what every panel shows, by the title of its dock; nothing where the pages are not installed."""
    try:
        return tomllib.loads(help_page("panels.toml"))
    except InputError:
        return {}


def panel_help(title: str) -> str:
    """Return the help text of a panel, as rich text that ends in a link to the help page."""
    text = panel_texts().get(title, "")
    return f"<b>{title}</b><p>{text}</p><p><a href='help'>The method on one page (F3)</a></p>" if text else ""


def method_page(theme: Theme) -> str:
    """Return the page in the colors of a theme. Raises InputError where it is not installed."""
    colors = {name: value for name, value in vars(theme).items() if isinstance(value, str)}
    return Template(help_page("method.html")).substitute(colors)


def citations_of(page: str) -> str:
    """Return the citations of the page on the method, in BibTeX."""
    return "".join(BIBTEX.findall(page))
