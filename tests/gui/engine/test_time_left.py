"""The time that a run still takes: by a clock that the tests set, while the share that is done grows."""

from dataclasses import replace

import numpy as np
import pytest

from core import Settings
from core.foundation import Phase, PhaseKind
from nrsfm_gui.engine.run_control import TimeLeft
from nrsfm_gui.model.run import Run

TICK = 0.1  # seconds between two updates


def shown(shares, *, running=None):
    """Return the estimates while the share grows, one per tick."""
    left = TimeLeft()
    running = [True] * len(shares) if running is None else running
    pairs = enumerate(zip(shares, running, strict=True))
    found = [left.update(TICK * k, share, running=on) for k, (share, on) in pairs]
    return np.array([np.nan if each is None else each for each in found])


def test_of_an_even_run_the_time_left_is_right_from_the_first_second_on():
    ticks = np.arange(400)
    found = shown(ticks / 400)
    assert np.isnan(found[:10]).all()
    np.testing.assert_allclose(found[12:], TICK * (400 - ticks[12:]), rtol=1e-6, atol=1e-6)


def test_steps_of_the_share_do_not_make_it_jump():
    ticks = np.arange(600)
    found = shown(np.floor(ticks / 60) / 10)  # ten phases of 6 s
    known = np.isfinite(found)
    assert known.sum() == 540  # from the first step on
    np.testing.assert_allclose(found[known], TICK * (600 - ticks[known]), atol=0.5)


def test_where_nothing_gets_done_the_time_left_grows():
    found = shown(np.concatenate([np.arange(100) / 200, np.full(200, 0.5)]))
    assert found[299] > found[150] > found[105]


def test_a_pause_does_not_count():
    shares = np.concatenate([np.arange(100) / 400, np.full(300, 0.25), np.arange(100, 200) / 400])
    running = np.ones(500, dtype=bool)
    running[100:400] = False
    found = shown(shares, running=running)
    assert found[399] == found[99]
    assert found[-1] == pytest.approx(TICK * 200, rel=0.05)


def test_nothing_is_known_at_the_beginning_and_at_the_end():
    left = TimeLeft()
    assert left.update(0.0, 0.5) is None  # no time has passed
    assert left.update(10.0, 0.001) is None
    assert left.update(20.0, 0.5) == pytest.approx(20.0)
    assert left.update(21.0, 1.0) is None


# The share of the phases after each of twenty equal parts of the time, of runs of the default settings.
RECORDED = {
    "paper/circle": "0 7 15 19 29 38 45 45 48 49 51 53 55 57 76 79 83 87 87 92",
    "stretch/circle": "0 19 38 46 52 56 76 80 82 86 87 89 92 92 92 92 92 92 92 92",
    "tearing/circle": "0 12 22 34 44 48 50 54 57 79 80 84 87 87 87 87 87 87 87 87",  # searched again
    "drink/circle": "0 15 26 30 34 62 66 66 67 71 71 71 71 72 74 78 81 86 88 89",
}


@pytest.mark.parametrize("name", RECORDED)
def test_in_the_midst_of_a_search_the_time_left_is_about_what_it_then_takes(name, known, make_iterate):
    last = make_iterate(known, noise=0.1)
    shares = np.repeat([float(share) / 100 for share in RECORDED[name].split()], 10)  # 20 s
    runs = [Run(1, known.sequence, Settings(), last=replace(last, fraction=share)) for share in shares]
    ratio = shown([run.share_done for run in runs])[40:120] / (TICK * (200 - np.arange(40, 120)))
    assert 0.25 < ratio.min() and ratio.max() < 2


def test_the_share_of_other_runs_and_of_the_deviations_at_the_end_is_that_of_the_phases(known, make_iterate):
    last = make_iterate(known, noise=0.1)
    assert (
        Run(1, known.sequence, Settings(objective="wnn"), last=replace(last, fraction=0.9)).share_done == 0.9
    )
    record = replace(last.record, phase=Phase(PhaseKind.UNCERTAINTY))
    ending = Run(1, known.sequence, Settings(), last=replace(last, fraction=0.9, record=record))
    assert ending.share_done == 0.9 and Run(1, known.sequence, Settings()).share_done == 0
