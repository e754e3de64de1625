"""A run's report as one HTML page with everything inside: no other file, no script, no network."""

from __future__ import annotations

import base64
import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nrsfm_gui.export.run_report import Rows, RunReport, Table

STYLE = """
:root { color-scheme: light; --ink: #1c2024; --muted: #5c6670; --line: #dfe3e8; --soft: #f5f7f9; }
* { box-sizing: border-box; }
body { margin: 0; background: #eef0f3; color: var(--ink);
  font: 14px/1.45 system-ui, "DejaVu Sans", sans-serif; }
main { max-width: 1040px; margin: 24px auto; padding: 32px 40px; background: #fff; border-radius: 8px; }
header { display: flex; justify-content: space-between; align-items: baseline; gap: 24px; }
h1 { font-size: 24px; margin: 0; }
h2 { font-size: 14px; margin: 0 0 8px; font-weight: 600; }
.muted { color: var(--muted); }
.tiles { display: grid; grid-template-columns: repeat(4, 1fr); gap: 12px; margin: 20px 0 24px; }
.tile { background: var(--soft); border-radius: 6px; padding: 12px 14px; }
.tile b { display: block; font-size: 21px; font-weight: 600; white-space: nowrap; }
.two { display: grid; grid-template-columns: 1fr 1fr; gap: 24px 32px; margin-bottom: 24px; }
.three { display: grid; grid-template-columns: 1fr 1fr 1fr; gap: 24px; margin-bottom: 24px; }
.two > *, .three > * { min-width: 0; }
.remark { margin: -8px 0 20px; padding: 8px 12px; border-left: 4px solid #c4560f; background: var(--soft); }
.wide { margin-bottom: 24px; }
svg, img { width: 100%; height: auto; display: block; }
img { border: 1px solid var(--line); border-radius: 4px; }
table { border-collapse: collapse; width: 100%; font-size: 13px; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 500; color: var(--muted); }
td, th { padding: 3px 12px 3px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td { overflow-wrap: anywhere; }
table.pairs th { width: 42%; font-weight: 400; }
pre { background: var(--soft); border-radius: 6px; padding: 10px 12px; margin: 0 0 12px; font-size: 12.5px;
  white-space: pre-wrap; overflow-wrap: anywhere; }
footer { border-top: 1px solid var(--line); padding-top: 10px; font-size: 12px; }
@media (max-width: 760px) {
  .two, .three { grid-template-columns: 1fr; }
  .tiles { grid-template-columns: 1fr 1fr; }
}
@media print { body { background: #fff; } main { margin: 0; padding: 0; max-width: none; } }
@page { size: A4; margin: 12mm; }
"""


def html_report(report: RunReport) -> str:
    """Return the page."""
    picture = base64.b64encode(report.picture).decode("ascii")
    escaped = {name: html.escape(str(getattr(report, name))) for name in ("title", "subtitle", "date")}
    tiles = "".join(
        f'<div class="tile"><b>{html.escape(value)}</b>'
        f'<span class="muted">{html.escape(meaning)}</span></div>'
        for value, meaning in report.tiles
    )
    remarks = "".join(f'<p class="remark">{html.escape(remark)}</p>' for remark in report.remarks)
    return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escaped["title"]}</title><style>{STYLE}</style></head>
<body><main>
<header><div><h1>{escaped["title"]}</h1><div class="muted">{escaped["subtitle"]}</div></div>
<div class="muted">{escaped["date"]}</div></header>
<div class="tiles">{tiles}</div>
{remarks}
<div class="two">
{_figure(report.picture_title, f'<img alt="3-D view" src="data:image/png;base64,{picture}">')}
{_figure(report.errors_title, report.errors)}
{_figure("Loss", report.loss)}
{_figure("Singular values and their weights", report.spectrum)}
</div>
<section class="wide"><h2>{html.escape(report.worst_title)}</h2>{_table(report.worst)}</section>
<div class="three">
<section><h2>Numbers</h2>{_pairs(report.numbers)}</section>
<section><h2>Settings</h2>{_pairs(report.settings)}</section>
<section><h2>Sequence</h2>{_pairs(report.facts)}</section>
</div>
<h2>How to make it again</h2>
<pre>{html.escape(report.command)}</pre>
<pre>{html.escape(report.python)}</pre>
<footer class="muted">{html.escape(report.versions)}</footer>
</main></body></html>
"""


def _figure(title: str, drawing: str) -> str:
    return f"<section><h2>{html.escape(title)}</h2>{drawing}</section>"


def _pairs(rows: Rows) -> str:
    lines = (f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>" for name, value in rows)
    return f'<table class="pairs">{"".join(lines)}</table>'


def _table(table: Table) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in table.headings)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"
