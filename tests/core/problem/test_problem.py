"""What a problem and its weights refuse, and what the penalties make of their numbers."""

from __future__ import annotations

import numpy as np
import pytest

from core import (
    PRESETS,
    ExplicitWeights,
    InputError,
    NonRigidProblem,
    NuclearNorm,
    TruncatedNuclearNorm,
    WeightedNuclearNorm,
)


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ((2.0, 1.0), "non-decreasing"),
        ((-1.0, 1.0), "weight 1 is -1"),
        ((1.0, np.nan), "weight 2 is not a finite number"),
        ((), "at least one number"),
    ],
)
def test_weights_that_change_the_problem_are_refused_with_the_reason(simulated, weights, sentence):
    problem, _ = simulated()
    with pytest.raises(InputError, match=sentence):
        problem.with_weights(weights)


@pytest.mark.parametrize("eta", [0.0, -0.1, 1.1])
def test_eta_outside_its_range_is_refused(simulated, eta):
    problem, _ = simulated()
    with pytest.raises(InputError, match="0 < eta <= 1"):
        NonRigidProblem(problem.tracks, problem.visible, problem.rotations, eta, problem.weights)


@pytest.mark.parametrize("shape", [(10, 13), (9, 14), (14, 10), (10,)])
def test_tracks_and_visibility_of_other_sizes_are_refused(simulated, shape):
    problem, _ = simulated()
    with pytest.raises(InputError, match=r"accepted are \(F, 2, P\), \(F, P\)"):
        NonRigidProblem(problem.tracks, np.ones(shape, bool), problem.rotations, 0.05, problem.weights)


def test_a_matrix_that_is_not_a_rotation_is_refused_with_its_frame(simulated):
    problem, _ = simulated()
    R = problem.rotations.copy()
    R[3] *= 1.01
    with pytest.raises(InputError, match="frame 3"):
        NonRigidProblem(problem.tracks, problem.visible, R, 0.05, problem.weights)


def test_a_rank_above_the_size_of_the_matrix_is_refused(simulated):
    problem, _ = simulated(frames=3, points=4)
    with pytest.raises(InputError, match="rank 4"):
        problem.with_weights(np.ones(4))


def test_penalties_name_non_decreasing_weights():
    sigma = np.array([10.0, 3.0, 0.5, 0.0])
    np.testing.assert_allclose(NuclearNorm(mu=2).weights(3, sigma), [2, 2, 2])
    np.testing.assert_allclose(TruncatedNuclearNorm(mu=2, free=1).weights(3, sigma), [0, 2, 2])
    np.testing.assert_allclose(
        WeightedNuclearNorm(xi=0.5, gamma=0.1).weights(3, sigma), [0.5 / 10.1, 0.5 / 3.1, 0.5 / 0.6]
    )
    np.testing.assert_allclose(ExplicitWeights((1, 2)).weights(2, sigma), [1, 2])
    assert (np.diff(WeightedNuclearNorm().weights(6, sigma)) >= 0).all()


def test_the_paper_preset_has_the_settings_of_section_5_3():
    paper = PRESETS["paper"]
    assert (paper.method, paper.rank, paper.eta) == ("admm+bilinear", 2, 0.05)
    assert paper.penalty == WeightedNuclearNorm(xi=5e-3, gamma=paper.penalty.gamma)
    assert (paper.rotations, paper.intrinsics) == ("companion", "gt")


def test_explicit_weights_are_as_many_as_the_rank():
    with pytest.raises(InputError, match="2 weights are given for rank 3"):
        ExplicitWeights((1, 2)).weights(3, np.ones(3))
