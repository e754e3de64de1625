"""Public names of the command line, by the module that they are in."""

from .command_line import COMMANDS as COMMANDS
from .command_line import CheckedParser as CheckedParser
from .command_line import declare as declare
from .command_line import main as main
from .command_line import parser as parser
from .console import as_lines as as_lines
from .console import summary_of as summary_of
from .options import FREQUENT as FREQUENT
from .options import add_reading_options as add_reading_options
from .options import add_sequence_options as add_sequence_options
from .options import add_settings_options as add_settings_options
from .options import reading_from as reading_from
from .options import settings_from as settings_from
from .solve import steps_from as steps_from
