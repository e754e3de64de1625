"""`nrsfm evaluate`: errors of a result, and whether it is a minimum of its objective."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..cameras.rotations import checked_rotations
from ..data import CameraModel, GroundTruth, known_points
from ..evaluation import Alignment, Kind, Mirror, Views, fall_sentence, find_truth_outliers, optimality
from ..evaluation.metrics import aligned_mm, errors_of, published_errors
from ..foundation import Floats, InputError
from ..io.files.contents import load_arrays, naming, read_bytes, refusing_damage
from ..io.files.variables import describe
from ..reconstruction.result import Result, load_result
from .command_line import declare, explained
from .console import as_json, error_lines, print_lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of `evaluate RESULT.npz`."""
    parser.description = (
        "Errors of a result against the ground truth, each under its own name; its loss, "
        "recomputed from the four residuals of every observation; and its relative gradient."
    )
    kinds = {kind.value: kind.meaning for kind in Kind if kind is not Kind.NONE}
    mirrors = {mirror.value: mirror.meaning for mirror in Mirror}
    declare(
        parser,
        f"""
        RESULT.npz
        --truth FILE: npz with S (F, 3, P), in place of the ground truth in the result; where it has R (F, 3,
            3), the errors in the camera's coordinates are added for an orthogonal camera; with t (F, 3) too,
            --align as-is is possible
        --align: add the error after another alignment (aligned_mm); {explained(kinds)}
        --mirror: of --align (per-frame where that is not given): {explained(mirrors)}; auto for an orthogonal
            camera and off for a perspective one where it is not given
        --without-outliers: of --align (per-frame where that is not given): leave out the points of the truth
            that are far from their neighbors in single frames
        --json: print one JSON object
        """,
        result=Path,
        truth=Path,
        align=list(kinds),
        mirror=list(mirrors),
    )


def run(args: argparse.Namespace) -> None:
    """Print the evaluation."""
    result = load_result(args.result)
    camera_truth, views = None, views_of(result)
    if args.truth:
        truth, camera_truth, views = load_truth(args.truth, result)
        result = replace(result, truth=truth)
    alignment = ""
    with naming(args.result):
        numbers = optimality(result)
        errors = errors_of(result) | published_errors(result, camera_truth)
        if args.align or args.mirror or args.without_outliers:
            errors["aligned_mm"], alignment = aligned_error(
                result, views, args.align, args.mirror, outliers=not args.without_outliers
            )
    found = None if result.truth is None else find_truth_outliers(result.truth)
    outliers = 0 if found is None else int(found.sum())
    units, truth_units = result.meta.get("units", "px"), result.meta.get("truth_units", "mm")
    if args.json:
        figures = {"result": str(args.result), "energy": result.energy, **numbers, "errors": errors}
        figures |= {"alignment": alignment} if alignment else {}
        print(as_json(figures | {"truth_outliers": outliers, "units": units, "truth_units": truth_units}))
        return
    if result.energy is not None:
        print(f"energy of the depths {result.energy:.8g} per point and frame; loss and gradient of its start")
    print(f"log10 loss {numbers['log10_loss']:.6f} (loss {numbers['loss']:.10g}), rank {result.rank}")
    print(
        f"loss from the four residuals of every observation {numbers['loss_recomputed']:.10g}, "
        f"relative difference {numbers['loss_difference']:.1e}"
    )
    print(f"relative gradient {numbers['relative_gradient']:.1e}")
    print_lines(*error_lines(errors, units, truth_units, alignment))
    if result.truth is not None and outliers:
        known = int(known_points(result.truth.points).sum())
        fall = fall_sentence(errors["procrustes_mm"], errors["procrustes_mm_inliers"], outliers, known)
        told = f"{outliers} of {known} points of the ground truth are far from their neighbors"
        print(f"note: {told}; {fall or 'the error hardly depends on them'}")


def views_of(result: Result, rotations: Floats | None = None, translations: Floats | None = None) -> Views:
    """Return the cameras of a result for `alignment`, with the true ones where they are given."""
    same_units = result.meta.get("units", "px") == result.meta.get("truth_units", "mm")
    orthogonal = result.camera is CameraModel.ORTHOGONAL and same_units
    return Views(
        result.rotations,
        result.translations,
        result.intrinsics,
        orthogonal,
        rotations,
        translations,
        size=result.size_in(str(result.meta.get("truth_units", "mm"))),
    )


def aligned_error(
    result: Result, views: Views, kind: str | None, mirror: str | None, *, outliers: bool = True
) -> tuple[float, str]:
    """Return the mean error after an alignment, and its name. Raises InputError without a truth."""
    if result.truth is None:
        raise InputError("the result has no ground truth to be aligned to; give one with --truth")
    by_camera = Mirror.AUTOMATIC if result.camera is CameraModel.ORTHOGONAL else Mirror.OFF
    alignment = Alignment(Kind(kind or "per-frame"), Mirror(mirror or by_camera), outliers)
    errors, mirrored = aligned_mm(result.points, result.truth, alignment, views=views)
    return errors.mean, alignment.label(mirrored)


def load_truth(path: Path, result: Result) -> tuple[GroundTruth, GroundTruth | None, Views]:
    """Read the true shapes S (F, 3, P) of all frames; the reference frame stays the result's own.

    Returns the shapes; where the file has the true rotations R (F, 3, 3), the shapes R S in the camera's
    coordinates up to the translation; and all cameras, with the true ones where it has R and t (F, 3).
    """
    with refusing_damage(path):
        arrays = load_arrays(read_bytes(path), path)
        if "S" not in arrays:
            raise InputError(f"{path}: holds {describe(arrays)}; accepted is an npz with S (F, 3, P)")
        count, points = result.frame_count, result.point_count
        for name, expected in (("S", (count, 3, points)), ("R", (count, 3, 3)), ("t", (count, 3))):
            value = arrays.get(name)
            if value is not None and (value.shape != expected or value.dtype.kind not in "fiu"):
                found = f"{name} is {value.dtype} of shape {value.shape}"
                raise InputError(f"{path}: {found}; accepted are numbers, {expected}")
        reference = result.truth.reference if result.truth is not None else 0
        truth = GroundTruth(np.arange(count), arrays["S"].astype(float), reference)
        R, t = (None if name not in arrays else arrays[name].astype(float) for name in ("R", "t"))
        if R is not None:
            R = checked_rotations(R, path)
        if t is not None and not np.isfinite(t).all():
            raise InputError(f"{path}: t holds a value that is not finite; accepted are finite numbers")
        return truth, None if R is None else replace(truth, points=R @ truth.points), views_of(result, R, t)
