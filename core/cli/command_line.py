"""`nrsfm COMMAND ...`: the parser of the command line, and `main`, which runs one command.

The module of a command has `add_arguments(parser)` and `run(args)`, which may return an exit code. Only the
module of the command that was asked for is imported.
Bad input of any kind is one sentence on stderr and exit code 2; Ctrl-C is 130.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ..foundation.exceptions import InputError
from ..foundation.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Collection

# Every command with its line in `nrsfm --help`; its module has the same name.
COMMANDS = {
    "info": "list the sequences in a folder or file",
    "track": "follow points through a video",
    "simulate": "write a sequence of a deforming object with known truth",
    "solve": "reconstruct a sequence",
    "guide": "find a good parameter without ground truth",
    "evaluate": "errors of a result, its loss recomputed, its gradient",
    "export": "write a result in another format",
    "formats": "describe the files that are read and written",
    "sweep": "reconstruct many sequences under many settings",
    "reproduce": "run the paper's experiments again and write a report",
    "benchmark": "compare the methods: loss against CPU seconds, memory, growth",
}
BAD_INPUT = 2
INTERRUPTED = 130
BROKEN_PIPE = 141


class _Parser(argparse.ArgumentParser):
    """A parser that refuses with one sentence, as everything else does."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {message} (see {self.prog} --help)\n")


class _CommandParser(_Parser):
    """The parser of one command, whose module is imported when the command is asked for."""

    def __init__(self, *, command: str, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)
        self._command: str | None = command

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Add the arguments of the command before the first use."""
        if self._command is not None:
            _module(self._command).add_arguments(self)
            self._command = None
        return super().parse_known_args(args, namespace)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line.

    Returns
    -------
    argparse.ArgumentParser
        with a subparser for every command.
    """
    lines = "\n".join(f"  {name:11}{summary}" for name, summary in COMMANDS.items())
    top = _Parser(
        prog="nrsfm",
        description=f"Non-rigid structure from motion with the weighted nuclear norm.\n\ncommands:\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,  # keeps the lines, and that of the version
        allow_abbrev=False,
    )
    where = Path(__file__).resolve().parent.parent
    top.add_argument("--version", action="version", version=f"nrsfm {VERSION}, core loaded from {where}")
    subparsers = top.add_subparsers(
        dest="command",
        required=True,
        metavar="COMMAND",
        help="nrsfm COMMAND --help lists the arguments of a command",
        parser_class=_CommandParser,
    )
    for name in COMMANDS:
        subparsers.add_parser(name, command=name)
    return top


def _module(command: str) -> Any:
    return import_module(f".{command}", __package__)


def main(arguments: Collection[str] | None = None) -> int:
    """Run one command and return its exit code: 0, 2 for bad input, 130 after Ctrl-C.

    Parameters
    ----------
    arguments
        the words after `nrsfm`; by default those of the process.

    Returns
    -------
    int
        the exit code.
    """
    try:
        args = parser().parse_args(arguments)
    except SystemExit as end:  # argparse has printed the reason
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
        # The reader of the output has closed it, as `head` does; the interpreter must not report it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as error:
        if error.filename is None:
            raise
        print(f"nrsfm {args.command}: {InputError.of(error)}", file=sys.stderr)
        return BAD_INPUT
