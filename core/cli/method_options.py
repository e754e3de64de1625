"""The options of `nrsfm solve` that say what is minimized and how: the problem, the method and its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..foundation.exceptions import InputError
from ..solvers.methods import METHODS, PROBLEMS

if TYPE_CHECKING:
    import argparse

    from ..reconstruction.settings import Settings
    from ..solvers.methods import Option


def option_flag(name: str) -> str:
    """Return what the command line calls an option of a method."""
    return "--" + name.replace("_", "-")


def add_method_options(parser: argparse.ArgumentParser) -> None:
    """Add --problem, --method and one option for every name in the table of methods."""
    problems = "; ".join(f"{name}: {meaning}" for name, meaning in PROBLEMS.items())
    parser.add_argument("--problem", choices=list(PROBLEMS), help=f"{problems} (default nonrigid)")
    methods = "; ".join(f"{name}: {method.meaning}" for name, method in METHODS.items())
    parser.add_argument("--method", choices=list(METHODS), help=f"{methods} (default by the preset)")
    group = parser.add_argument_group("options of some methods")
    for name, (option, takers) in _options().items():
        defaults = {METHODS[method].default(name) for method in takers}
        default = f"default {defaults.pop()}" if len(defaults) == 1 else "the default is the method's own"
        group.add_argument(
            option_flag(name),
            dest=f"option_{name}",
            choices=option.choices or None,
            metavar=None if option.choices else "X",
            help=f"{option.tip} {'' if option.choices else f'Accepted: {option.accepted}. '}"
            f"For {', '.join(takers)}; {default}.",
        )


def method_changes(args: argparse.Namespace, base: Settings) -> dict[str, Any]:
    """Return the settings that these options change.

    Raises
    ------
    InputError
        where an option does not belong to the method.
    """
    changes = {name: getattr(args, name) for name in ("problem", "method") if getattr(args, name) is not None}
    method = changes.get("method", base.method)
    given = {name: getattr(args, f"option_{name}") for name in _options()}
    given = {name: value for name, value in given.items() if value is not None}
    for name in given:
        takers = _options()[name][1]
        if method not in takers:
            raise InputError(
                f"{option_flag(name)} does not belong to the method {method!r}; it is for {', '.join(takers)}"
            )
    if given:
        changes["options"] = tuple(given.items())
    return changes


def _options() -> dict[str, tuple[Option, list[str]]]:
    """Return every option of the table with the methods that take it."""
    found: dict[str, tuple[Option, list[str]]] = {}
    for key, method in METHODS.items():
        for option in method.options:
            found.setdefault(option.name, (option, []))[1].append(key)
    return found
