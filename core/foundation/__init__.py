"""Types, exceptions, atomic files, linear algebra, the version: what all other packages of core use."""

from .assets import asset_folder, help_page
from .atomic import remove_temporaries, replacing, replacing_many
from .exceptions import LONGEST_SENTENCE, InputError, needs, printable, printable_name
from .linalg import (
    Similarity,
    nearest_rotation,
    object_size,
    procrustes,
    relative_distance,
    rotation_from_vector,
)
from .outputs import (
    check_outputs,
    check_replaceable,
    check_writable,
    make_folder,
    protecting,
    write_elsewhere,
)
from .parameters import CheckedParameters, Parameter, ParameterValue, parameter, parameters_of
from .phases import DEPTHS, WNN, Phase, PhaseKind, RunStage, phase_text
from .records import LARGEST_COUNT, Hook, Records, check_shapes, refused, shown_text
from .types import Bools, Floats, Ints, Pixels, read_only
from .version import PROGRAM, VERSION, versions

__all__ = [
    "DEPTHS",
    "LARGEST_COUNT",
    "LONGEST_SENTENCE",
    "PROGRAM",
    "VERSION",
    "WNN",
    "Bools",
    "CheckedParameters",
    "Floats",
    "Hook",
    "InputError",
    "Ints",
    "Parameter",
    "ParameterValue",
    "Phase",
    "PhaseKind",
    "Pixels",
    "Records",
    "RunStage",
    "Similarity",
    "asset_folder",
    "check_outputs",
    "check_replaceable",
    "check_shapes",
    "check_writable",
    "help_page",
    "make_folder",
    "nearest_rotation",
    "needs",
    "object_size",
    "parameter",
    "parameters_of",
    "phase_text",
    "printable",
    "printable_name",
    "procrustes",
    "protecting",
    "read_only",
    "refused",
    "relative_distance",
    "remove_temporaries",
    "replacing",
    "replacing_many",
    "rotation_from_vector",
    "shown_text",
    "versions",
    "write_elsewhere",
]
