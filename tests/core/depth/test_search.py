"""The search of the depth refinement: subsets of points, reflections of blocks, and the stream of steps."""

from collections import Counter
from dataclasses import replace
from itertools import takewhile

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from core.depth import (
    DepthOptions,
    DepthPoint,
    DepthProblem,
    FrameBlock,
    candidate_blocks,
    followed_part,
    frame_suspicions,
    mirror_in_depth,
    point_distance,
    point_subset,
    refine_depths,
    refine_part,
    reflect_block,
    rigid_edges,
    search,
    suspicions,
)
from core.depth.alternatives import Pausing, differs
from core.depth.reflections import ATTACHED, mirrored_parts
from core.depth.schedule import FIRST, NOISY
from core.depth.subset import EDGE_EPS, _PathSystem
from core.foundation import PhaseKind


@pytest.fixture(scope="module", autouse=True)
def unposed():
    """No frames are posed anew, which takes longest and is tested by itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "FEW_FRAMES", 0)
        yield


def mirrored_singly(problem, point, frames):
    """Return the point with some frames mirrored, each turned onto the mean shape of all others."""
    for frame in frames:
        point = reflect_block(problem, point, mirror_in_depth(point), FrameBlock(frame, frame + 1))
    return point


def squared_distance(X, Z):
    """Return the squared distance of two centered shapes after the best rotation."""
    return Rotation.align_vectors(Z.T, X.T)[1] ** 2


def test_the_links_at_the_ends_of_a_mirrored_block_are_the_most_suspicious(simulated):
    problem, truth = simulated(points=20)
    wrong = reflect_block(problem, truth, mirror_in_depth(truth), FrameBlock(8, 15))
    scores = suspicions(problem, wrong, mirror_in_depth(wrong))
    assert set(np.argsort(-scores)[:2]) == {7, 14}
    assert FrameBlock(8, 15) in candidate_blocks(scores)[:3]


def test_blocks_lie_between_suspicious_links_and_hold_at_most_sixty_percent_of_the_frames():
    scores = np.full(9, -5.0)
    scores[[2, 5]] = 1.0, 0.5
    blocks = candidate_blocks(scores)
    assert set(blocks) == {FrameBlock(0, 3), FrameBlock(0, 6), FrameBlock(3, 6), FrameBlock(6, 10)}
    assert blocks[0] == FrameBlock(3, 6)
    assert [str(FrameBlock(3, 6)), str(FrameBlock(3, 4))] == ["frames 4-6", "frame 4"]
    assert candidate_blocks(np.full(9, -5.0)) == []


@pytest.mark.parametrize("affine", [False, True])
def test_of_a_rigid_object_mirrored_frames_alone_are_suspicious(affine):
    rng = np.random.default_rng(0)
    R = Rotation.random(12, random_state=0).as_matrix()
    Y = R @ rng.normal(size=(3, 20)) + np.array([0.0, 0.0, 9.0])[:, None]
    problem = DepthProblem(Y[:, :2] / (1.0 if affine else Y[:, 2:]), np.ones((12, 20), dtype=bool), affine)
    wrong = mirrored_singly(problem, DepthPoint.from_camera_points(problem, Y, R), (4, 7, 11))
    scores = frame_suspicions(problem, wrong, mirror_in_depth(wrong))
    assert set(np.flatnonzero(scores > 0)) == {4, 7, 11}
    X, M = problem.shapes(wrong), problem.shapes(mirror_in_depth(wrong))
    mean = np.mean([X[frame] for frame in range(12) if frame != 4], axis=0)
    plain, mirrored = (squared_distance(shape, mean) for shape in (X[4], M[4]))
    assert scores[4] == pytest.approx(np.log((plain + 1e-4) / (mirrored + 1e-4)))


def test_points_that_coincide_are_chosen_once(simulated):
    problem, truth = simulated(points=15)
    copies = np.repeat(np.arange(15), 4)
    repeated = DepthProblem(problem.tracks[:, :, copies], problem.visible[:, copies], False)
    chosen = point_subset(repeated, problem.shapes(truth)[:, :, copies], 30).points
    assert sorted(copies[chosen]) == [*range(15)]


@pytest.mark.parametrize("affine", [False, True])
def test_the_mirror_image_is_the_same_shape_before_an_orthogonal_camera_only(simulated, affine):
    problem, truth = simulated(affine=affine)
    mirrored = mirror_in_depth(truth)
    assert (point_distance(problem, mirrored, truth) < 1e-9) == affine
    assert differs(problem, mirrored, [truth]) != affine and not differs(problem, truth, [truth])


@pytest.mark.parametrize("affine", [False, True])
def test_depths_of_other_points_follow_from_those_of_a_subset(simulated, affine):
    problem, truth = simulated(affine=affine, occlusion=0.1)
    subset = point_subset(problem, problem.shapes(truth), 25)
    assert not subset.complete and subset.part.shape == (24, 25)
    extended = subset.extend(subset.restrict(truth), truth.rays)
    np.testing.assert_allclose(extended.rotations, truth.rotations)
    # To the mean of all points, whose place an orthogonal camera does not measure.
    own, known = extended.camera_points()[:, 2], truth.camera_points()[:, 2]
    own, known = (z - z.mean(axis=1, keepdims=True) for z in (own, known))
    assert np.abs(own - known).mean() < 0.1 * np.abs(known).mean()


@pytest.mark.parametrize("affine", [False, True])
def test_depths_that_keep_their_distances_to_a_subset_are_nearer_to_the_truth(simulated, affine, error):
    problem, truth = simulated(affine=affine, points=120, occlusion=0.1)
    subset = point_subset(problem, problem.shapes(truth), 40)
    free, kept = (
        subset.extend(subset.restrict(truth), truth.rays, DepthOptions(isometry)) for isometry in (0.0, 0.3)
    )
    assert error(problem, kept, truth) < 0.6 * error(problem, free, truth)
    alone = subset.extend(subset.restrict(truth), truth.rays)
    np.testing.assert_array_equal(free.depths, alone.depths)


def test_systems_of_every_nth_frame_are_as_good_as_one_of_all(simulated, error, monkeypatch):
    problem, truth = simulated(points=80, frames=48, occlusion=0.1)
    subset = point_subset(problem, problem.shapes(truth), 40)
    errors = []
    for most in (48, 20):
        monkeypatch.setattr("core.depth.subset.LARGEST_SYSTEM", most)
        extended = subset.extend(subset.restrict(truth), truth.rays, DepthOptions())
        errors.append(error(problem, extended, truth))
    assert errors[1] < 1.05 * errors[0]


@pytest.mark.parametrize("affine", [False, True])
def test_the_system_of_the_lengths_is_the_least_squares_of_their_linear_variations(simulated, affine):
    problem, truth = simulated(affine=affine, frames=6, points=20)
    subset = point_subset(problem, problem.shapes(truth), 8)
    system = _PathSystem.about(subset, subset.restrict(truth), slice(None))
    others = np.setdiff1d(np.arange(20), subset.points)[:2]
    paths = system.paths(truth.rays[:, :, others])
    z = system.depths(*system.charges(paths))
    ends = system.nearest(paths, z, 3)
    H, right = system.lengths(paths, z, ends, 0.7)
    for p in range(len(others)):
        x = (paths.a * z[:, None] - paths.b)[:, :, p]
        own = np.linalg.norm(x.mean(axis=0) - system.shapes.mean(axis=0).T, axis=1)
        np.testing.assert_array_equal(ends[p], np.argsort(own)[:3])

        def lengths(depth, p=p):
            x = (paths.a * depth[:, None] - paths.b)[:, :, p]
            return np.linalg.norm(x[:, :, None] - system.shapes[:, :, ends[p]], axis=1)  # (F, n)

        step = 1e-5
        slope = (lengths(z[:, p, None] + step) - lengths(z[:, p, None] - step)) / (2 * step)
        now = lengths(z[:, p, None])
        weight = 0.7 / (now.var(axis=0) + EDGE_EPS**2 * np.square(now).mean(axis=0))
        centering = np.eye(6) - 1 / 6
        expected = sum(w * np.diag(c) @ centering @ np.diag(c) for w, c in zip(weight, slope.T, strict=True))
        np.testing.assert_allclose(H[p], expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())
        target = sum(
            w * c * (centering @ (c * z[:, p] - length))
            for w, c, length in zip(weight, slope.T, now.T, strict=True)
        )
        np.testing.assert_allclose(right[p], target, rtol=1e-4, atol=1e-5 * np.abs(target).max())


@pytest.fixture(scope="module")
def repaired(simulated):
    """Return a problem, its truth, a start with a mirrored block, and the steps of its refinement."""
    problem, truth = simulated(points=30)
    start = reflect_block(problem, truth, mirror_in_depth(truth), FrameBlock(9, 16))
    return problem, truth, start, list(refine_depths(problem, {"mirrored": start}, DepthOptions()))


def test_a_mirrored_block_is_found_and_repaired(repaired, error):
    problem, truth, start, steps = repaired
    assert error(problem, start, truth) > 0.05
    assert error(problem, steps[-1].best, truth) < 0.02
    assert any("frames 10-16" in step.phase.name for step in steps)


@pytest.mark.slow
@pytest.mark.parametrize(("sweeps", "rounds", "few"), [(0, 0, 0), (3, 0, 0), (0, 5, 0), (0, 0, 20)])
def test_frames_in_no_order_are_mirrored_one_after_the_other(
    simulated, monkeypatch, error, sweeps, rounds, few
):
    """Blocks alone do not suffice: there are too many runs. The finest levels and new poses do, too."""
    monkeypatch.setattr("core.depth.search.FEW_FRAMES", few)
    monkeypatch.setattr("core.depth.search.SWEEPS", sweeps)
    monkeypatch.setattr("core.depth.search.JUDGED_ROUNDS", rounds)
    problem, truth = simulated(frames=20, points=20)
    order = np.random.default_rng(1).permutation(20)
    problem = DepthProblem(problem.tracks[order], problem.visible[order], affine=False)
    truth = DepthPoint(truth.rotations[order], truth.depths[order], truth.rays[order], affine=False)
    start = mirrored_singly(problem, truth, (1, 3, 6, 8, 11, 13, 16, 18))
    *_, last = refine_depths(problem, {"mirrored": start}, DepthOptions())
    found = error(problem, last.best, truth)
    assert found < 0.02 if sweeps or rounds or few else found > 0.05


def test_starts_that_come_back_or_end_far_above_leave_out_the_finest_levels_that_follow(simulated):
    problem, truth = simulated(points=30)
    state = search._Search(followed_part(problem, truth), DepthOptions(), truth, planned=1.0, loose=False)

    def end_of(start, other=None):
        steps = Pausing(state._finest("a", start, other))
        assert [*steps]
        return steps.value

    shown = end_of(truth)
    assert np.isfinite(shown.energy) and len(shown.passed) == len(NOISY)
    jumped = mirrored_singly(problem, truth, range(3, 20, 2))
    for start, far in ((shown.point, False), (jumped, True)):
        end = end_of(start, shown)
        assert np.isinf(end.energy) and len(end.passed) == 1
        excess = problem.shape[1] * (end.passed[0][1] - shown.passed[0][1])
        assert (excess > search.FAR_ABOVE) == far
        assert len(end_of(start).passed) == len(NOISY)


@pytest.fixture
def nothing_mirrored_back(monkeypatch):
    for name in ("ROUNDS", "SWEEPS", "JUDGED_ROUNDS"):
        monkeypatch.setattr(f"core.depth.search.{name}", 0)
    return monkeypatch


@pytest.mark.slow
def test_ends_that_are_ranked_on_all_points_have_the_energies_of_these(simulated, nothing_mirrored_back):
    problem, truth = simulated(frames=12, points=60)
    starts = {"true": truth, "mirrored": mirror_in_depth(truth)}
    # Where starts differ all are ranked; what is nearly as low, here nothing, passes the finest levels, too.
    for agreed, ranked in ((3, {"true", "mirrored"}), (0, {"true"})):
        nothing_mirrored_back.setattr("core.depth.search.AGREED", agreed)
        steps = list(refine_depths(problem, starts, DepthOptions()))
        levels = {step.phase.name: step for step in steps if step.phase.kind is PhaseKind.ALL_POINTS}
        lowest, other = steps[-1].ends
        assert levels.keys() == ranked and lowest.name == "true" and other.name == "mirrored"
        assert lowest.energy == lowest.lowest and lowest.point is steps[-1].best
        assert other.excess > 0
        if other.name in ranked:
            assert other.excess == levels["mirrored"].energy - levels["true"].energy


@pytest.mark.slow
def test_ends_of_starts_that_differ_pass_the_finest_level_where_they_are_nearly_as_low(
    simulated, nothing_mirrored_back
):
    nothing_mirrored_back.setattr("core.depth.search.TIE_RANKED", np.inf)
    problem, truth = simulated(frames=12, points=30)
    steps = list(refine_depths(problem, {"mirrored": mirror_in_depth(truth), "true": truth}, DepthOptions()))
    last = steps[-1]
    done = [step.fraction for step in steps]
    assert done == sorted(done) and done[-1] == 1.0
    fine = [step.fraction for step in steps if step.phase.kind is PhaseKind.FINE]
    assert fine[-1] < 0.9  # the second end has its finest levels before it
    lowest, other = last.ends
    assert (lowest.name, other.name) == ("true", "mirrored")
    assert lowest.energy < other.energy == other.lowest + other.excess and lowest.point is last.best
    before = DepthOptions().finest(loose=False)[-1]
    for level, end, known in (
        (last.objective.level, lowest, last.best_energy),
        (before, other, other.energy),
    ):
        edges = DepthOptions().energy(problem, level, end.point).edges  # about its own edges
        energy = replace(last.objective, level=replace(level, isometry=0.3 * level.share), edges=edges)
        value = energy.value_and_gradient(energy.start(end.point))[0] / problem.visible.size
        assert value == pytest.approx(known, rel=3e-3)


def test_of_starts_that_meet_one_goes_on_and_where_most_meet_one_far_above_them_does_not(
    simulated, monkeypatch
):
    for name in ("ROUNDS", "SWEEPS", "JUDGED_ROUNDS"):  # nothing is mirrored back
        monkeypatch.setattr(f"core.depth.search.{name}", 0)
    problem, truth = simulated(frames=12, points=30)
    rng = np.random.default_rng(0)

    def disturbed(size):
        return replace(truth, depths=truth.depths * np.exp(size * rng.normal(size=truth.depths.shape)))

    starts = {"mirrored": mirror_in_depth(truth), "true": truth, "near": disturbed(0.01)}
    for more, apart in (({}, {"mirrored"}), ({"also near": disturbed(0.01)}, set())):
        steps = list(refine_depths(problem, starts | more, DepthOptions()))
        count = Counter(step.phase.name for step in steps if step.phase.kind is PhaseKind.DEPTH_START)
        assert count.keys() == starts.keys() | more.keys()
        went_on = {name for name in count if count[name] > FIRST.iterations + 1}
        assert went_on & {"mirrored"} == apart and len(went_on - apart) == 1
        assert {end.name for end in steps[-1].ends} == went_on
        assert steps[-1].ends[0].name != "mirrored"
    monkeypatch.setattr("core.depth.search.FEW_FRAMES", 12)
    started = takewhile(
        lambda step: step.phase.kind is PhaseKind.DEPTH_START, refine_depths(problem, starts, DepthOptions())
    )
    count = Counter(step.phase.name for step in started)
    assert min(count[name] for name in starts) > FIRST.iterations + 1


def test_ends_of_few_frames_compete_on_some_of_the_points(simulated, monkeypatch, error):
    monkeypatch.setattr("core.depth.search.FEW_FRAMES", 8)
    for name in ("MOST_COMPARED", "SEARCHED"):
        monkeypatch.setattr(f"core.depth.search.{name}", 30)
    problem, truth = simulated(frames=8, points=45)
    wrong = reflect_block(problem, truth, mirror_in_depth(truth), FrameBlock(2, 4))
    steps = list(refine_depths(problem, {"wrong": wrong, "true": truth}, DepthOptions()))
    assert steps[0].best is wrong  # nothing better is known
    assert all(step.best.depths.shape == (8, 45) for step in steps)
    fractions = [step.fraction for step in steps]
    assert fractions == sorted(fractions) and fractions[-1] == 1.0
    compared = [step.phase.kind not in search.SEARCHING and step.phase.subset for step in steps]
    last = len(steps) - compared[::-1].index(True)
    assert {step.phase.stage.name for step in steps[:last]} == {"search"} and fractions[last] < 0.95
    assert all(step.objective is None for step in steps[:last])
    assert [step.phase.kind for step in steps[last : last + 2]] == [PhaseKind.FINE] * 2
    assert not any(step.phase.subset for step in steps[last:])
    end = steps[-1]
    assert error(problem, end.best, truth) < 0.01 and end.objective.problem.shape == (8, 45)
    assert end.ends[0].point is end.best and all(each.excess >= 0.0 for each in end.ends)
    assert end.ends[0].energy != end.best_energy  # it is that before the closing level


@pytest.mark.slow
def test_ends_that_mirroring_makes_one_are_followed_once(simulated, error):
    problem, truth = simulated(points=40)
    wrong = reflect_block(problem, truth, mirror_in_depth(truth), FrameBlock(9, 16))
    steps = list(refine_depths(problem, {"mirrored": wrong, "true": truth}, DepthOptions()))
    phases = {step.phase for step in steps}
    assert any(phase.kind is PhaseKind.MIRROR and "mirrored" in phase.name for phase in phases)
    assert sum(phase.kind is PhaseKind.ALL_POINTS for phase in phases) == len(steps[-1].ends) == 1
    assert error(problem, steps[-1].best, truth) < 0.01


def test_the_stream_ends_once_and_its_share_never_decreases(repaired):
    *_, steps = repaired
    assert [step.finished for step in steps].index(True) == len(steps) - 1
    shares = [step.fraction for step in steps]
    assert shares == sorted(shares) and shares[-1] == 1.0
    assert steps[-1].ends and not steps[-2].ends


@pytest.mark.slow
def test_without_a_search_the_lowest_of_the_starts_and_of_the_end_of_the_first_is_followed(simulated, error):
    problem, truth = simulated(frames=12, points=50)
    noise = np.random.default_rng(0).normal(size=(12, 50))
    disturbed = replace(truth, depths=truth.depths * np.exp(0.01 * noise))
    starts = {"near": disturbed, "turned": mirror_in_depth(disturbed)}
    for first, second in (("near", "turned"), ("turned", "near")):
        order = {first: starts[first], second: starts[second]}
        steps = list(refine_depths(problem, order, DepthOptions(thorough=False)))
        assert [end.name for end in steps[-1].ends] == ["near"]
        coarse = {step.phase.name for step in steps if step.phase.kind is PhaseKind.DEPTH_START}
        assert coarse == {first}
        assert not any(step.phase.kind is PhaseKind.MIRROR for step in steps)
        assert error(problem, steps[-1].best, truth) < error(problem, disturbed, truth)


@pytest.mark.slow
def test_of_many_points_a_part_is_refined_and_the_others_follow_from_it(simulated, monkeypatch, error):
    monkeypatch.setattr("core.depth.following.FOLLOWED", 600)
    monkeypatch.setattr("core.depth.following.FEWEST_FOLLOWED", 25)
    problem, truth = simulated(points=120)
    noise = np.random.default_rng(0).normal(size=(24, 120))
    disturbed = replace(truth, depths=truth.depths * np.exp(0.01 * noise))
    subset = followed_part(problem, disturbed)
    assert subset.part.shape == (24, 25) and not subset.complete
    starts = {"near": subset.restrict(disturbed)}
    *_, (of_part, last) = refine_part(subset, disturbed, starts, DepthOptions())
    assert last.finished and last.best.depths.shape == (24, 120) and last.coarser is None
    assert of_part.finished and of_part.best.depths.shape == of_part.coarser.depths.shape == (24, 25)
    assert [end.name for end in last.ends] == ["near"] and last.ends[0].point is last.best
    carried = subset.restrict(last.best)
    np.testing.assert_allclose(carried.depths, of_part.best.depths, rtol=1e-9)
    seen = np.broadcast_to(problem.visible[:, None, subset.points], carried.rays.shape)
    np.testing.assert_allclose(carried.rays[seen], problem.tracks[:, :, subset.points][seen])
    assert error(problem, last.best, truth) < 0.65 * error(problem, disturbed, truth)


def test_of_few_points_all_are_followed(simulated):
    problem, truth = simulated(frames=12, points=15)
    subset = followed_part(problem, truth)
    assert subset.complete and subset.part.lateral is not None
    assert subset.restrict(truth) is truth and subset.extend(truth, truth.rays) is truth
    steps = refine_part(subset, truth, {"truth": truth}, DepthOptions(thorough=False))
    assert all(of_part.best is step.best for of_part, step in steps)


@pytest.mark.slow
def test_an_orthogonal_balloon_is_not_bent_to_keep_its_lengths(simulated, error):
    problem, truth = simulated("balloon", affine=True, points=40)
    rng = np.random.default_rng(0)
    disturbed = replace(truth, depths=truth.depths + 0.05 * problem.size * rng.normal(size=(24, 40)))
    assert problem.anchored(disturbed).inflates
    *_, last = refine_depths(problem, {"near": disturbed}, DepthOptions())
    assert error(problem, last.best, truth) < error(problem, disturbed, truth)


def test_rigid_edges_bring_two_parts_that_turn_against_each_other_nearer_to_the_truth(error, monkeypatch):
    rng = np.random.default_rng(7)
    mean = rng.uniform(-1.0, 1.0, size=(3, 40))
    time, shift = np.linspace(0.0, 1.0, 24)[:, None], rng.uniform(0.5, 2.0, size=(1, 3))
    bend = Rotation.from_rotvec(0.5 * np.sin(2.0 * np.pi * (time * shift + rng.uniform(size=(1, 3)))))
    shapes = np.where(mean[0] > 0.0, bend.as_matrix() @ mean, mean)
    turns = Rotation.from_rotvec(np.linspace([0.0, -1.0, 0.0], [0.3, 1.0, 0.0], 24)).as_matrix()
    Y = turns @ shapes + np.array([0.0, 0.0, 6.0])[:, None]
    exact = DepthProblem(Y[:, :2] / Y[:, 2:], np.ones((24, 40), dtype=bool), False)
    truth = DepthPoint.from_camera_points(exact, Y, turns)
    tracks = exact.tracks + 3e-4 * rng.normal(size=(24, 2, 40))
    problem = replace(exact, tracks=tracks, noise=3e-4).anchored(truth)
    start, options = {"near": replace(truth, rays=tracks)}, DepthOptions(thorough=False, coarse=False)
    *_, rigid = refine_depths(problem, start, options)
    assert rigid.objective.level.rigid is not None and rigid.phase.part == rigid.phase.parts == 9
    monkeypatch.setattr("core.depth.schedule.has_parts", lambda *_: False)
    *_, all_edges = refine_depths(problem, start, options)
    assert all_edges.objective.level.rigid is None and all_edges.phase.parts == 4
    assert error(problem, rigid.best, truth) < 0.85 * error(problem, all_edges.best, truth)


@pytest.fixture(scope="module")
def body():
    """Return a problem of a trunk and two arms of six points that rise together, and its true point."""
    rng, frames = np.random.default_rng(10), 26
    trunk = rng.uniform(-1.0, 1.0, size=(3, 20)) * np.array([[0.5], [1.0], [0.3]])
    time, along = np.linspace(0.0, 1.0, frames), np.linspace(0.15, 0.8, 3)
    rise = np.where((time > 0.3) & (time < 0.75), np.sin(np.pi * (time - 0.3) / 0.45) ** 2, 0.0)
    shapes = [np.broadcast_to(trunk, (frames, 3, 20))]
    for side in (-1.0, 1.0):
        angle, end = 1.9 * rise + 0.05 * np.sin(9.0 * time + side), np.array([[0.6 * side], [0.8], [0.0]])
        for bend, wide, deep in ((1.0, 0.45, 0.9), (1.2, 0.25, 1.0)):
            turned = np.full(frames, wide * side), -np.cos(bend * angle), -deep * np.sin(bend * angle)
            direction = np.stack(turned, axis=1)
            direction /= np.linalg.norm(direction, axis=1, keepdims=True)
            shapes.append(end + direction[:, :, None] * along)
            end = shapes[-1][:, :, -1:]
    X = np.concatenate(shapes, axis=2) + 0.01 * rng.normal(size=(1, 3, 32))
    turns = Rotation.from_rotvec(np.linspace([0.0, -0.2, 0.0], [0.1, 0.2, 0.0], frames)).as_matrix()
    Y = turns @ X + np.array([[0.0], [0.0], [8.0]])
    exact = DepthProblem(Y[:, :2] / Y[:, 2:], np.ones((frames, 32), dtype=bool), False)
    truth = DepthPoint.from_camera_points(exact, Y, turns)
    tracks = exact.tracks + 3e-4 * rng.normal(size=exact.tracks.shape)
    return replace(exact, tracks=tracks, noise=3e-4).anchored(truth), replace(truth, rays=tracks), rise > 0.05


def connected(inside, edges):
    """Return the connected parts of some points, each with the points outside that it has edges to."""
    links = {tuple(edge) for edge in (*edges.T.tolist(), *edges[::-1].T.tolist())}
    left, parts = set(inside), []
    while left:
        part, new = set(), {min(left)}
        while new:
            part |= new
            near = {other for one, other in links if one in part} - part
            new = near & left
        parts.append((sorted(part), sorted(near)))
        left -= part
    return parts


def test_parts_are_mirrored_about_what_they_are_attached_to(body):
    problem, truth, _ = body
    X, before = problem.shapes(truth), truth.relief
    order = np.argsort(np.square(X - X.mean(axis=0)).sum(axis=(0, 1)))
    edges, mirrored = rigid_edges(X, 8, ATTACHED), list(mirrored_parts(problem, truth, 8))
    for starts, count in ((mirrored[:2], 16), (mirrored[2:], 7)):  # the half and the fifth that move most
        outside, inside = order[:-count], order[-count:]
        sides = []
        for start in starts:
            change = start.relief - before
            change -= change[:, outside].mean()
            sides.append(np.abs(change).max(axis=1) > 1e-9)
            assert np.abs(change[:, outside]).max() < 1e-12
            for part, near in connected(inside.tolist(), edges):
                middle = before[:, near or part].mean(axis=1, keepdims=True)
                expected = np.where(sides[-1][:, None], 2.0 * (middle - before[:, part]), 0.0)
                np.testing.assert_allclose(change[:, part], expected, atol=1e-12)
        assert (sides[0] ^ sides[1]).all() and 5 < sides[0].sum() < 21


def test_of_points_with_the_same_track_some_are_mirrored(body):
    problem, truth, _ = body
    points = [0, 1, 2, 3, 4, 5, 6, 7, 31, 31, 31, 31]
    copies = DepthProblem(problem.tracks[:, :, points], problem.visible[:, points], False)
    point = replace(truth, depths=truth.depths[:, points], rays=truth.rays[:, :, points])
    assert len(list(mirrored_parts(copies, point, 8))) == 4


def test_arms_that_were_mirrored_together_are_found(body, error, monkeypatch):
    problem, truth, raised = body
    edges, relief = rigid_edges(problem.shapes(truth), 8, ATTACHED), np.array(truth.relief)
    for part, near in connected(range(20, 32), edges):
        middle = truth.relief[:, near or part].mean(axis=1, keepdims=True)
        relief[:, part] = 2.0 * middle - truth.relief[:, part]
    start = {"mirrored": truth.with_relief(np.where(raised[:, None], relief, truth.relief))}
    *_, found = refine_depths(problem, start, DepthOptions())
    monkeypatch.setattr("core.depth.search.has_parts", lambda *_: False)
    *_, before = refine_depths(problem, start, DepthOptions())
    assert error(problem, found.best, truth) < 0.1 < 0.3 < error(problem, before.best, truth)
    assert found.ends[0].energy < before.ends[0].energy
