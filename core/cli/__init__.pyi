"""Public names of the command line, by the module that they are in."""

from .command_line import COMMANDS, CheckedParser, main, parser
from .console import as_lines, summary_of
from .options import (
    FREQUENT,
    add_reading_options,
    add_sequence_options,
    add_settings_options,
    reading_from,
    settings_from,
)
from .solve import steps_from

__all__ = [
    "COMMANDS",
    "FREQUENT",
    "CheckedParser",
    "add_reading_options",
    "add_sequence_options",
    "add_settings_options",
    "as_lines",
    "main",
    "parser",
    "reading_from",
    "settings_from",
    "steps_from",
    "summary_of",
]
