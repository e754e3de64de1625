"""The headline of the tool bar: the error of what is shown, its forms, and the menu of alignments."""

from dataclasses import replace

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QMenu

from core import Settings
from core.foundation import DEPTHS, WNN, Phase, PhaseKind
from nrsfm_gui.model.numbers import NONE
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.scene.incumbent import Quality, incumbent_of
from nrsfm_gui.text.run_rows import run_row
from nrsfm_gui.text.status_text import HeadlineText, headline_text
from nrsfm_gui.widgets.headline import Headline

ERRORS = Quality(0.1324, 3.357, "mm", "per-frame similarity, found unmirrored", size=160.0)


@pytest.fixture
def found(session, known, make_iterate, add_run):
    """Return the incumbent of a run, with errors."""
    session.set_sequence(known.sequence)
    run = add_run(session, make_iterate(known, noise=0.1), Settings())
    return incumbent_of(run, run.last, ERRORS)


def test_the_error_stands_first_with_its_part_of_the_object_and_its_alignment(found, known):
    text = headline_text(found, known.sequence)
    assert text.large == ("3.36 mm · 2.1 % of the object", "3.36 mm · 2.1 %", "3.36 mm")
    assert text.small == (
        "per-frame similarity, found unmirrored · 0.132 px · log10 loss −0.222",
        "per-frame similarity, found unmirrored · 0.132 px",
        "per-frame similarity, found unmirrored",
        "per-frame similarity",
    )
    assert "the object: 160 mm" in text.tip
    assert "root mean square distance of its points from their centroid, mean over the frames" in text.tip
    assert headline_text(found, known.sequence, past=True).small[0].startswith("iteration ")
    assert headline_text(None, known.sequence) == HeadlineText()


def test_without_an_error_the_reprojection_stands_first_and_why_below(found, known):
    plain = replace(found, errors=replace(ERRORS, error=None, size=None))
    bare = headline_text(plain, replace(known.sequence, truth=None))
    assert bare.large == ("0.132 px reprojection", "0.132 px")
    assert bare.small[0].startswith("no ground truth · log10 loss")
    flat = replace(plain, errors=replace(plain.errors, figures={"metric": False}))
    assert headline_text(flat, known.sequence).small[-1] == "no metric upgrade"


def test_without_a_truth_the_headline_is_how_far_the_answer_can_be_trusted(found, known):
    """A refined shape keeps the observed rays: its reprojection error says nothing."""
    bare = replace(known.sequence, truth=None)
    refined = replace(found.iterate, record=replace(found.iterate.record, energy=-14.0))

    def large(*, complete=True, **values):
        errors = replace(ERRORS, error=None, **values)
        return headline_text(replace(found, iterate=refined, errors=errors, complete=complete), bare)

    both = large(uncertainty=12.64, held_out=0.52)
    assert both.large == ("± 7.9 % of the object · 0.520 px held out", "± 7.9 % · 0.520 px", "± 7.9 %")
    assert "Uncertainty, mean standard deviation of the places of the points: 12.64 mm, 7.9 %" in both.tip
    assert "held out, root mean square: 0.520 px" in both.tip
    assert large(uncertainty=12.64).large == ("± 7.9 % of the object", "± 7.9 %")
    assert large(held_out=0.52).large == ("0.520 px at held-out observations", "0.520 px")
    assert large(complete=False).large == ("uncertainty after the run",)
    assert large().large == ("uncertainty unknown",)
    run, without = Run(1, bare, Settings()), replace(found, errors=replace(ERRORS, error=None))
    shown = [run_row(run, replace(without, objective=objective)).error for objective in (WNN, DEPTHS)]
    assert shown == [NONE, ""]  # in place of the first one stands the reprojection error


def test_the_tip_states_what_the_loss_is_of_where_the_errors_are_of_something_else(found, known):
    def last_lines(found):
        return headline_text(found, known.sequence).tip.splitlines()[-3:-1]

    pixels = "Reprojection, root mean square: 0.132 px"
    assert last_lines(found) == [pixels, "Log10 loss −0.222"]
    refined = replace(found, objective=DEPTHS, value=-14.0)
    assert last_lines(refined) == [pixels, "Energy −14.000"]
    assert headline_text(refined, known.sequence).small[0].endswith("energy −14.000")
    metric = replace(found, errors=replace(ERRORS, figures={"metric": True}))
    of = "the projective factorization, not of the metric view that is shown"
    assert last_lines(metric) == [pixels, f"Log10 loss −0.222, of {of}"]


def test_a_loss_of_another_objective_is_not_shown(session, known, make_iterate, add_run):
    session.set_sequence(known.sequence)
    comparing = replace(make_iterate(known, noise=0.1), rotations_chosen=False)
    run = add_run(session, comparing, Settings())
    run.state = RunState.RUNNING
    found = incumbent_of(run, comparing, ERRORS)
    assert found.value is None and not found.complete
    assert "loss" not in headline_text(found, known.sequence).small[0]


def test_the_energy_is_of_the_shape_that_is_shown_at_the_finest_level(session, known, make_iterate, add_run):
    session.set_sequence(known.sequence)
    iterate = make_iterate(known, noise=0.1)
    run = add_run(session, iterate, Settings())

    def energy_in(phase, energy=-14.0):
        record = replace(iterate.record, phase=phase, energy=energy)
        found = incumbent_of(run, replace(iterate, record=record), ERRORS)
        return found.objective, found.value

    assert energy_in(Phase(PhaseKind.FINEST, part=3, parts=3)) == (DEPTHS, -14.0)
    assert energy_in(Phase(PhaseKind.FINEST, part=2, parts=3)) == (DEPTHS, None)
    assert energy_in(Phase(PhaseKind.DEPTH_START, 1, 2, part=2, parts=2)) == (DEPTHS, None)
    assert energy_in(Phase(PhaseKind.REFINE)) == (DEPTHS, None)  # of another run, under its parameters
    assert energy_in(Phase(PhaseKind.REFINE), None) == (WNN, iterate.final_loss)


def test_no_text_is_wider_than_its_place_and_a_click_on_it_opens_the_menu(qtbot, show, found, known):
    headline = show(Headline(), 600, 40)
    text = headline_text(found, known.sequence)
    headline.set_texts(text.large, text.small, text.tip)
    seen = set()
    for width in range(headline.minimumSizeHint().width(), 700, 20):
        headline.resize(width, 40)
        for line, metrics in zip(headline.texts, headline._metrics, strict=True):
            assert line and metrics.horizontalAdvance(line) <= width
        seen.add(headline.texts)
    assert ("3.36 mm", "per-frame similarity") in seen
    assert (text.large[0], text.small[0]) in seen
    assert headline.full_text == f"{text.large[0]}\n{text.small[0]}"
    menu = qtbot.addWidget(QMenu())
    menu.addAction("per-frame similarity")
    headline.resize(600, 40)
    headline.set_menu(menu)
    QTest.mouseClick(headline, Qt.MouseButton.LeftButton, pos=headline.rect().center() / 20)
    assert not menu.isVisible()  # that is beside the text
    QTest.mouseClick(headline, Qt.MouseButton.LeftButton, pos=headline._area().center())
    assert menu.isVisible()
    menu.close()
