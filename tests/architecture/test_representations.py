"""Every public class represents its values in one line."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import fields, is_dataclass
from enum import Enum

import numpy as np
import pytest
from rendering import render

import core
from core import (
    METHODS,
    PENALTIES,
    WRITERS,
    Alignment,
    ExplicitWeights,
    ExportOptions,
    LowRankProblem,
    NonRigidProblem,
    Settings,
    SolveStep,
    TruncatedNuclearNorm,
    WeightedNuclearNorm,
    calibrate,
    cross_validate,
    iterate,
    list_sequences,
    load_start,
    procrustes_mm,
    save_result,
    simulate,
    write_npz,
)
from core.cameras import MetricUpgrade, resolve_intrinsics
from core.data import connect
from core.depth import (
    LBFGS,
    Alternative,
    DepthLevel,
    DepthOptions,
    DepthPoint,
    DepthProblem,
    FrameBlock,
    LevelEnergy,
    followed_part,
    point_subset,
    profile_focal,
    refine_part,
)
from core.evaluation import HoldoutPlan, Views, find_outliers, sweep
from core.foundation import Parameter, parameters_of, procrustes
from core.io.readers import READERS, ReaderPlugin, ReadingOptions, inspect_file
from core.penalties import LinearPenalty
from core.problem import RobustLoss
from core.reconstruction import Verdict, orient, parse_scale, parse_upright
from core.solvers import AlgorithmOne, Majorized, Reweighted, solve
from core.tracking import track_video

pytestmark = pytest.mark.usefixtures("brief_search")

LONGEST = 200
LONG = "a sentence of a report\n" * 40


def public_classes():
    """Return the public dataclasses of core, but those that only others inherit from."""
    found = []
    for module in ("core", *(each.name for each in pkgutil.walk_packages(core.__path__, "core."))):
        if not module.endswith("__main__"):
            room = importlib.import_module(module)
            public = vars(room) if hasattr(room, "__path__") else ()
            found += [getattr(room, name) for name in getattr(room, "__all__", public)]
    return {each for each in found if inspect.isclass(each) and is_dataclass(each)}


def collect(value, found):
    """Add a value to its kind's, and everything that it holds."""
    if isinstance(value, Enum | type | str | bytes | np.ndarray | np.generic) or value is None:
        return
    if isinstance(value, tuple | list):
        for item in value:
            collect(item, found)
    elif isinstance(value, dict):
        collect(list(value.values()), found)
    elif is_dataclass(value):
        known = found.setdefault(type(value), [])
        if len(known) < 20 and not any(each is value for each in known):
            known.append(value)
            collect([getattr(value, entry.name) for entry in fields(value)], found)
            collect(list(vars(value).values()), found)


def reconstruction_values(folder):
    scene = simulate("paper", frames=12, points=20, occlusion=0.2, seed=1)
    quick = Settings(
        rank=2, starts=2, rotations="truth", intrinsics=(1400.5, 1399.0, 640.0, 480.0), objective="wnn"
    )
    write_npz(scene, folder / "scene.npz")
    entries = list_sequences(folder)
    *_, last = iterate(scene, steps=[SolveStep(quick, 3), SolveStep(quick.with_changes(eta=0.3))])
    *_, projective = iterate(scene, "lowrank", starts=1)
    result, low_rank = last.result(), projective.result()
    start = load_start(save_result(result, folder / "result.npz"), scene)
    upgraded = MetricUpgrade(
        result.rotations, result.translations, result.points[0], result.intrinsics, np.eye(4),
        "known", *(1 / 3, 1 / 7, 1.0, 1 / 9, 2 / 9),
    )  # fmt: skip
    errors = procrustes_mm(result.camera_points, scene.truth)
    similarity = procrustes(result.points[0], scene.truth.points[0])
    curve = cross_validate(scene, quick, over="rank", values=(1, 2), folds=2, start=last)
    views = Views(result.rotations, result.translations, result.intrinsics, orthogonal=False)
    trials = list(sweep(scene, last, quick, HoldoutPlan("rank", (1.0, 2.0), folds=1)))
    outliers = find_outliers(np.where(np.outer(np.arange(12), np.arange(20) == 3) > 4, 9.0, 1.0))
    return [
        scene, scene.observations, entries, last, last.phase.stage, last.geometry, last.provenance.flatten(),
        result, low_rank,
        start, projective, projective.geometry, upgraded, errors, similarity, curve, views, trials,
        Verdict("jump", LONG, (11, 12), "look"), Settings(), resolve_intrinsics(scene, "gt"),
        parse_scale("3-17=85mm"), parse_upright("up=0,-1,0 floor=2:1-4-3"),
        orient(result.points, result.rotations),
        outliers, *outliers.drifting,
        HoldoutPlan("xi", tuple(np.linspace(0.1, 0.9, 30))),
    ]  # fmt: skip


def solver_values():
    scene = simulate("paper", frames=10, points=16, seed=1)
    tracks = calibrate(scene.observations, scene.intrinsics, scene.camera)
    problem = NonRigidProblem(
        tracks, scene.visible, scene.rotations, 1.0, penalty=WeightedNuclearNorm(5e-3), rank=2
    )
    low_rank = LowRankProblem(
        tracks / np.linalg.norm(tracks), scene.visible, 0.05, penalty=TruncatedNuclearNorm(1e-3, 4), rank=4
    )
    moments = []
    for method in METHODS.values():
        algorithm = method.algorithm()
        moments += [algorithm, next(iterate(problem, algorithm))]
    moments.append(Majorized(core.VariableProjection()))
    robust = problem.with_robust(RobustLoss("cauchy", 0.01))
    reweighted = Reweighted(core.VariableProjection(), 1e-3)
    moments += [robust.robust, reweighted, next(iterate(robust, reweighted))]
    return [problem, problem.data, low_rank, low_rank.data, low_rank.closed_form(), moments]


def depth_values():
    scene = simulate("paper", frames=10, points=16, seed=1)
    tracks = calibrate(scene.observations, scene.intrinsics, scene.camera)
    problem = DepthProblem(tracks, scene.visible, affine=False, noise=1e-3)
    Y = scene.rotations @ scene.truth.points + scene.translations[:, :, None]
    point = DepthPoint.from_camera_points(problem, Y, scene.rotations)
    energy = LevelEnergy.about(problem.anchored(point), DepthLevel(0.1, 0.15), point)
    method = LBFGS(max_iterations=3)
    options = DepthOptions()
    *_, last = refine_part(followed_part(problem, point), point, {"truth": point}, options)
    subset = point_subset(problem, problem.shapes(point), 8)
    return [
        problem,
        point,
        energy,
        method,
        solve(energy, method, point),
        options,
        last,
        subset,
        next(profile_focal(problem, point, 1400.5, options)),
        FrameBlock(3, 9),
        Alternative("mirrored", 2.5, 0.3, 24),
    ]


def tracking_values(folder):
    video = render("paper", frames=3, size=(96, 72))
    video.write(folder / "sheet.mp4")
    step = next(track_video(folder / "sheet.mp4", points=8))
    return [video, step]


@pytest.fixture(scope="module")
def instances(tmp_path_factory):
    """Values of every public dataclass, by class."""
    found: dict[type, list[object]] = {}
    folder = tmp_path_factory.mktemp("files")
    collect(reconstruction_values(folder), found)
    collect(solver_values(), found)
    collect(depth_values(), found)
    collect(tracking_values(folder), found)
    collect([kind() for kind in PENALTIES.values()], found)
    tables = [list(METHODS.values()), list(READERS.values()), list(WRITERS.values())]
    described = list(parameters_of(Settings).values())
    read = inspect_file(core.sample_path("balloon/circle"))
    collect([read, ReadingOptions(tracks=LONG, visible=LONG, columns=LONG, order="ntxy")], found)
    collect([ReaderPlugin(LONG, LONG, READERS[".csv"], LONG)], found)
    collect([tables, described, Parameter("rho", LONG, choices=("a",) * 40)], found)
    weights = ExplicitWeights(tuple(np.linspace(0, 1, 60)))
    collect(
        [
            AlgorithmOne(),
            weights,
            LinearPenalty(np.linspace(0, 1, 60)),
            ExportOptions(),
            Alignment(),
            connect(np.zeros((1, 3, 0))),
        ],
        found,
    )
    return found


@pytest.mark.slow
def test_every_public_class_is_represented_in_one_line(instances):
    missing = sorted(kind.__name__ for kind in public_classes() - instances.keys())
    assert not missing
    for kind in instances:
        for value in instances[kind]:
            text = repr(value)
            assert "\n" not in text and len(text) <= LONGEST, f"{kind.__module__}.{kind.__name__}: {text}"


@pytest.mark.slow
def test_a_representation_names_shapes_and_main_numbers(instances):
    texts = {kind.__name__: repr(values[0]) for kind, values in instances.items()}
    assert texts["Factors"] == "Factors(B=float64[12, 2], C=float64[2, 3, 20], s=float64[12, 3])"
    assert "loss=" in texts["Snapshot"] and "loss=" in texts["Point"]
    assert texts["ProvenanceChain"] == "ProvenanceChain(steps=(SolveStep(...), SolveStep(...)))"
    assert texts["Settings"].startswith("Settings(rank=2, ")
