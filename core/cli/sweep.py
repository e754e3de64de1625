"""`nrsfm sweep`: many sequences under many settings, on one machine or on many; tables of what they gave."""

from __future__ import annotations

import argparse
import itertools
import math
import os
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from ..experiments import jobs
from ..experiments.job_store import RESULTS, JobStore
from ..experiments.report import check_installed, render_latex, render_markdown
from ..experiments.sweep.filter import filtered
from ..experiments.sweep.frame import TABLES, report_table, tabulate, write_tables
from ..experiments.sweep.rows import is_sweep_folder, read_sweep, write_plan
from ..experiments.sweep.runs import BestFirst, SweepJob, SweepPlan, find_sequences, measured_pace, plan_sweep
from ..foundation import InputError, check_replaceable, make_folder, protecting
from ..foundation.processes import processor_count
from ..io.readers import recording_files
from ..reconstruction.settings import Settings
from . import options
from .command_line import INTERRUPTED, CheckedParser, declare, explained
from .console import ProgressLine, duration_text, jobs_progress_text, print_lines

ORDERS = {
    "longest-first": "runs that are expected to be long begin",
    "best-first": "of the runs that are left, the one whose settings had the least errors so far is next",
}
BACKENDS = ("processes", "dask")
MOST_RUNS = 10_000_000
PACE_RUNS = 200  # that have ended, from which the time of the others is estimated
DESCRIPTION = """\
Reconstruct sequences under every combination of settings. Each run that ends is a line of DIR/runs.jsonl, and
its result is in DIR/results; the same command continues where a sweep was stopped, and DIR/table.csv has all
runs at the end. With --table in place of -o, print the mean of a number over the runs of a sweep.
"""
ON_MANY_MACHINES = """\
on many machines, which see DATA and DIR under the same names:
  Dask    dask scheduler --port 8786, and on each machine: dask worker HOST:8786 --nthreads 1 --nworkers 8
          nrsfm sweep DATA --set rank=2,4,6 --seeds 0:5 --backend dask --scheduler HOST:8786 -o DIR
  SLURM   the same with --scheduler-file FILE.json in place of the port and of HOST:8786, the workers an array
"""
MOST_VALUES = 100_000  # of one name
_PART = re.compile(r"\[[^\[\]]*\]|[^,\[\]]+")  # one value: in brackets with commas, else without
ACCEPTED_VALUES = "A,B,... , log:FIRST:LAST:COUNT, lin:FIRST:LAST:COUNT, and [A,B] for a value with commas"


def add_arguments(parser: CheckedParser) -> None:
    """Add the description and the arguments of `sweep DATA -o DIR`."""
    parser.description, parser.epilog = DESCRIPTION, ON_MANY_MACHINES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter  # keeps the lines of both
    own = ("data", "output", "object", "set", "seeds", "jobs", "backend", "scheduler", "table", "by")
    parser.shorten_help("DATA [DATA ...] -o DIR", (*options.FREQUENT, *own, "camera", "where"))
    tables = declare(
        parser,
        f"""
        DATA: folders or files of sequences, sample: for the bundled ones; with --table alone, the folder of a
            sweep
        -o --output DIR: the folder of the sweep
        [what is varied]
        --object A,B: objects (default: all of the data)
        --camera A,B: perspective, orthogonal (default: all of the data)
        --path A,B: camera paths (default: all of the data)
        --set NAME=VALUES: an option of a setting (--help-all has all) and its values: A,B,... ,
            log:FIRST:LAST:COUNT, lin:FIRST:LAST:COUNT, [A,B] for a value with commas; all combinations are
            run, a number that a penalty or method does not have left out
        --seeds FIRST:END: seeds, END not among them: 0:5 are 0 to 4
        [how it is run]
        --jobs N: processes at a time (default: one per processor)
        --timeout SECONDS: end a run that takes longer
        --retry: run again what failed, died or was ended by --timeout
        --run-order: {explained(ORDERS)} (default %(default)s)
        --no-results: keep the numbers of the runs only
        --backend: default %(default)s
        --scheduler ADDRESS: of Dask: HOST:PORT, or its JSON file
        [tables]
        --table NUMBER: print the mean of a number: procrustes_mm (or mean_mm), loss, iterations, seconds, ...
        --by A,B: settings: the last over the columns, the others down the rows
        --where FILTER: only of some runs, as the filter of the window: "rank=2,4 eta>0.05 converged"
        """,
        data={"nargs": "+"},
        output=Path,
        set={"nargs": "+", "action": "extend", "default": []},
        jobs=int,
        timeout=float,
        retry=["failed"],
        run_order={"choices": list(ORDERS), "default": "longest-first"},
        backend={"choices": BACKENDS, "default": "processes"},
    )
    forms = tables.add_mutually_exclusive_group()
    declare(forms, "--markdown: as Markdown (the default)\n--latex: as LaTeX")
    options.add_frame_base(parser)
    options.add_reading_options(parser, without=("camera",))
    options.add_settings_options(parser)


def run(args: argparse.Namespace) -> int:
    """Compute what is not yet there, or print a table, or both."""
    _check(args)
    code = 0 if args.output is None else _sweep(args)
    if args.table is not None and code == 0:
        sweep = read_sweep(Path(args.data[0]) if args.output is None else args.output)
        if args.where is not None:
            sweep = filtered(sweep, args.where)
        table = report_table(tabulate(sweep, args.table, args.by.split(",")), args.where or "")
        print(render_latex(table) if args.latex else render_markdown([table]).rstrip())
    return code


def _check(args: argparse.Namespace) -> None:
    if args.output is None and args.table is None:
        raise InputError("give -o DIR to run a sweep, or --table NUMBER --by A,B to print a table of one")
    if args.table is not None and not args.by:
        raise InputError("--table needs --by A,B, the settings that the table distinguishes")
    if args.table is None:
        for name in ("by", "where", "markdown", "latex"):
            if getattr(args, name):
                raise InputError(f"--{name} has no effect without --table")
    if args.output is None and len(args.data) > 1:
        raise InputError("--table is of one sweep; give its folder alone")
    if args.jobs is not None and args.jobs < 1:
        raise InputError(f"--jobs is {args.jobs}; accepted is a whole number of at least 1")
    if args.timeout is not None and not 0 < args.timeout < float("inf"):
        raise InputError(f"--timeout is {args.timeout:g}; accepted is a number of seconds above 0")
    dask = args.backend == "dask"
    if dask != (args.scheduler is not None):
        raise InputError("--backend dask and --scheduler ADDRESS are given together, or none of them")
    if dask and args.jobs is not None:
        raise InputError("--jobs has no effect with --backend dask; workers of the scheduler run the jobs")


def _sweep(args: argparse.Namespace) -> int:
    """Run a sweep, which writes over none of its data."""
    check_installed("jinja2", "pandas")
    for name in args.data:
        if is_sweep_folder(Path(name)):
            other = "--table without -o prints a table of it, and the command that began it continues it"
            raise InputError(f"{name}: is the folder of a sweep; {other}")
    with recording_files() as files:
        plan = plan_from(args)
    data = [*args.data, *{os.path.dirname(job.sequence.source) for job in plan.jobs}]
    if args.output.resolve() in [Path(name).resolve() for name in data]:
        raise InputError(f"-o {args.output} holds the data; name another folder")
    files = [file for file in files if not is_sweep_folder(file.parent)]  # a sweep below the data goes on
    with protecting(dict.fromkeys(files, "a file of the data")):
        check_replaceable(args.output / name for name in TABLES)
        return _run_plan(plan, args)


def _run_plan(plan: SweepPlan, args: argparse.Namespace) -> int:
    """Run what has not ended of a plan, write the tables, and print what there is."""
    make_folder(args.output)
    if not args.no_results:
        make_folder(args.output / RESULTS)
    with JobStore(args.output) as store, ExitStack() as at_end:
        cluster = at_end.enter_context(jobs.connect_to_dask(args.scheduler)) if args.scheduler else None
        processes, ahead = args.jobs or processor_count(), 0
        if cluster is not None and args.run_order != "best-first":  # which waits for what is known by then
            ahead = max(jobs.IN_FLIGHT, 2 * cluster.threads)
        write_plan(args.output, len({job.key for job in plan.jobs} | store.keys), plan.swept)
        for text in _plan_lines(plan, store, args, cluster or processes):
            print(text, flush=True)

        def show(now: jobs.JobsProgress) -> None:
            workers = "" if cluster is None else f"{_workers_text(cluster)}  "
            line.write(workers + jobs_progress_text(now))

        try:
            with ProgressLine(sys.stderr) as line:
                jobs.run_jobs(
                    plan.jobs,
                    store,
                    processes=processes,
                    cluster=cluster,
                    timeout=args.timeout,
                    retry=args.retry is not None,
                    queue=lambda waiting: _queue(waiting, plan, store, args.run_order),
                    ahead=ahead,
                    progress=show,
                )
        except KeyboardInterrupt:
            print_lines(f"nrsfm sweep: stopped; {_kept(plan, store, args)}", stream=sys.stderr)
            return INTERRUPTED
        except InputError as error:
            gone = cluster is not None and not cluster.connected
            reason = f"the scheduler {args.scheduler} has ended" if gone else str(error)
            raise InputError(f"{reason}; {_kept(plan, store, args)}") from error
        lost = sum(not store.has_result(job.key) for job in plan.jobs)
    sweep = read_sweep(args.output)
    written = ", ".join(map(str, write_tables(sweep)))
    again = f"; {lost} without a result (--retry failed runs them again)" if lost else ""
    print_lines(f"{len(plan.jobs)} runs have ended{again}; all {len(sweep)} of the folder are in {written}")
    return 0


def _kept(plan: SweepPlan, store: JobStore, args: argparse.Namespace) -> str:
    ended = sum(job.key in store for job in plan.jobs)
    kept = f"{ended} of {len(plan.jobs)} runs are kept in {args.output}"
    return f"{kept}, and the same command continues from there"


def plan_from(args: argparse.Namespace) -> SweepPlan:
    """Return the runs that the options ask for. Raises InputError where one is refused."""
    settings = list(dict.fromkeys(_combinations(args)))
    cameras = _names(args.camera)
    reading = options.reading_from(args) | ({"camera": cameras[0]} if len(cameras) == 1 else {})
    sequences = find_sequences(
        args.data, objects=_names(args.object), cameras=cameras, paths=_names(args.path), reading=reading
    )
    return plan_sweep(sequences, settings, None if args.no_results else args.output)


def _names(text: str | None) -> list[str]:
    return [] if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _combinations(args: argparse.Namespace) -> Iterator[Settings]:
    """Yield the settings of every combination of the values of --set and --seeds."""
    varied: dict[str, list[tuple[str, Any]]] = {}
    for text in args.set:
        name, values = _varied(text, args)
        if name in varied:
            raise InputError(f"--set has {name} twice; accepted is each name once, such as {name}=A,B")
        varied[name] = values
    if args.seeds is not None:
        if "seed" in varied or args.seed is not None:
            raise InputError("--seeds is given together with --seed, or with --set seed=...; accepted is one")
        varied["seed"] = [("seed", int(seed)) for seed in parse_seeds(args.seeds)]
    count = math.prod(map(len, varied.values()))
    if count > MOST_RUNS:
        raise InputError(f"--set and --seeds give {count} combinations; accepted are {MOST_RUNS}")
    names = [values[0][0] for values in varied.values()]
    for chosen in itertools.product(*varied.values()):
        given = argparse.Namespace(**vars(args) | dict(chosen))
        yield options.settings_from(options.drop_foreign_options(given, names))


def _varied(text: str, args: argparse.Namespace) -> tuple[str, list[tuple[str, Any]]]:
    """Return the name in NAME=VALUES, and each value with the attribute of the parsed options that it is."""
    name, equals, listed = text.partition("=")
    name = name.strip().replace("-", "_")
    if not equals or not name:
        raise InputError(f"--set has {text!r}; accepted are NAME=VALUES, such as rank=2,4,6")
    parser = options.RefusingParser("--set", "NAME=VALUES with the options of settings")
    options.add_settings_options(parser)
    empty = vars(parser.parse_args([]))
    values: list[tuple[str, Any]] = []
    flag = options.option_flag(name)
    for value in parse_values(listed, whole=options.is_whole_option(name)):
        parsed = vars(parser.parse_args([f"{flag}={value}"]))
        values += [(attribute, given) for attribute, given in parsed.items() if given != empty[attribute]]
    for attribute in {attribute for attribute, _ in values}:
        if getattr(args, attribute) is not None:
            raise InputError(f"{flag} is given together with --set {name}=...; accepted is one")
    return name, values


def _plan_lines(
    plan: SweepPlan, store: JobStore, args: argparse.Namespace, workers: jobs.Cluster | int
) -> list[str]:
    """Return what is going to be run, and about how long it takes."""
    waiting = [job for job in plan.jobs if not store.is_done(job.key, retry=args.retry is not None)]
    done = [job for job in plan.jobs if store.has_result(job.key)]
    rows = ((job, store.load_row(job.key)) for job in done[-PACE_RUNS:])
    pace = measured_pace((job, row["seconds"]) for job, row in rows if row is not None)
    count = workers if isinstance(workers, int) else workers.threads
    sequences = len({job.sequence for job in plan.jobs})
    text = f"{len(plan.jobs)} runs of {sequences} sequence{'s' if sequences != 1 else ''}"
    ended = len(plan.jobs) - len(waiting)
    if ended:
        lost = sum(job.key in store for job in plan.jobs) - len(done)
        again = f" ({lost} without a result)" if lost and args.retry is None else ""
        text += f"; {ended} have ended{again}, {len(waiting)} are left"
    if waiting:
        where = f"{count} process{'es' if count != 1 else ''}"
        if not isinstance(workers, int):
            where = f"{_workers_text(workers)} that run {count} at a time"
        costs = [job.cost for job in waiting]
        text += f"; about {duration_text(max(pace * max(sum(costs) / count, max(costs)), 1.0))} with {where}"
    minimized = sorted({options.objective_phrase(job.settings) for job in plan.jobs})
    return [text, *minimized, *(f"{number} runs are left out: {reason}" for reason, number in plan.refused)]


def _workers_text(cluster: jobs.Cluster) -> str:
    return f"{cluster.workers} worker{'s' if cluster.workers != 1 else ''}"


def _queue(waiting: list[jobs.ExperimentJob], plan: SweepPlan, store: JobStore, order: str) -> jobs.JobQueue:
    if order == "longest-first":
        return jobs.JobQueue(waiting)
    ended: list[tuple[SweepJob, dict[str, Any]]] = []
    for job in plan.jobs:
        row = store.load_row(job.key) if store.has_result(job.key) else None
        if row is not None:
            ended.append((job, row["metrics"]))
    return BestFirst(waiting, ended)


def parse_values(text: str, *, whole: bool = False) -> tuple[str, ...]:
    """Return the values that a text lists, each as an option of the command line accepts it.

    >>> parse_values("[1,2],[3,4]"), parse_values("log:2:32:5", whole=True)
    (('1,2', '3,4'), ('2', '4', '8', '16', '32'))
    """
    parts = _PART.findall(text)
    if not parts or ",".join(parts) != text:
        raise InputError(f"{text!r} lists no values; accepted are {ACCEPTED_VALUES}")
    values: list[str] = []
    for part in parts:
        if part.startswith("["):
            values.append(part[1:-1].strip())
        elif part.startswith(("log:", "lin:")):
            values += _range(part, whole=whole)
        else:
            values.append(part.strip())
    if not all(values):
        raise InputError(f"{text!r} has an empty value; accepted are {ACCEPTED_VALUES}")
    return tuple(dict.fromkeys(values))


def _range(text: str, *, whole: bool) -> list[str]:
    kind, *numbers = text.split(":")
    try:
        first, last, count = (parse(part) for parse, part in zip((float, float, int), numbers, strict=True))
    except ValueError:  # also of another number of parts
        count = 0
    if not 2 <= count <= MOST_VALUES or not np.isfinite([first, last]).all():
        raise InputError(
            f"{text!r} is no range; accepted are log:FIRST:LAST:COUNT and lin:FIRST:LAST:COUNT, with 2 to "
            f"{MOST_VALUES} values"
        )
    if kind == "log" and not (first > 0 and last > 0):
        raise InputError(f"{text!r} begins or ends at 0 or below; a range of ratios is above 0")
    spaced = np.geomspace if kind == "log" else np.linspace
    values = spaced(first, last, count)
    return [f"{value:.0f}" if whole else f"{value:.6g}" for value in values]


def parse_seeds(text: str) -> tuple[str, ...]:
    """Return the seeds that a text names: "0:5" are 0 to 4, "1,7" those two."""
    found = re.fullmatch(r"(\d{1,9}):(\d{1,9})", text)
    if found is not None:
        seeds = range(int(found[1]), int(found[2]))
    elif re.fullmatch(r"\d{1,9}(,\d{1,9})*", text):
        return tuple(dict.fromkeys(str(int(seed)) for seed in text.split(",")))
    if found is None or not 0 < len(seeds) <= MOST_VALUES:
        raise InputError(
            f"--seeds is {text!r}; accepted are FIRST:END, such as 0:5 for 0 to 4, or seeds with commas "
            "between them"
        )
    return tuple(str(seed) for seed in seeds)
