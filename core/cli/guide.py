"""`nrsfm guide`: which value of a parameter predicts best what was not used; no ground truth is needed."""

from __future__ import annotations

import argparse
import math
import sys
from functools import partial
from typing import Any

from ..data.sequence import Sequence
from ..evaluation import parameter_grid
from ..evaluation.cross_validation import FOLDS, HIDING, SHARE, HoldoutPlan, HoldoutTrial, gather_curve, sweep
from ..reconstruction import Iterate, Settings
from ..reconstruction.reconstruct import iterate_sequence
from . import options
from .command_line import CheckedParser, check_stopped, declare, explained
from .console import ProgressLine, as_json, print_lines, progress_text


def add_arguments(parser: CheckedParser) -> None:
    """Add the description and the arguments of `guide SEQUENCE`."""
    parser.description = (
        "Reconstruct a sequence, hide some of its observations, solve for a series of values of one "
        "parameter, and print how well what was hidden is predicted. Without --preset and --objective the "
        "parameter and the other options choose the objective. That of the depths is minimized in every "
        "solve, from the bilinear solution alone."
    )
    parser.shorten_help("SEQUENCE", (*options.FREQUENT, "over", "values", "hiding", "folds", "json", "quiet"))
    options.add_sequence_options(parser)
    options.add_settings_options(parser)
    declare(
        parser,
        f"""
        [guidance]
        --over NAME: the parameter: of the depths isometry, smallest_movement, noise, neighbors; of the
            weighted nuclear norm xi or mu of the penalty, scale of explicit weights, rank, eta; or objective
            (default: the first one of the objective)
        --values A,B,...: the values; of objective depths,wnn (default: a series around the present one)
        --hiding: {explained(HIDING)} (default %(default)s)
        --share Q: share that is hidden (default %(default)s)
        --folds N: how many times (default %(default)s)
        --json: print one JSON object instead of a table
        --quiet: print no progress
        """,
        over=str,
        values=str,
        hiding={"choices": list(HIDING), "default": "tracks"},
        share=SHARE,
        folds=FOLDS,
    )


def run(args: argparse.Namespace) -> None:
    """Reconstruct, solve the series, and print the table with what it recommends, also of a part of it."""
    if args.over is not None and args.preset is args.objective is None:
        args.objective = parameter_grid.objective_to_vary(args.over, options.given_options(args))
    (sequence, _files), settings = options.chosen_sequence(args), options.settings_from(args)
    values = args.values.split(",") if args.values else None
    hidden = {"share": args.share, "folds": args.folds, "hiding": args.hiding}
    plan = HoldoutPlan.of(sequence, settings, args.over, values, **hidden)
    trials: list[HoldoutTrial] = []
    try:
        with ProgressLine(sys.stderr, shown=not args.quiet) as line:
            _solve(sequence, settings, plan, line, trials)
    finally:
        if trials:
            figures = _figures(trials, plan, sequence)
            print_lines(*([as_json(figures)] if args.json else _lines(figures)))


def _solve(
    sequence: Sequence, settings: Settings, plan: HoldoutPlan, line: ProgressLine, trials: list[HoldoutTrial]
) -> None:
    start: Iterate | None = None
    for start in iterate_sequence(sequence, settings.with_changes(objective="wnn")):
        line.show(partial(progress_text, start))
        check_stopped()
    assert start is not None  # a run yields at least where it begins
    for trial in sweep(sequence, start, settings, plan):
        trials.append(trial)
        check_stopped()
        left = trial.seconds / trial.done * (trial.count - trial.done)
        line.write(f"{trial.done} of {trial.count} solves  ETA {left:.0f} s")


def _figures(trials: list[HoldoutTrial], plan: HoldoutPlan, sequence: Sequence) -> dict[str, Any]:
    found = gather_curve(trials, plan.parameter)
    columns = {
        "hidden_rms": found.held,
        "standard_error": found.deviation,
        "hidden_median": found.median,
        "used_rms": found.kept,
    }
    rows = [
        {
            "value": _printed(plan.parameter, value),
            **{key: None if math.isnan(column[k]) else float(column[k]) for key, column in columns.items()},
        }
        for k, value in enumerate(found.values)
    ]
    return {
        "sequence": sequence.name,
        "units": sequence.units,
        **{name: getattr(plan, name) for name in ("parameter", "hiding", "share", "folds")},
        "solves": trials[-1].done,
        "planned_solves": trials[-1].count,
        "rows": rows,
        "best": _printed(plan.parameter, found.values[found.best]),
        "as_good": [_printed(plan.parameter, value) for value in found.close],
    }


def _printed(parameter: str, value: float) -> float | str:
    """Return a value as JSON has it: a number, or the word that a number stands for."""
    return (
        parameter_grid.value_text(parameter, value) if parameter == parameter_grid.OBJECTIVE else float(value)
    )


def _lines(figures: dict[str, Any]) -> list[str]:
    name, unit = figures["parameter"], figures["units"]
    lines = [f"{name:>10}  {'hidden ' + unit:>12}  {'+-':>8}  {'median':>8}  {'used ' + unit:>10}"]
    for row in figures["rows"]:
        error = "" if row["standard_error"] is None else f"{row['standard_error']:.3f}"
        mark = "  <- best" if row["value"] == figures["best"] else ""
        lines.append(
            f"{_text(row['value']):>10}  {row['hidden_rms']:>12.3f}  {error:>8}  "
            f"{row['hidden_median']:>8.3f}  {row['used_rms']:>10.3f}{mark}"
        )
    low, high = figures["as_good"]
    if low != high:
        lines.append(f"{name} from {_text(low)} to {_text(high)} is as good within one standard error")
    done, count = figures["solves"], figures["planned_solves"]
    if done < count:
        lines.append(f"{done} of {count} solves were done")
    return lines


def _text(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"
