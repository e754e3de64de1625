"""Public names of the solver."""

from .data import (
    CameraModel as CameraModel,
)
from .data import (
    GroundTruth as GroundTruth,
)
from .data import (
    Observations as Observations,
)
from .data import (
    Sequence as Sequence,
)
from .evaluation import (
    Alignment as Alignment,
)
from .evaluation import (
    align as align,
)
from .evaluation import (
    challenge_v02 as challenge_v02,
)
from .evaluation import (
    procrustes_mm as procrustes_mm,
)
from .evaluation import (
    reprojection_px as reprojection_px,
)
from .foundation import (
    VERSION as VERSION,
)
from .foundation import (
    InputError as InputError,
)
from .io.readers import (
    SequenceEntry as SequenceEntry,
)
from .io.readers import (
    bundled_samples as bundled_samples,
)
from .io.readers import (
    list_sequences as list_sequences,
)
from .io.readers import (
    read_sequence as read_sequence,
)
from .io.readers import (
    sample_path as sample_path,
)
from .io.readers import (
    write_csv as write_csv,
)
from .io.readers import (
    write_npz as write_npz,
)
from .io.writers import (
    WRITERS as WRITERS,
)
from .io.writers import (
    ExportOptions as ExportOptions,
)
from .io.writers import (
    export as export,
)
from .penalties import (
    MCP as MCP,
)
from .penalties import (
    PENALTIES as PENALTIES,
)
from .penalties import (
    SCAD as SCAD,
)
from .penalties import (
    CappedNorm as CappedNorm,
)
from .penalties import (
    ExplicitWeights as ExplicitWeights,
)
from .penalties import (
    LogPenalty as LogPenalty,
)
from .penalties import (
    NuclearNorm as NuclearNorm,
)
from .penalties import (
    Penalty as Penalty,
)
from .penalties import (
    RampWeights as RampWeights,
)
from .penalties import (
    RankPenalty as RankPenalty,
)
from .penalties import (
    SchattenNorm as SchattenNorm,
)
from .penalties import (
    TruncatedNuclearNorm as TruncatedNuclearNorm,
)
from .penalties import (
    WeightedNuclearNorm as WeightedNuclearNorm,
)
from .problem import (
    Factors as Factors,
)
from .problem import (
    LowRankProblem as LowRankProblem,
)
from .problem import (
    NonRigidProblem as NonRigidProblem,
)
from .problem import (
    svd_start as svd_start,
)
from .reconstruction import (
    PRESETS as PRESETS,
)
from .reconstruction import (
    HistoryEntry as HistoryEntry,
)
from .reconstruction import (
    Iterate as Iterate,
)
from .reconstruction import (
    Point as Point,
)
from .reconstruction import (
    Provenance as Provenance,
)
from .reconstruction import (
    Result as Result,
)
from .reconstruction import (
    Settings as Settings,
)
from .reconstruction import (
    SolveStep as SolveStep,
)
from .reconstruction import (
    StartReport as StartReport,
)
from .reconstruction import (
    command_for as command_for,
)
from .reconstruction import (
    finish as finish,
)
from .reconstruction import (
    load_result as load_result,
)
from .reconstruction import (
    load_start as load_start,
)
from .reconstruction import (
    python_for as python_for,
)
from .reconstruction import (
    reconstruct as reconstruct,
)
from .reconstruction import (
    replay as replay,
)
from .reconstruction import (
    save_result as save_result,
)
from .reconstruction import (
    solve_sequence as solve_sequence,
)
from .reconstruction import (
    solve_steps as solve_steps,
)
from .solvers import (
    ADMM as ADMM,
)
from .solvers import (
    AGD as AGD,
)
from .solvers import (
    BMM as BMM,
)
from .solvers import (
    IRNN as IRNN,
)
from .solvers import (
    METHODS as METHODS,
)
from .solvers import (
    RBMM as RBMM,
)
from .solvers import (
    AlgorithmOne as AlgorithmOne,
)
from .solvers import (
    LevenbergMarquardt as LevenbergMarquardt,
)
from .solvers import (
    Progress as Progress,
)
from .solvers import (
    Snapshot as Snapshot,
)
from .solvers import (
    Status as Status,
)
from .solvers import (
    VariableProjection as VariableProjection,
)
from .solvers import (
    iterate as iterate,
)
from .solvers import (
    solve as solve,
)
from .synthetic import (
    simulate as simulate,
)
from .synthetic import (
    write_challenge as write_challenge,
)

__version__: str
__all__ = [
    "ADMM",
    "AGD",
    "BMM",
    "IRNN",
    "MCP",
    "METHODS",
    "PENALTIES",
    "PRESETS",
    "RBMM",
    "SCAD",
    "VERSION",
    "WRITERS",
    "AlgorithmOne",
    "Alignment",
    "CameraModel",
    "CappedNorm",
    "ExplicitWeights",
    "ExportOptions",
    "Factors",
    "GroundTruth",
    "HistoryEntry",
    "InputError",
    "Iterate",
    "LevenbergMarquardt",
    "LogPenalty",
    "LowRankProblem",
    "NonRigidProblem",
    "NuclearNorm",
    "Observations",
    "Penalty",
    "Point",
    "Progress",
    "Provenance",
    "RampWeights",
    "RankPenalty",
    "Result",
    "SchattenNorm",
    "Sequence",
    "SequenceEntry",
    "Settings",
    "Snapshot",
    "SolveStep",
    "StartReport",
    "Status",
    "TruncatedNuclearNorm",
    "VariableProjection",
    "WeightedNuclearNorm",
    "align",
    "bundled_samples",
    "challenge_v02",
    "command_for",
    "export",
    "finish",
    "iterate",
    "list_sequences",
    "load_result",
    "load_start",
    "procrustes_mm",
    "python_for",
    "read_sequence",
    "reconstruct",
    "replay",
    "reprojection_px",
    "sample_path",
    "save_result",
    "simulate",
    "solve",
    "solve_sequence",
    "solve_steps",
    "svd_start",
    "write_challenge",
    "write_csv",
    "write_npz",
]
