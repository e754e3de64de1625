"""The options that say every setting of a run: of `nrsfm solve`, and of the application where it starts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..cameras.intrinsics import from_four
from ..foundation.exceptions import InputError
from ..penalties.linear import ExplicitWeights
from ..reconstruction.settings import (
    DEFAULT_PRESETS,
    INTRINSICS_SOURCES,
    PRESETS,
    ROTATION_SOURCES,
    Settings,
    suited_penalty,
)
from .method_options import add_method_options, method_changes
from .penalty_options import add_penalty_options, numbers, penalty_from

if TYPE_CHECKING:
    import argparse

# The options that are fields of Settings under the same name, with the type of their value.
PLAIN = {
    "eta": float,
    "rotations": str,
    "rotation_rank": int,
    "starts": int,
    "seed": int,
    "tolerance": float,
    "max_iterations": int,
}


def add_settings_options(parser: argparse.ArgumentParser) -> None:
    """Add --preset and an option for everything that it says."""
    defaults = "; ".join(f"{preset} for {problem}" for problem, preset in DEFAULT_PRESETS.items())
    parser.add_argument("--preset", choices=list(PRESETS), help=f"default: {defaults}")
    add_method_options(parser)
    parser.add_argument("--rank", type=int, metavar="K", help=_default("rank", "number of basis shapes"))
    parser.add_argument("--eta", type=float, metavar="E", help=_default("eta", "pOSE weight, 0 < E <= 1"))
    add_penalty_options(parser)
    cameras = parser.add_argument_group("cameras")
    cameras.add_argument(
        "--rotations",
        metavar="SOURCE",
        help=_default("rotations", f"an npz file with R (F, 3, 3), or {_table(ROTATION_SOURCES)}"),
    )
    cameras.add_argument(
        "--rotation-rank",
        type=int,
        metavar="N",
        help=_default("rotation_rank", "rank that they are factored at"),
    )
    cameras.add_argument(
        "--intrinsics",
        metavar="SOURCE",
        help=_default("intrinsics", f"fx,fy,cx,cy, a file, or {_table(INTRINSICS_SOURCES)}"),
    )
    effort = parser.add_argument_group("effort")
    effort.add_argument(
        "--starts", type=int, metavar="N", help=_default("starts", "starting points searched")
    )
    effort.add_argument("--seed", type=int, metavar="N", help=_default("seed", "of the random starts"))
    effort.add_argument(
        "--tolerance",
        type=float,
        metavar="T",
        help=_default("tolerance", "predicted relative decrease to stop at"),
    )
    effort.add_argument(
        "--max-iterations", type=int, metavar="N", help=_default("max_iterations", "per phase")
    )


def settings_from(args: argparse.Namespace) -> Settings:
    """Return the settings that the options ask for.

    Raises
    ------
    InputError
        where a value is out of range, or an option does not belong to the penalty.
    """
    problem = args.problem or (PRESETS[args.preset].problem if args.preset else Settings().problem)
    base = PRESETS[args.preset or DEFAULT_PRESETS[problem]]
    changes: dict[str, Any] = {name: getattr(args, name) for name in PLAIN if getattr(args, name) is not None}
    changes |= method_changes(args, base)
    if args.rank is not None:
        changes["rank"] = args.rank
    if args.intrinsics is not None:
        changes["intrinsics"] = _intrinsics(args.intrinsics)
    method = changes.get("method", base.method)
    changes["penalty"] = penalty_from(args, suited_penalty(method, problem, base.penalty))
    if isinstance(changes["penalty"], ExplicitWeights):
        count = len(changes["penalty"].a)
        if changes.setdefault("rank", count) != count:
            raise InputError(f"--rank is {args.rank}, but --weights gives {count}; one per basis shape")
    return base.with_changes(**changes)


def _intrinsics(text: str) -> str | tuple[float, ...]:
    if text in INTRINSICS_SOURCES or Path(text).is_file():
        return text
    four = numbers(text)
    if len(four) != 4:
        raise InputError(
            f"--intrinsics is {text!r}; accepted are four numbers fx,fy,cx,cy, an existing file, "
            f"{', '.join(INTRINSICS_SOURCES)}"
        )
    from_four(np.array(four), f"--intrinsics {text}")
    return four


def _table(entries: dict[str, str]) -> str:
    return "; ".join(f"{name}: {meaning}" for name, meaning in entries.items())


def _default(name: str, meaning: str) -> str:
    """Append what a setting is in each preset; once where they agree."""
    values = {}
    for preset, settings in PRESETS.items():
        value = getattr(settings, name)
        values[preset] = "chosen by loss" if value is None else f"{value}"
    if len(set(values.values())) == 1:
        return f"{meaning} (default {next(iter(values.values()))})"
    return f"{meaning} ({', '.join(f'{preset} {value}' for preset, value in values.items())})"
