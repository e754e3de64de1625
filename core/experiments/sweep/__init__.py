"""Sweeps: many sequences under many settings, each run a line of a file that only grows."""

from .columns import (
    FAILURE,
    FIRST_NUMBERS,
    NUMBERS,
    STATUS,
    RunColumn,
    cell_text,
    number_names,
    run_columns,
    shown_value,
)
from .filter import apply_filter, filtered, find_column
from .grid import parse_seeds, parse_shard, parse_values
from .order import BestFirst
from .rows import (
    MEASURED_COLUMNS,
    Sweep,
    SweepReader,
    SweepRun,
    distinct_values,
    is_sweep_folder,
    read_sweep,
    write_plan,
)
from .runs import (
    SweepJob,
    SweepPlan,
    SweepSequence,
    find_sequences,
    measured_pace,
    plan_sweep,
)
from .tables import REDUCTIONS, TABLES, SweepTable, report_table, tabulate, write_tables

__all__ = [
    "FAILURE",
    "FIRST_NUMBERS",
    "MEASURED_COLUMNS",
    "NUMBERS",
    "REDUCTIONS",
    "STATUS",
    "TABLES",
    "BestFirst",
    "RunColumn",
    "Sweep",
    "SweepJob",
    "SweepPlan",
    "SweepReader",
    "SweepRun",
    "SweepSequence",
    "SweepTable",
    "apply_filter",
    "cell_text",
    "distinct_values",
    "filtered",
    "find_column",
    "find_sequences",
    "is_sweep_folder",
    "measured_pace",
    "number_names",
    "parse_seeds",
    "parse_shard",
    "parse_values",
    "plan_sweep",
    "read_sweep",
    "report_table",
    "run_columns",
    "shown_value",
    "tabulate",
    "write_plan",
    "write_tables",
]
