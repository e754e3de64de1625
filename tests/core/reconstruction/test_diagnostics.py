"""What is said about reconstructions that a penalty has taken apart."""

import numpy as np
import pytest

import core
from core.cli import as_lines, summary_of
from core.problem import pad_rank, reference_singular_values
from core.reconstruction import remarks
from core.reconstruction.verdicts import reference_size, singular_values

pytestmark = pytest.mark.usefixtures("brief_search")

PENALTY = core.WeightedNuclearNorm()


@pytest.fixture(scope="module")
def sequence():
    return core.simulate("balloon", path="circle", frames=24, points=40, noise=0.3, seed=1)


ONLY = "only {} used at this penalty; lower the rank, or lower xi"


@pytest.mark.parametrize(
    ("penalty", "sentences"),
    [
        (core.WeightedNuclearNorm(xi=5e-3), []),
        (core.WeightedNuclearNorm(xi=0.5), [ONLY.format("2 of 4 basis shapes are")]),
        (core.WeightedNuclearNorm(xi=5.0), [ONLY.format("1 of 4 basis shapes is")]),
        (
            core.NuclearNorm(mu=10.0),
            ["the penalty is stronger than the data: everything was shrunk to zero; lower mu"],
        ),
    ],
)
def test_a_remark_names_the_shapes_that_a_penalty_has_removed(sequence, penalty, sentences):
    settings = core.Settings(rank=4, rotations="truth", penalty=penalty, starts=1, objective="wnn")
    result = core.reconstruct(sequence, settings)
    assert result.meta["remarks"] == sentences
    lines = as_lines(summary_of(result) | {"output": []})
    assert [line for line in lines if line.startswith("note: ")] == [f"note: {each}" for each in sentences]


@pytest.mark.slow
def test_a_remark_on_the_start_of_refined_depths_says_whose_it_is(sequence):
    penalty = core.WeightedNuclearNorm(xi=5.0)
    result = core.reconstruct(
        sequence, core.Settings(rank=4, rotations="truth", penalty=penalty, objective="depths")
    )
    assert result.meta["remarks"] == [f"start: {ONLY.format('1 of 4 basis shapes is')}"]


def test_singular_values_do_not_depend_on_the_gauge(simulated, random_factors):
    problem, _ = simulated(rank=3, weights=(0.1, 0.2, 0.3))
    factors = random_factors(problem)
    dense = np.linalg.svd(factors.shapes().reshape(10, -1), compute_uv=False)
    np.testing.assert_allclose(singular_values(factors), dense[:3], rtol=1e-10)
    assert singular_values(pad_rank(factors, 5)) == pytest.approx([*dense[:3], 0.0, 0.0], abs=1e-12)


def test_a_column_that_is_a_multiple_of_another_is_not_a_shape_of_its_own(simulated, random_factors):
    problem, _ = simulated()
    point = random_factors(problem)
    assert remarks(problem, point, PENALTY) == []
    twice = core.Factors(np.stack((point.B[:, 0], 3 * point.B[:, 0]), axis=1), point.C, point.s)
    assert remarks(problem, twice, PENALTY)[0].startswith("only 1 of 2 basis shapes is used")
    assert remarks(problem, twice, core.ExplicitWeights((0.1, 0.2)))[0].endswith("or lower the weights")
    assert remarks(problem, twice, core.LogPenalty())[0].endswith("or lower mu")
    broken = core.Factors(np.full_like(point.B, np.nan), point.C, point.s)
    assert remarks(problem, broken, PENALTY) == ["the reconstruction holds numbers that are not finite"]
    weak = core.Factors(point.B * np.array([1.0, 1e-6]), point.C, point.s)
    assert remarks(problem, weak, PENALTY) == []  # small, but there


@pytest.mark.parametrize("eta", [0.05, 1.0])
def test_the_size_that_zero_is_measured_against_is_that_of_the_closed_form(simulated, eta):
    problem, _ = simulated(eta=eta, missing=0.3)
    norm = np.linalg.norm(reference_singular_values(problem.data))
    assert reference_size(problem) == pytest.approx(norm, rel=1e-12)


def test_the_low_rank_problem_has_the_same_remarks(simulated):
    problem, _ = simulated()
    low = core.LowRankProblem(problem.tracks, problem.visible, 0.05, np.full(2, 1.0))
    zero = core.Factors(np.zeros((14, 2)), np.zeros((2, 3, 10)), np.zeros((14, 3)))
    assert "shrunk to zero" in remarks(low, zero, PENALTY)[0]
    half = core.Factors(np.eye(14, 2), np.zeros((2, 3, 10)), np.zeros((14, 3)))
    half.C[0] = 1.0
    assert remarks(low, half, PENALTY)[0].startswith("only 1 of 2 singular values is used")
