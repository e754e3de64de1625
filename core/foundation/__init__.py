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
from .types import Bools, Floats, Ints, Pixels, Watch, do_nothing, read_only
from .version import PROGRAM, VERSION, versions
