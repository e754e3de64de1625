"""A parser of options that refuses what argparse lets through or ends in an error of its own."""

from __future__ import annotations

import argparse
import re
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from ..foundation.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Collection

BAD_INPUT = 2  # exit code
LARGEST_WHOLE = 2**63 - 1  # of the system and of NumPy
_WITHOUT_VALUE = re.compile(r"(--[^=]+=|-\w=?)--")


class CheckedParser(argparse.ArgumentParser):
    """A parser that refuses whole numbers that no array can count, and `--` as the value of an option.

    It refuses with one sentence, as everything else does, in which arguments are escaped and shortened.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.register("type", int, _whole)
        self.frequent: set[str] | None = None  # the arguments that --help lists, None for all

    def shorten_help(self, usage: str, frequent: Collection[str]) -> None:
        """Let --help list these arguments alone, and --help-all every one. They may be added later."""
        self.usage = f"%(prog)s {usage} [options]"
        self.frequent = {"help", "help_all", *frequent}
        self.add_argument(
            "--help-all", action=_CompleteHelp, nargs=0, default=argparse.SUPPRESS, help="list all options"
        )

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse the words that argparse makes an option without a value of."""
        words = sys.argv[1:] if args is None else list(args)
        for word in words:
            if word == "--":  # what follows are no options
                break
            if _WITHOUT_VALUE.fullmatch(word):
                self.error(f"argument {word[:-2].rstrip('=')}: '--' is no value")
        return super().parse_known_args(words, namespace)

    def print_help(self, file: Any = None) -> None:
        """Print the help; argparse ignores it where that cannot be written."""
        stream = sys.stdout if file is None else file
        if stream is not None:
            stream.write(self.format_help())

    def format_help(self) -> str:
        """Return the help, without the arguments that only --help-all lists."""
        if self.frequent is None:
            return super().format_help()
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, (), ())
        formatter.add_text(self.description)
        for group in self._action_groups:
            formatter.start_section(group.title)
            formatter.add_arguments(each for each in group._group_actions if each.dest in self.frequent)
            formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help()

    def error(self, message: str) -> NoReturn:
        """End the program with the sentence and the exit code for bad input."""
        self.exit(BAD_INPUT, f"{InputError(f'{self.prog}: {message} (see {self.prog} --help)')}\n")


class _CompleteHelp(argparse.Action):
    def __call__(self, parser: Any, *_given: Any) -> None:
        parser.frequent = None
        parser.print_help()
        parser.exit()


def _whole(text: str) -> int:
    number = int(text)
    if abs(number) > LARGEST_WHOLE:
        raise argparse.ArgumentTypeError(f"{text} is too large; accepted are whole numbers up to 2^63")
    return number
