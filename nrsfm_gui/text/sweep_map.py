"""A number of the runs of a sweep over two settings: what a heat map shows, and its words."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from core.experiments.sweep.frame import NUMBERS, SweepTable, report_table, tabulate
from core.foundation import Bools, Floats, Ints
from nrsfm_gui.text.sweep_rows import (
    SweepRows,
    number_format,
    number_heading,
    number_text,
    setting_text,
    setting_texts,
)
from nrsfm_gui.text.table_text import TABS, rendered, shortened, tabbed_text

REDUCTIONS = {
    "mean": "Mean over the runs of a cell",
    "median": "Median over the runs of a cell",
    "least": "Least number of the runs of a cell: the best of them",
    "most": "Largest number of the runs of a cell",
}
SEED = "seed"  # no setting whose influence is of interest by itself


@dataclass(frozen=True, eq=False)
class SweepMap:
    """A number over two settings; R rows, C columns."""

    rows_of: SweepRows
    table: SweepTable
    title: str
    note: str  # how many runs a cell has, and how many have no number
    members: dict[tuple[int, int], Ints]  # the runs of every cell that has any
    numbers: Floats  # (runs,) the number of every run
    heading: str  # the number with its unit
    across: str  # the setting over the columns
    down: str  # that down the rows, "" where there is none
    columns: tuple[str, ...]  # (C,) the values of the setting over the columns
    rows: tuple[str, ...]  # (R,) of that down the rows

    @property
    def values(self) -> Floats:
        """(R, C) NaN where no run has the number."""
        return self.table.value

    @property
    def texts(self) -> list[list[str]]:
        """(R, C) the values as text, all with the same decimals."""
        _, unit, _ = NUMBERS.get(self.table.number, ("", "", ""))
        spec = number_format(self.values, unit)
        return [[number_text(value, spec) for value in line] for line in self.values]

    @property
    def best(self) -> int:
        """The run with the least number, -1 where none has it."""
        return self._least(np.concatenate(list(self.members.values())), -1)

    @property
    def cells(self) -> Bools:
        """(R, C) whether there is any run."""
        return np.asarray(self.table.counts + self.table.failed > 0)

    def best_run(self, row: int, column: int) -> int:
        """Return the run of a cell with the least number, the first one where none has it."""
        runs = self.members[row, column]
        return self._least(runs, int(runs[0]))

    def _least(self, runs: Ints, otherwise: int) -> int:
        numbers = self.numbers[runs]
        return int(runs[np.nanargmin(numbers)]) if np.isfinite(numbers).any() else otherwise

    def cell_of(self, run: int) -> tuple[int, int] | None:
        """Return the cell of a run, None where it has none."""
        return next((cell for cell, runs in self.members.items() if run in runs), None)

    def tip(self, row: int, column: int) -> str:
        """Return the runs of a cell in words."""
        table, runs = self.table, self.members[row, column]
        places = zip(table.by, (*table.rows[row], table.columns[column]), strict=True)
        lines = [", ".join(f"{shortened(name)} {setting_text(value)}" for name, value in places)]
        count = int(table.counts[row, column])
        if count == 1:
            lines.append(f"{self.heading}: {number_text(self.values[row, column])}, one run")
        elif count:
            known = self.numbers[runs][np.isfinite(self.numbers[runs])]
            lines.append(
                f"{self.heading}: {table.reduction} {number_text(self.values[row, column])} of {count} runs, "
                f"{number_text(known.min())} to {number_text(known.max())}"
            )
        if self.best in runs:
            lines.append("has the least number of all runs that are shown")
        if table.failed[row, column]:
            lines.append(f"without a result: {table.failed[row, column]}")
        lines.append(f"Click: {self.rows_of.run_title(self.best_run(row, column))}")
        return "\n".join(lines)


def map_text(state: SweepMap, form: str) -> str:
    """Return a map as a table in a text."""
    table = state.table
    report = report_table(table)
    if form != TABS:
        return rendered(replace(report, caption=" · ".join(filter(None, (state.title, state.note)))), form)
    lines = [
        [*labels, *(value if np.isfinite(value) else None for value in values)]
        for labels, values in zip(table.rows, table.value.tolist(), strict=True)
    ]
    return tabbed_text([report.header, *lines])


def default_settings(rows: SweepRows) -> tuple[str, str]:
    """Return the settings over the columns and down the rows that are shown first, "" where there is none."""
    varied = rows.sweep.varied
    settings = [name for name in varied if name in rows.sweep.settings and name != SEED]
    names = [*settings, *(name for name in varied if name not in settings), ""]
    return (names[1], names[0]) if len(names) > 2 else (names[0], "")


def build_map(
    rows: SweepRows, kept: Bools, number: str, across: str, down: str, reduction: str
) -> SweepMap | None:
    """Return a number over two settings, of the runs (R,) that are kept; None where there is none."""
    runs = np.flatnonzero(kept)
    if not len(runs) or not across:
        return None
    part = replace(rows.sweep, runs=rows.sweep.runs.iloc[runs].reset_index(drop=True))
    by = (down, across) if down and down != across else (across,)
    table = tabulate(part, number, by, reduction=reduction)
    column = rows.column(number)
    assert column is not None  # every number of a sweep is a column
    rest = [
        shortened(each.name)
        for each in rows.columns
        if each.name in rows.sweep.varied and each.name not in by and _several(each.codes, runs)
    ]
    counts, lost = table.counts[table.counts > 0], int(table.failed.sum())
    title = heading = number_heading(number)
    notes = [f"{lost} failed"] if lost else []
    objects = part.runs["object"].unique()
    if len(objects) == 1 and "object" not in by:
        title += f", {setting_text(*objects)}"
    if counts.size and counts.max() > 1:
        few = f"{counts.min()} to " if counts.min() < counts.max() else ""
        title += f", {reduction} over {_listed(rest) or 'repetitions'}"
        notes.insert(0, f"{few}{counts.max()} runs a cell")
    order = np.argsort(table.cells, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(table.cells[order])) + 1)
    width = len(table.columns)
    two = len(by) > 1
    return SweepMap(
        rows,
        table,
        title,
        " · ".join(notes),
        heading=heading,
        numbers=column.numbers,
        members={divmod(int(table.cells[group[0]]), width): runs[group] for group in groups},
        across=shortened(by[-1]),
        down=shortened(by[0]) if two else "",
        columns=setting_texts(table.columns),
        rows=setting_texts([labels[0] for labels in table.rows]) if two else ("",),
    )


def _several(codes: Ints | None, runs: Ints) -> bool:
    """Return whether runs have more than one value of a setting."""
    return codes is not None and bool((codes[runs] != codes[runs[0]]).any())


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
