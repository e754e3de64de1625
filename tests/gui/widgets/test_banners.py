"""Banners over a view: the most urgent one alone, in its place; the others wait, and none is lost."""

import pytest
from PyQt6.QtCore import QPoint, QRect
from PyQt6.QtWidgets import QLabel, QVBoxLayout, QWidget

from nrsfm_gui.widgets.banners import Banners, MessageBar, Urgency
from nrsfm_gui.widgets.labels import plain_tip


@pytest.fixture
def over(qtbot, show):
    """Banners over the lower part of a window, and the view that they lie over."""
    window, view = QWidget(), QWidget()
    column = QVBoxLayout(window)
    column.setContentsMargins(0, 0, 0, 0)
    column.addWidget(QLabel("above"))
    column.addWidget(view, 1)
    banners = Banners(view, window)
    show(window, 500, 400)
    return banners, view


def place(widget):
    return QRect(widget.mapTo(widget.window(), QPoint(0, 0)), widget.size())


def test_the_most_urgent_banner_is_shown_alone_and_the_next_one_follows(over):
    banners, view = over
    made = {urgency: QLabel(urgency.name) for urgency in reversed(Urgency)}
    for urgency, banner in made.items():
        banner.hide()
        banners.add(banner, lambda urgency=urgency: urgency)
    assert banners.isHidden()
    for banner in made.values():
        banner.show()
    for urgency in Urgency:
        assert [each for each in made.values() if each.isVisible()] == [made[urgency]]
        assert place(view).contains(place(banners)) and banners.height() < 60
        made[urgency].hide()
    assert banners.isHidden() and banners.shown is None


def test_an_error_comes_before_a_question_and_a_note_after_it(over):
    banners, _view = over
    messages, question = MessageBar(), QLabel("Recover?")
    question.hide()
    banners.add(messages, lambda: Urgency.ERROR if messages.warns else Urgency.MESSAGE)
    banners.add(question, lambda: Urgency.QUESTION)
    messages.changed.connect(banners.choose)
    messages.note("saved")
    assert messages.isVisible()
    question.show()
    assert question.isVisible() and not messages.isVisible()
    messages.warn("the disk is full")
    assert messages.isVisible() and not question.isVisible()
    messages.dismiss()
    assert question.isVisible() and messages.text == "saved"
    question.hide()
    assert messages.isVisible()


def test_a_banner_of_the_middle_stays_there_when_the_view_is_resized(over, qtbot):
    banners, view = over
    card = QLabel("Nothing is open")
    banners.add(card, lambda: Urgency.STATE, central=True)
    card.show()
    view.window().resize(700, 500)
    qtbot.waitUntil(lambda: (place(card).center() - place(view).center()).manhattanLength() < 6)


def test_a_note_is_a_low_strip_above_the_buttons_and_its_tip_has_all_of_it(over):
    banners, view = over
    messages = MessageBar()
    banners.add(messages, lambda: Urgency.MESSAGE)
    messages.note("saved")
    assert banners.width() < view.width() / 2
    messages.note("Run 1 converged. " * 20, action=("Go to the worst frame", lambda: None))
    strip = place(banners)
    assert place(view).contains(strip) and strip.height() < 0.14 * view.height()
    assert place(view).bottom() - strip.bottom() > 30
    label = next(each for each in messages.findChildren(QLabel) if each.toolTip())
    assert messages.text == "Run 1 converged. " * 20
    assert label.text().endswith("…") and label.toolTip() == plain_tip(messages.text)
