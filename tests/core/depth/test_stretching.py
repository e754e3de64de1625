"""Objects whose lengths do not stay: how they are told from others, and how little their lengths count."""

from dataclasses import replace

import numpy as np
import pytest

from core import PRESETS, iterate, procrustes_mm, simulate
from core.depth import DepthOptions, DepthPoint, DepthProblem, Followed, followed_part, refine_depths
from core.depth.alternatives import is_stretching, may_stretch, modes
from core.depth.edges import neighbor_edges
from core.depth.schedule import LIGHTER, NOISY, mode_nats


@pytest.fixture
def near(simulated):
    """Return a problem of an object of 60 points, its true point, and one with other depths."""

    def make(kind):
        problem, truth = simulated(kind, points=60)
        noise = np.random.default_rng(0).normal(size=truth.depths.shape)
        return problem.anchored(truth), truth, replace(truth, depths=truth.depths * np.exp(0.01 * noise))

    return make


def test_nats_of_modes_are_half_of_a_log_det():
    D = np.random.default_rng(0).normal(size=(6, 20))
    expected = 0.5 * np.linalg.slogdet(D @ D.T / (6 * 0.3**2) + np.eye(6))[1]
    assert mode_nats(D, 0.3) == pytest.approx(expected, rel=1e-12)


def test_an_object_that_inflates_varies_its_lengths_by_one_mode(simulated):
    problem, truth = simulated("paper", points=40)
    mean, R = problem.shapes(truth).mean(axis=0), truth.rotations
    sizes = np.exp(0.1 * np.sin(np.arange(24.0)))[:, None, None]
    edges, expected = neighbor_edges(mean[None], 8), 0.5 * np.log1p(40 * np.var(np.log(sizes)) / 0.03**2)
    for shapes, nats in ((np.broadcast_to(mean, (24, 3, 40)), 0.0), (sizes * mean, expected)):
        Y = R @ shapes + np.array([[0.0], [0.0], [9.0]])
        seen = DepthProblem(Y[:, :2] / Y[:, 2:], np.ones((24, 40), dtype=bool), False)
        point = DepthPoint.from_camera_points(seen, Y, R)
        assert modes(seen, point, edges, 0.04)[1] == pytest.approx(nats, abs=1e-9)


@pytest.mark.parametrize(("kind", "expected"), [("balloon", True), ("stretch", True), ("paper", False)])
def test_balloons_and_elastic_sheets_stretch_and_paper_does_not(near, kind, expected):
    problem, truth, _ = near(kind)
    assert is_stretching(problem, truth, DepthOptions()) is expected
    assert may_stretch(problem, truth, DepthOptions()) is expected
    assert not may_stretch(problem, truth, DepthOptions(isometry=0.0))
    assert not may_stretch(replace(problem, inflates=True), truth, DepthOptions())


def test_lengths_that_do_not_stay_count_a_sixth_and_follow_what_is_asked_for(near):
    problem, truth, _ = near("balloon")
    lighter, options = replace(problem, length_share=LIGHTER), DepthOptions(isometry=0.6)
    energy = options.energy(lighter, NOISY[-1], truth)
    assert energy.level.isometry == pytest.approx(0.1)
    moved = replace(options, isometry=1.2).objective(energy, lighter.noise, truth)
    assert moved.level.isometry == pytest.approx(0.2)
    assert options.closing(problem, truth) and not options.closing(lighter, truth)


def test_a_balloon_is_solved_again_with_lighter_lengths_and_comes_nearer_to_the_truth(
    near, error, monkeypatch
):
    problem, truth, start = near("balloon")
    *_, found = refine_depths(problem, {"near": start}, DepthOptions())
    assert found.objective.problem.length_share == LIGHTER
    assert found.ends[0].name.endswith(", lighter lengths")
    monkeypatch.setattr("core.depth.search.is_stretching", lambda *_: False)
    *_, before = refine_depths(problem, {"near": start}, DepthOptions())
    assert before.objective.problem.length_share == 1.0
    assert error(problem, found.best, truth) < 0.95 * error(problem, before.best, truth)


def test_the_shape_that_is_shown_stays_until_the_second_search_has_ended(near):
    problem, _, start = near("balloon")
    steps = list(refine_depths(problem, {"near": start}, DepthOptions()))
    again = [step for step in steps if "lighter" in step.phase.name]
    assert again and len({id(step.best) for step in again}) == 1
    shares = [step.fraction for step in steps]
    assert shares == sorted(shares) and shares[-1] == 1.0


def test_a_shape_of_a_file_is_followed_with_the_weight_that_it_was_found_with(near):
    problem, truth, _ = near("balloon")
    for share in (1.0, LIGHTER):
        subset = followed_part(problem, truth).with_length_share(share)
        lengths = {"edge_eps": 0.004, "share": 0.7, "rigid": None, "weights": "of a file"}
        followed = Followed.from_shape(subset, truth, DepthOptions(), lengths)
        assert followed.objective.problem.length_share == share
        level = followed.objective.level
        assert (level.edge_eps, level.share, level.weights) == (0.004, 0.7, (1.0,))
        assert level.isometry == pytest.approx(0.3 * 0.7 * share)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "path", "most"), [("stretch", "tricky", 0.3), ("paper", "line", 1.0), ("balloon", "circle", 0.8)]
)
def test_bundled_objects_are_found_where_one_weight_of_the_lengths_led_elsewhere(kind, path, most):
    scene = replace(simulate(kind, path=path, noise=0.3), companion=None)
    *_, last = iterate(scene, PRESETS["recommended"])
    assert procrustes_mm(last.geometry.points, scene.truth).mean < most
    assert last.geometry.refinement["length_share"] == (1.0 if kind == "paper" else LIGHTER)
