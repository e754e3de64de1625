"""Sweeps: many sequences under many settings, each run a line of a file that only grows."""

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
    "MEASURED_COLUMNS",
    "REDUCTIONS",
    "TABLES",
    "BestFirst",
    "Sweep",
    "SweepJob",
    "SweepPlan",
    "SweepReader",
    "SweepRun",
    "SweepSequence",
    "SweepTable",
    "distinct_values",
    "find_sequences",
    "is_sweep_folder",
    "measured_pace",
    "parse_seeds",
    "parse_shard",
    "parse_values",
    "plan_sweep",
    "read_sweep",
    "report_table",
    "tabulate",
    "write_plan",
    "write_tables",
]
