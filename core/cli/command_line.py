"""`nrsfm COMMAND ...`: the parser of the command line, and `main`, which runs one command.

The module of a command has `add_arguments(parser)` and `run(args)`, which may return an exit code. Only the
module of the command that was asked for is imported.
Bad input of any kind is one sentence on stderr and exit code 2; Ctrl-C is 130. The other signals that stop a
program (`core.stop_signals`) do what Ctrl-C does, with exit codes of their own: 143 for SIGTERM.
"""

from __future__ import annotations

import argparse
import errno
import inspect
import io
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from ..foundation import VERSION, InputError
from ..stop_signals import SIGNALED, STOP_SIGNALS

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
COMPLETING = "_ARGCOMPLETE"  # set by argcomplete, for a shell that completes the words of COMP_LINE
BAD_INPUT = 2  # exit code
INTERRUPTED = SIGNALED + signal.SIGINT
BROKEN_PIPE = 141
LARGEST_WHOLE = 2**63 - 1  # of the system and of NumPy
_WITHOUT_VALUE = re.compile(r"(--[^=]+=|-\w=?)--")
# signals, by the command that runs
_received: ContextVar[Collection[int]] = ContextVar("received", default=())
OUTPUT, ERRORS = 1, 2


class CheckedParser(argparse.ArgumentParser):
    """A parser that refuses numbers that no array can count, and `--` as a value, with one sentence."""

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


class _CommandParser(CheckedParser):
    """The parser of one command, whose module is imported when the command is asked for."""

    def __init__(self, *, command: str, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)
        self._command: str | None = command
        if COMPLETING in os.environ and command in os.environ.get("COMP_LINE", "").split():
            self._add_arguments()  # argcomplete looks at them before the first use

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Add the arguments of the command before the first use, and refuse others than these."""
        self._add_arguments()
        known, others = super().parse_known_args(args, namespace)
        if others:
            near = get_close_matches(others[0].partition("=")[0], self._option_string_actions, n=1)
            hint = f"; the nearest is {near[0]}" if near else ""
            self.error(f"unrecognized arguments: {' '.join(others)}{hint}")
        return known, others

    def _add_arguments(self) -> None:
        if self._command is not None:
            _module(self._command).add_arguments(self)
            self._command = None


def declare(parser: argparse._ActionsContainer, table: str, **kinds: Any) -> argparse._ActionsContainer:
    """Add the arguments that a table lists: on each line the names and what is given, a colon, and the help.

    A line that is indented further goes on with the help; a title in brackets begins a group, and the last
    one is returned. `kinds`: by the name of an argument its type, its choices as a list, its default, of
    which it has the type, or what argparse calls these as a dict. One without any of these and without a word
    for what is given is true where it is there.
    """
    group = parser
    lines: list[str] = []
    for line in inspect.cleandoc(table).splitlines():
        if line.startswith(" "):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
    for line in lines:
        if line.startswith("["):
            group = parser.add_argument_group(line.strip("[]"))
            continue
        head, _, text = line.partition(": ")
        *names, last = head.split()
        given: dict[str, Any] = {"help": text or None}
        if last.startswith("-"):
            names.append(last)
        else:
            given["metavar"] = last
        name = names[-1].strip("-").replace("-", "_") if names else last.lower().partition(".")[0]
        kind = kinds.get(name)
        if isinstance(kind, dict):
            given |= kind
        elif isinstance(kind, list):
            given["choices"] = kind
        elif callable(kind):
            given["type"] = kind
        elif kind is not None:
            given |= {"type": type(kind), "default": kind}
        elif "metavar" not in given:
            given["action"] = "store_true"
        group.add_argument(*(names or [name]), **given)
    return group


def explained(choices: Mapping[str, str]) -> str:
    """Return what each choice means, as the help of an option has it."""
    return "; ".join(f"{name}: {meaning}" for name, meaning in choices.items())


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    lines = "\n".join(f"  {name:11}{summary}" for name, summary in COMMANDS.items())
    top = CheckedParser(
        prog="nrsfm",
        description="Non-rigid structure from motion: from 2-D tracks to the 3-D shape of every frame.\n\n"
        f"commands:\n{lines}",
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


def main(arguments: Collection[str] | None = None, *, started: Callable[[], object] = lambda: None) -> int:
    """Run one command and return its exit code: 0, 2 for bad input, 130 after Ctrl-C, 143 after SIGTERM."""
    if COMPLETING in os.environ:  # a shell asks for words; it ends here
        import argcomplete

        argcomplete.autocomplete(parser())
    received: list[int] = []
    _received.set(received)
    command = "nrsfm"
    try:
        with standard_streams():
            try:
                args = parser().parse_args(arguments)
                command = f"nrsfm {args.command}"
                started()
                with _interrupting(received):
                    code = _module(args.command).run(args) or 0
            except SystemExit as end:  # argparse has printed the reason
                code = int(end.code or 0)
            except InputError as error:
                print(f"{command}: {error}", file=sys.stderr)
                code = BAD_INPUT
            sys.stdout.flush()
    except KeyboardInterrupt:
        _print_last(f"{command}: stopped")
        code = INTERRUPTED
    except BrokenPipeError:  # the reader of the output has closed it, as `head` does
        return BROKEN_PIPE
    except OSError as error:
        _print_last(f"{command}: {InputError.of(error)}")
        return BAD_INPUT
    except Exception:
        if not received:
            raise
        _print_last(f"{command}: stopped")  # what was interrupted has made an error of its own of that
        code = INTERRUPTED
    return SIGNALED + received[0] if received and code == INTERRUPTED else code


def _print_last(line: str) -> None:
    """Print on standard error, unless that is closed or full."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(line, file=sys.stderr, flush=True)


class _Stopped(KeyboardInterrupt):
    """What a signal raises.

    Where KeyboardInterrupt itself leaves code that was compiled from a string, as what makes the methods of a
    dataclass, Python ends by SIGINT whatever the exit code is.
    """


def check_stopped() -> None:
    """Raise KeyboardInterrupt where a signal has come: a library may have lost the one that it raised.

    A function of C that a signal finds in a call of Python may clear every exception.
    """
    if _received.get():
        raise _Stopped


@contextmanager
def _interrupting(received: list[int]) -> Iterator[None]:
    """Let the signals with which a batch system or a closed terminal stops a command do what Ctrl-C does.

    The first one counts: what it makes the command write is interrupted by nothing but Ctrl-C. One that is
    ignored, as after `nohup`, stays so.
    """

    def stop(number: int, _frame: object) -> None:
        received.append(number)
        if len(received) == 1 or number == signal.SIGINT:
            raise _Stopped

    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    heard = {
        number: handler
        for number, handler in before.items()
        if handler in (signal.SIG_DFL, signal.default_int_handler)
    }
    if threading.current_thread() is not threading.main_thread():
        heard = {}
    for number in heard:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in heard.items():
            signal.signal(number, handler)


class _OutputFile(io.FileIO):
    """Standard output; what it cannot write is an error that names it."""

    def write(self, content: Any) -> int:
        try:
            return super().write(content)
        except OSError as error:
            raise OSError(error.errno, error.strerror, "standard output") from error


class _ErrorsFile(io.FileIO):
    """Standard error; what it cannot write is dropped: a message does not end a computation."""

    def write(self, content: Any) -> int:
        with suppress(OSError):
            return super().write(content)
        return len(content)


@contextmanager
def standard_streams() -> Iterator[None]:
    """Replace the standard streams of the process in the block, unless somebody else has replaced them.

    Names of files that are no text are written with escapes. Files that are opened later never get the
    number of a stream that is closed.
    """
    before = sys.stdout, sys.stderr
    for number in (0, OUTPUT, ERRORS):
        try:
            os.fstat(number)
        except OSError as error:
            if error.errno != errno.EBADF:
                raise
            os.open(os.devnull, os.O_RDONLY)  # the lowest number that is free
    try:
        if sys.stdout is sys.__stdout__:
            sys.stdout = _text(_OutputFile(OUTPUT, "w", closefd=False), sys.stdout)
        if sys.stderr is sys.__stderr__:
            sys.stderr = _text(_ErrorsFile(ERRORS, "w", closefd=False), sys.stderr)
        yield
    finally:
        with suppress(OSError):
            sys.stderr.flush()
        sys.stdout, sys.stderr = before


def _text(file: io.FileIO, like: Any) -> io.TextIOWrapper:
    encoding = getattr(like, "encoding", None) or "utf-8"
    lines = file.fileno() == ERRORS or file.isatty()
    return io.TextIOWrapper(
        io.BufferedWriter(file), encoding=encoding, errors="backslashreplace", line_buffering=lines
    )
