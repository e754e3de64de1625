"""From a sequence and settings to a result: calibration, starts, solve, refinement, provenance."""

from .diagnostics import DEAD, collapsed, remarks
from .geometry import Geometry, Projective, geometry_of
from .low_rank_pipeline import ENOUGH
from .pipeline import GONE_ON
from .progress import Candidate, Record, StartReport, Update, finish, shift_between, shifted
from .provenance import Lineage, Recipe, Step
from .recipes import (
    command_for,
    options_for,
    penalty_from_dict,
    penalty_to_dict,
    preset_name,
    python_for,
    settings_from_dict,
    settings_to_dict,
    steps_from_list,
    steps_to_list,
)
from .reconstruct import reconstruct, solve_sequence
from .replay import replay, solve_steps
from .result import Result, load_result, save_result
from .resume import load_start, start_from
from .settings import (
    INTRINSICS_SOURCES,
    PRESETS,
    RECOMMENDED_PENALTY,
    ROTATION_SOURCES,
    Settings,
    suited_penalty,
)

__all__ = [
    "DEAD",
    "ENOUGH",
    "GONE_ON",
    "INTRINSICS_SOURCES",
    "PRESETS",
    "RECOMMENDED_PENALTY",
    "ROTATION_SOURCES",
    "Candidate",
    "Geometry",
    "Lineage",
    "Projective",
    "Recipe",
    "Record",
    "Result",
    "Settings",
    "StartReport",
    "Step",
    "Update",
    "collapsed",
    "command_for",
    "finish",
    "geometry_of",
    "load_result",
    "load_start",
    "options_for",
    "penalty_from_dict",
    "penalty_to_dict",
    "preset_name",
    "python_for",
    "reconstruct",
    "remarks",
    "replay",
    "save_result",
    "settings_from_dict",
    "settings_to_dict",
    "shift_between",
    "shifted",
    "solve_sequence",
    "solve_steps",
    "start_from",
    "steps_from_list",
    "steps_to_list",
    "suited_penalty",
]
