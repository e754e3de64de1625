from dataclasses import replace

import numpy as np
import pytest

from core import PRESETS, ExplicitWeights, InputError, WeightedNuclearNorm


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


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        *(("eta", eta, "0 < eta <= 1") for eta in (0.0, -0.1, 1.1)),
        *(
            ("visible", np.ones(shape, bool), r"accepted are \(F, 2, P\), \(F, P\)")
            for shape in ((10, 13), (9, 14), (14, 10), (10,))
        ),
        ("tracks", np.zeros((10, 2, 14), complex), "an array holds complex128 numbers"),
        ("rotations", np.eye(3) * np.where(np.arange(10) == 3, 1.01, 1.0)[:, None, None], "frame 3"),
    ],
)
def test_what_makes_no_problem_is_refused(simulated, name, value, sentence):
    with pytest.raises(InputError, match=sentence):
        replace(simulated()[0], **{name: value})


def test_a_penalty_is_given_as_a_value_or_by_its_name(simulated):
    problem, _ = simulated()
    named = problem.with_penalty("wnn", 3)
    assert named.same_objective(problem.with_penalty(WeightedNuclearNorm(), 3)) and named.rank == 3
    with pytest.raises(InputError, match="penalty is 'wn'; accepted are wnn, nn,"):
        problem.with_penalty("wn", 3)


def test_a_rank_above_the_size_of_the_matrix_is_refused(simulated):
    problem, _ = simulated(frames=3, points=4)
    with pytest.raises(InputError, match="rank 4"):
        problem.with_weights(np.ones(4))


def test_explicit_weights_are_as_many_as_the_rank():
    with pytest.raises(InputError, match="2 weights are given for rank 3"):
        ExplicitWeights((1, 2)).weights(3, np.ones(3))


def test_the_paper_preset_has_the_settings_of_section_5_3():
    paper = PRESETS["paper"]
    assert (paper.method, paper.rank, paper.eta) == ("admm+bilinear", 2, 0.05)
    assert paper.penalty == WeightedNuclearNorm(xi=5e-3, gamma=paper.penalty.gamma)
    assert (paper.rotations, paper.intrinsics) == ("companion", "gt")
