"""Non-rigid structure from motion with the weighted nuclear norm.

A sequence and settings make a result; `reconstruct` is the same as a stream of updates:

    from core import Settings, read_sequence, save_result, solve_sequence
    sequence = read_sequence("sample:balloon/circle")
    settings = Settings(rank=2, eta=0.05)
    result = solve_sequence(sequence, settings)
    print(f"log10 loss {result.log_loss:.4f} at rank {result.rank}")
    save_result(result, "result.npz")

`write_npz(sequence, path)` writes a sequence whole, `write_csv(sequence, path)` its tracks alone, and
`export(result, path)` a result in the format of the suffix.
"""

from .data.sequence import CameraModel, GroundTruth, Observations, Sequence
from .foundation.exceptions import InputError
from .foundation.version import VERSION
from .io.readers import SequenceEntry, list_sequences, read_sequence, write_csv, write_npz
from .io.readers.samples import bundled_samples, sample_path
from .io.writers import EXPORTERS, ExportOptions, export
from .penalties.linear import (
    MCP,
    PENALTIES,
    SCAD,
    CappedNorm,
    ExplicitWeights,
    LogPenalty,
    NuclearNorm,
    Penalty,
    RampWeights,
    RankPenalty,
    SchattenNorm,
    TruncatedNuclearNorm,
    WeightedNuclearNorm,
)
from .problem.factors import Factors
from .problem.nonrigid import NonRigidProblem
from .reconstruction.provenance import Recipe, Step
from .reconstruction.recipes import command_for, python_for
from .reconstruction.reconstruct import (
    Candidate,
    Record,
    StartReport,
    Update,
    finish,
    reconstruct,
    solve_sequence,
)
from .reconstruction.replay import replay, solve_steps
from .reconstruction.result import Result, load_result, save_result
from .reconstruction.resume import load_start
from .reconstruction.settings import PRESETS, Settings
from .solvers.admm import ADMM
from .solvers.algorithm_one import AlgorithmOne
from .solvers.levenberg_marquardt import LevenbergMarquardt
from .solvers.methods import METHODS
from .solvers.solver import Progress, Snapshot, Status, iterate, solve
from .solvers.variable_projection import VariableProjection
from .synthetic import simulate, write_challenge

__version__ = VERSION

__all__ = [
    "ADMM",
    "EXPORTERS",
    "MCP",
    "METHODS",
    "PENALTIES",
    "PRESETS",
    "SCAD",
    "VERSION",
    "AlgorithmOne",
    "CameraModel",
    "Candidate",
    "CappedNorm",
    "ExplicitWeights",
    "ExportOptions",
    "Factors",
    "GroundTruth",
    "InputError",
    "LevenbergMarquardt",
    "LogPenalty",
    "NonRigidProblem",
    "NuclearNorm",
    "Observations",
    "Penalty",
    "Progress",
    "RampWeights",
    "RankPenalty",
    "Recipe",
    "Record",
    "Result",
    "SchattenNorm",
    "Sequence",
    "SequenceEntry",
    "Settings",
    "Snapshot",
    "StartReport",
    "Status",
    "Step",
    "TruncatedNuclearNorm",
    "Update",
    "VariableProjection",
    "WeightedNuclearNorm",
    "bundled_samples",
    "command_for",
    "export",
    "finish",
    "iterate",
    "list_sequences",
    "load_result",
    "load_start",
    "python_for",
    "read_sequence",
    "reconstruct",
    "replay",
    "sample_path",
    "save_result",
    "simulate",
    "solve",
    "solve_sequence",
    "solve_steps",
    "write_challenge",
    "write_csv",
    "write_npz",
]
