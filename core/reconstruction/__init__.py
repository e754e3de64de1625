"""From a sequence and settings to a result: calibration, starts, solve, refinement, provenance."""

from .diagnostics import NEGLIGIBLE, is_collapsed, remarks
from .geometry import Geometry, Projective, geometry_of
from .low_rank_pipeline import ENOUGH_AGREEING
from .pipeline import CONTINUED
from .progress import HistoryEntry, Iterate, Point, StartReport, count_shift, finish, shift_counts
from .provenance import (
    Provenance,
    ProvenanceChain,
    SolveStep,
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
from .reconstruct import iterate, iterate_sequence, reconstruct, replay
from .restart import load_start, start_from
from .result import Result, load_result, save_result
from .settings import (
    INTRINSICS_SOURCES,
    LIVE,
    LOW_RANK_TIPS,
    PRESETS,
    RECOMMENDED_PENALTY,
    REFINEMENTS,
    ROTATION_SOURCES,
    SETTINGS,
    Settings,
    settings_of,
    suited_penalty,
)
from .verdicts import VERDICT_ACTIONS, VERDICT_KINDS, Verdict, verdicts_from_list

__all__ = [
    "CONTINUED",
    "ENOUGH_AGREEING",
    "INTRINSICS_SOURCES",
    "LIVE",
    "LOW_RANK_TIPS",
    "NEGLIGIBLE",
    "PRESETS",
    "RECOMMENDED_PENALTY",
    "REFINEMENTS",
    "ROTATION_SOURCES",
    "SETTINGS",
    "VERDICT_ACTIONS",
    "VERDICT_KINDS",
    "Geometry",
    "HistoryEntry",
    "Iterate",
    "Point",
    "Projective",
    "Provenance",
    "ProvenanceChain",
    "Result",
    "Settings",
    "SolveStep",
    "StartReport",
    "Verdict",
    "command_for",
    "count_shift",
    "finish",
    "geometry_of",
    "is_collapsed",
    "iterate",
    "iterate_sequence",
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
    "settings_of",
    "settings_to_dict",
    "shift_counts",
    "start_from",
    "steps_from_list",
    "steps_to_list",
    "suited_penalty",
    "verdicts_from_list",
]
