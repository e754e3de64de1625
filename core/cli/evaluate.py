"""`nrsfm evaluate`: errors of a result, and whether it is a minimum of what it says it minimizes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import residuals
from ..arrays import InputError
from ..factors import Factors
from ..files.source import read_bytes
from ..files.zipped import load_arrays
from ..problem import NonRigidProblem
from ..result import load_result
from ..sequence import GroundTruth
from .summary import as_json, error_lines, errors_of

if TYPE_CHECKING:
    import argparse

    from ..result import Result
    from . import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add `evaluate RESULT.npz`."""
    parser = subparsers.add_parser(
        "evaluate",
        help="errors of a result, its loss recomputed, its gradient",
        description="Errors of a result against the ground truth, each under its own name; its loss, "
        "recomputed from the four residuals of every observation; and its relative gradient.",
        allow_abbrev=False,
    )
    parser.add_argument("result", type=Path, metavar="RESULT.npz")
    parser.add_argument(
        "--truth",
        type=Path,
        metavar="FILE",
        help="npz with S (F, 3, P), in place of the ground truth in the result",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> None:
    """Print the evaluation."""
    result = load_result(args.result)
    if args.truth:
        result = replace(result, truth=load_truth(args.truth, result))
    numbers = optimality(result)
    errors = errors_of(result, thorough=True)
    if args.json:
        print(as_json({"result": str(args.result), **numbers, "errors": errors}))
        return
    print(f"log10 loss {numbers['log10_loss']:.6f} (loss {numbers['loss']:.10g}), rank {result.rank}")
    print(
        f"loss from the four residuals of every observation {numbers['loss_recomputed']:.10g}, "
        f"relative difference {numbers['loss_difference']:.1e}"
    )
    print(f"relative gradient {numbers['relative_gradient']:.1e}")
    meta = result.meta
    for line in error_lines(errors, meta.get("units", "px"), meta.get("truth_units", "mm")):
        print(line)


def optimality(result: Result) -> dict[str, Any]:
    """Return the stored loss, the one recomputed in the paper's four-row form, and the relative gradient."""
    problem = NonRigidProblem(result.tracks, result.visible, result.rotations, result.eta, result.weights)
    s = np.einsum("fab,fa->fb", result.rotations, result.translations)
    C = np.ascontiguousarray(result.C.T).reshape(result.rank, 3, -1)
    factors = Factors(result.B, C, s)
    again = residuals.loss(problem, factors)
    return {
        "loss": result.loss,
        "log10_loss": result.log_loss,
        "loss_recomputed": again,
        "loss_difference": abs(again - result.loss) / result.loss if result.loss else abs(again),
        "relative_gradient": residuals.relative_gradient(problem, factors),
    }


def load_truth(path: Path, result: Result) -> GroundTruth:
    """Read the true shapes S (F, 3, P) of all frames; the reference frame stays the result's own.

    Raises
    ------
    InputError
        where the file has no S, or its shape is not the result's.
    """
    arrays = load_arrays(read_bytes(path), path)
    if "S" not in arrays:
        held = ", ".join(sorted(arrays)) or "no array"
        raise InputError(f"{path}: holds {held}; accepted is an npz with S (F, 3, P)")
    expected = (result.frame_count, 3, result.point_count)
    S = arrays["S"]
    if S.shape != expected or S.dtype.kind not in "fiu":
        raise InputError(f"{path}: S is {S.dtype} of shape {S.shape}; accepted are numbers, {expected}")
    reference = result.truth.reference if result.truth is not None else 0
    return GroundTruth(np.arange(result.frame_count), S.astype(float), reference)
