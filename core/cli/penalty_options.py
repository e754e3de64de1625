"""The options of `nrsfm solve` that say the penalty and its numbers."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from ..foundation.exceptions import InputError
from ..penalties.linear import PENALTIES, PENALTY_TEXTS, ExplicitWeights, penalty_name
from ..reconstruction.settings import PRESETS

if TYPE_CHECKING:
    import argparse

    from ..penalties.linear import Penalty

WHOLE = ("free",)  # the numbers that are counts


def add_penalty_options(parser: argparse.ArgumentParser) -> None:
    """Add --penalty, one option for every number of any penalty, and --weights."""
    group = parser.add_argument_group("penalty on the singular values")
    titles = "; ".join(f"{name}: {text.title}, {text.formula}" for name, text in PENALTY_TEXTS.items())
    group.add_argument(
        "--penalty",
        choices=list(PENALTIES),
        help=f"{titles} (default by the preset, or by a method that takes no other)",
    )
    for name in _number_names():
        group.add_argument(
            f"--{name}", type=int if name in WHOLE else float, metavar=name[0].upper(), help=_help(name)
        )
    group.add_argument(
        "--weights", metavar="A1,A2,...", help="the weights themselves, non-decreasing; sets K"
    )


def penalty_from(args: argparse.Namespace, base: Penalty) -> Penalty:
    """Return the penalty that the options ask for, where `base` is the penalty without any of them.

    Raises
    ------
    InputError
        where a number is out of range or does not belong to the penalty, or weights are no numbers.
    """
    given = {name: getattr(args, name) for name in _number_names() if getattr(args, name) is not None}
    if args.weights is not None:
        clash = ["penalty"] if args.penalty else list(given)
        if clash:
            raise InputError(f"--weights and --{clash[0]} are both given; the weights are the whole penalty")
        weights = numbers(args.weights)
        if not weights:
            raise InputError(
                f"--weights is {args.weights!r}; accepted are numbers A1,A2,..., one per basis shape"
            )
        return ExplicitWeights(weights)
    name = args.penalty or penalty_name(base)
    start: Any = base if name == penalty_name(base) else PENALTIES[name]()
    accepted = [entry.name for entry in fields(PENALTIES[name])]
    for option in given:
        if option not in accepted:
            takes = ", ".join(f"--{entry}" for entry in accepted)
            raise InputError(f"--{option} does not belong to the penalty {name!r}, which takes {takes}")
    penalty: Penalty = replace(start, **given)
    return penalty


def numbers(text: str) -> tuple[float, ...]:
    """Return numbers with commas between them; none where that is not what the text is."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        return ()


def _number_names() -> list[str]:
    """Return the numbers of all penalties, in the order in which they first occur."""
    return list(dict.fromkeys(entry.name for kind in PENALTIES.values() for entry in fields(kind)))


def _help(name: str) -> str:
    """Return what a number means to each penalty that has it, and its defaults."""
    takers: dict[str, list[str]] = {}
    for kind, text in PENALTY_TEXTS.items():
        if name in text.numbers:
            takers.setdefault(text.numbers[name], []).append(kind)
    defaults = {}
    for kind in (kind for kinds in takers.values() for kind in kinds):
        defaults[kind] = str(getattr(PENALTIES[kind](), name))
        for preset, settings in PRESETS.items():
            if penalty_name(settings.penalty) == kind:
                defaults[f"{kind} in {preset}"] = str(getattr(settings.penalty, name))
    meanings = " ".join(f"{', '.join(kinds)}: {tip}" for tip, kinds in takers.items())
    if len(set(defaults.values())) == 1:
        return f"{meanings} Default {next(iter(defaults.values()))}."
    return f"{meanings} Defaults: {', '.join(f'{kind} {value}' for kind, value in defaults.items())}."
