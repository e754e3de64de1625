"""The command line: `nrsfm COMMAND ...`, a module here for every command.

A module has `add_parser(subparsers)`, which adds one parser, and `run(args)`, which may return an exit code.
Bad input of any kind is one sentence on stderr and exit code 2; Ctrl-C is 130.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from ..foundation.exceptions import InputError
from ..foundation.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence as Items

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

COMMANDS = ("info", "simulate", "solve", "guide", "evaluate", "export", "reproduce", "benchmark")
BAD_INPUT = 2
INTERRUPTED = 130
BROKEN_PIPE = 141


class _Parser(argparse.ArgumentParser):
    """A parser that refuses with one sentence, as everything else does."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {message} (see {self.prog} --help)\n")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    whole = _Parser(
        prog="nrsfm",
        description="Non-rigid structure from motion with the weighted nuclear norm.",
        formatter_class=argparse.RawDescriptionHelpFormatter,  # or the version would be wrapped
        allow_abbrev=False,
    )
    where = Path(__file__).resolve().parent.parent
    whole.add_argument("--version", action="version", version=f"nrsfm {VERSION}, core loaded from {where}")
    subparsers = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in COMMANDS:
        _module(name).add_parser(subparsers)
    return whole


def _module(command: str) -> Any:
    """Return the module of a command; the viewer, which shares some of them, must not wait for all."""
    return import_module(f".{command}", __name__)


def main(arguments: Items[str] | None = None) -> int:
    """Run one command and return its exit code: 0, 2 for bad input, 130 after Ctrl-C."""
    try:
        args = parser().parse_args(arguments)
    except SystemExit as end:  # argparse has said why
        return int(end.code or 0)
    try:
        return _module(args.command).run(args) or 0
    except InputError as error:
        print(f"nrsfm {args.command}: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print(f"nrsfm {args.command}: stopped", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away, as `head` does; keep the interpreter from saying so at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as error:
        if error.filename is None:
            raise
        print(f"nrsfm {args.command}: {InputError.of(error)}", file=sys.stderr)
        return BAD_INPUT
