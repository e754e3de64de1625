"""Penalties on singular values: their values, slopes and bounds, and the theorem that makes them bilinear."""

import numpy as np
import pytest

import core
from core.penalties import LinearPenalty
from core.penalties.concave import ConcavePenalty
from core.problem import balance

CONCAVE = {
    "schatten": core.SchattenNorm(mu=0.7, p=0.4, epsilon=0.05),
    "log": core.LogPenalty(mu=0.3, epsilon=0.2),
    "capped": core.CappedNorm(mu=0.5, theta=1.5),
    "mcp": core.MCP(mu=0.8, theta=2.0),
    "scad": core.SCAD(mu=0.8, theta=3.7),
    "rank": core.RankPenalty(mu=0.6),
}
SPECTRAL = CONCAVE | {
    "nn": LinearPenalty(np.array([0.4])),
    "tnn": LinearPenalty(np.array([0.0, 0.0, 0.4])),
    "ramp": LinearPenalty(core.RampWeights(mu=0.1, free=2).weights(9, np.ones(9))),
}
concave = pytest.mark.parametrize("penalty", CONCAVE.values(), ids=CONCAVE)
spectral = pytest.mark.parametrize("penalty", SPECTRAL.values(), ids=SPECTRAL)


def test_the_concave_penalties_tried_are_all_that_there_are():
    concave = {name for name, kind in core.PENALTIES.items() if issubclass(kind, ConcavePenalty)}
    assert CONCAVE.keys() == concave


def spectra(count=20, length=5):
    random = np.random.default_rng(1)
    for _ in range(count):
        yield np.sort(4 * random.random(length) ** 2)[::-1]


@pytest.mark.parametrize(
    ("name", "sigma", "value"),
    [
        ("schatten", 1.2, 0.7 * (1.25**0.4 - 0.05**0.4)),
        ("log", 1.2, 0.3 * np.log(1 + 1.2 / 0.2)),
        ("capped", 1.2, 0.5 * 1.2),
        ("capped", 7.0, 0.5 * 1.5),
        ("mcp", 1.2, 0.8 * (1.2 - 1.2**2 / 4)),
        ("mcp", 7.0, 0.8 * 2 / 2),
        ("scad", 0.9, 0.8 * 0.9),
        # Fan and Li's formula with lambda = 1, a = 3.7, times 0.8
        ("scad", 1.2, 0.8 * (2 * 3.7 * 1.2 - 1.2**2 - 1) / (2 * 2.7)),
        ("scad", 7.0, 0.8 * 4.7 / 2),
        ("rank", (5.0, 1e-3, 1e-12, 0.0), 1.2),
    ],
)
def test_values_are_those_of_the_definitions(name, sigma, value):
    assert CONCAVE[name].value(np.atleast_1d(sigma)) == pytest.approx(value)


@spectral
def test_penalties_are_zero_at_zero_and_their_slopes_are_not_negative_and_never_fall(penalty):
    assert penalty.value(np.zeros(3)) == 0
    ties = [np.array([3.0, 3.0, 1.0, 1.0, 1e-300]), np.array([2.0, 0.0, 0.0]), np.zeros(4), np.ones(1)]
    near = 1.0 + np.arange(40)[::-1] * np.finfo(float).eps
    for sigma in [*spectra(), *ties, near]:
        slopes = penalty.slopes(sigma)
        assert slopes.shape == sigma.shape
        assert np.isfinite(slopes).all()
        assert (slopes >= 0).all()
        assert (np.diff(slopes) >= 0).all()
        for k in range(len(sigma)):
            raised = penalty.value(sigma + 0.3 * (np.arange(len(sigma)) <= k))
            assert raised >= penalty.value(sigma) * (1 - 1e-14)


@concave
def test_slopes_are_the_derivatives_of_the_value(penalty):
    for sigma in spectra():
        slopes = penalty.slopes(sigma)
        for k in range(len(sigma)):
            step = 1e-6 * np.eye(len(sigma))[k]
            difference = (penalty.value(sigma + step) - penalty.value(sigma - step)) / 2e-6
            assert slopes[k] == pytest.approx(difference, rel=1e-6, abs=1e-8)


@spectral
def test_the_linearization_lies_above(penalty):
    random = np.random.default_rng(2)
    kinks = [np.array([3.7, 2.0, 1.5, 1.0, 0.0]), np.array([1.5, 1.5, 0.0, 0.0, 0.0])]
    for sigma in [*spectra(), *kinks]:
        slopes = penalty.slopes(sigma)
        for other in [*spectra(5), *kinks, sigma * random.random(), np.zeros(5)]:
            bound = penalty.value(sigma) + slopes @ (other - sigma)
            assert penalty.value(other) <= bound * (1 + 1e-12) + 1e-12


@spectral
def test_no_factorization_costs_less_than_the_balanced_one_which_costs_f_of_the_singular_values(penalty):
    random = np.random.default_rng(3)
    B, C = random.standard_normal((8, 4)), random.standard_normal((4, 3, 6))
    factors = core.Factors(B, C, np.zeros((8, 3)))
    sigma = np.linalg.svd(factors.shapes().reshape(8, -1), compute_uv=False)[:4]
    least = penalty.value(sigma)
    even = balance(factors)
    assert penalty.value(even.gamma()) == pytest.approx(least, rel=1e-12)
    for spread in np.logspace(-3, 1, 60):  # near the balanced one, and far from it
        Q = np.eye(4) + spread * random.standard_normal((4, 4))
        other = core.Factors(even.B @ Q, np.tensordot(np.linalg.inv(Q), even.C, 1), even.s)
        np.testing.assert_allclose(other.shapes(), factors.shapes(), atol=1e-8)
        gamma = np.sort(other.gamma())[::-1]
        assert penalty.value(gamma) >= least * (1 - 1e-12)
    assert penalty.value(np.sort(factors.gamma())[::-1]) >= least


@concave
def test_weights_are_the_slopes_at_the_reference_continued_with_its_last(penalty):
    reference = np.array([5.0, 1.2, 0.7])
    np.testing.assert_array_equal(penalty.weights(2, reference), penalty.slopes(reference[:2]))
    longer = penalty.weights(5, reference)
    np.testing.assert_array_equal(longer[3:], penalty.slopes(reference)[[2, 2]])


def test_the_reference_of_weights_is_what_they_were_made_from():
    reference = np.array([9.0, 2.0, 0.5])
    penalty = core.WeightedNuclearNorm(xi=0.3, gamma=1e-2)
    assert penalty.reference(penalty.weights(3, reference)) == pytest.approx(reference, rel=1e-12)
    assert core.WeightedNuclearNorm(xi=0).reference(np.zeros(3)) is None


NUMBERED = [name for name in core.PENALTIES if name != "wnn"]


@pytest.mark.parametrize(
    ("name", "values", "sentence"),
    [
        *((name, {"mu": -1.0}, "mu is -1; accepted is a number") for name in NUMBERED),
        ("ramp", {"free": -1}, "free is -1"),
        ("tnn", {"free": -1}, "free is -1"),
        ("wnn", {"gamma": 0}, "gamma is 0"),
        ("schatten", {"p": 1.0}, "p is 1; accepted is a number above 0 and below 1"),
        *((name, {"epsilon": 0.0}, "epsilon is 0; accepted is a number") for name in ("schatten", "log")),
        *((name, {"theta": 0.0}, "theta is 0; accepted is a number") for name in ("capped", "mcp", "scad")),
    ],
)
def test_numbers_outside_their_range_get_a_sentence(name, values, sentence):
    with pytest.raises(core.InputError, match=sentence):
        core.PENALTIES[name](**values)
