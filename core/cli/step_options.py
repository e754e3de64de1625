"""The options of `nrsfm solve` that steer: how long it solves, from where, and under which settings then."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import NoReturn

from ..foundation.exceptions import InputError
from ..reconstruction.provenance import SolveStep
from .settings_options import add_settings_options, settings_from


def add_step_options(parser: argparse.ArgumentParser) -> None:
    """Add --updates, --then and --start."""
    group = parser.add_argument_group("steering")
    _add_updates(group)
    group.add_argument(
        "--then", action="append", default=[], metavar="OPTIONS",
        help="go on from where it was under other settings: their options in one word, like "
        "--then='--eta 0.1'; may be repeated; where rotations are not chosen yet, or cameras are changed, it "
        "begins anew",
    )  # fmt: skip
    group.add_argument("--start", type=Path, metavar="RESULT", help="an .npz of solve to go on from")


def steps_from(args: argparse.Namespace) -> tuple[SolveStep, ...]:
    """Return the steps that the options ask for.

    Raises
    ------
    InputError
        where settings are refused, or what --then holds are no options of settings.
    """
    return (_step(args), *(_step(_parsed(text)) for text in args.then))


def _add_updates(parser: argparse._ActionsContainer) -> None:
    parser.add_argument("--updates", type=int, metavar="N", help="stop after N updates (default: at the end)")


def _step(args: argparse.Namespace) -> SolveStep:
    return SolveStep(settings_from(args), args.updates)


def _parsed(text: str) -> argparse.Namespace:
    parser = _ThenParser(prog="--then", add_help=False, allow_abbrev=False)
    add_settings_options(parser)
    _add_updates(parser)
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"--then is {text!r}, which cannot be split into words ({error})") from error
    return parser.parse_args(words)


class _ThenParser(argparse.ArgumentParser):
    """Refuses by the error that all of the command line's refusals are."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"--then: {message}; accepted are options of settings, and --updates")
