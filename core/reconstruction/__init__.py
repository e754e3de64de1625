"""From a sequence and settings to a result: calibration, starts, solve, refinement, provenance."""

from .geometry import Geometry, Projective, geometry_of
from .low_rank_pipeline import ENOUGH_AGREEING
from .orientation import Orientation, UprightRule, orient, parse_upright
from .pipeline import CONTINUED
from .progress import (
    BILINEAR_START,
    HistoryEntry,
    Iterate,
    Point,
    count_shift,
    finish,
    phases_of,
    run_remarks,
    shift_counts,
)
from .provenance import (
    RECORDS,
    Provenance,
    SolveStep,
    command_for,
    nearest_preset,
    options_for,
    preset_name,
    python_for,
    settings_from_dict,
    settings_to_dict,
    write_penalty,
)
from .reconstruct import iterate, reconstruct
from .restart import load_start, start_from
from .result import Result, StartReport, load_result, save_result
from .scale import UNITS, parse_scale
from .settings import (
    CAMERA_MODELS,
    DEFAULT_PRESETS,
    INTRINSICS_SOURCES,
    LIVE,
    LOW_RANK_TIPS,
    OBJECTIVE_OF,
    OBJECTIVES,
    PRESETS,
    RECOMMENDED_PENALTY,
    ROTATION_SOURCES,
    SETTINGS,
    Settings,
    chosen_objective,
    gives_depths,
    mode_weights_by,
    settings_of,
    suited_penalty,
)
from .verdicts import (
    NEGLIGIBLE,
    VERDICT_ACTIONS,
    VERDICT_KINDS,
    Verdict,
    find_verdicts,
    is_collapsed,
    remarks,
    worth_of,
)
