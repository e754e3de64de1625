"""Banners over a view: the most urgent one alone; messages among them, warnings before notes."""

import pytest
from hands import button_of
from PyQt6.QtCore import QEvent, QPoint, QRect, Qt
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget

from nrsfm_gui.model.theme import DARK
from nrsfm_gui.widgets import banners
from nrsfm_gui.widgets.banners import Banners, MessageBar, Urgency
from nrsfm_gui.widgets.style import apply_theme


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


def test_a_note_is_a_low_strip_above_the_buttons_of_the_view(over):
    banners, view = over
    messages = MessageBar()
    banners.add(messages, lambda: Urgency.MESSAGE)
    messages.note("saved")
    strip = place(banners)
    assert strip.width() < view.width() / 2 and strip.height() < 0.14 * view.height()
    assert place(view).bottom() - strip.bottom() > 30


def test_a_banner_is_above_what_is_to_stay_in_view_while_that_is_seen(over, qtbot):
    _banners, view = over
    scale, messages = QLabel("scale", view), MessageBar()
    scale.setGeometry(10, view.height() - 90, 200, 40)
    banners = Banners(view, view.window(), clear=(scale,))
    banners.add(messages, lambda: Urgency.MESSAGE)
    messages.note("The deviation of many points is larger than that of all others in this sequence")
    low = place(banners).bottom()
    assert place(view).bottom() - low > 30
    scale.show()
    qtbot.waitUntil(lambda: place(banners).bottom() < place(scale).top())
    scale.hide()
    qtbot.waitUntil(lambda: place(banners).bottom() == low)


@pytest.mark.parametrize(("width", "below"), [(1600, False), (700, False), (320, True)])
def test_a_note_is_readable_to_its_end_and_its_buttons_give_way_below_it(over, qtbot, width, below):
    banners, view = over
    messages = MessageBar()
    banners.add(messages, lambda: Urgency.MESSAGE)
    sentence = "Run 1 (recommended) converged in 19 s; the tracks determine the shape; 70 tracks do not fit"
    messages.note(sentence, action=[("Find outliers", int), ("Go to the worst frame", int)])
    view.window().resize(width, 400)
    label = next(each for each in messages.findChildren(QLabel) if each.text() == sentence)
    buttons = [button_of(messages, text) for text in ("Find outliers", "Go to the worst frame")]

    def is_arranged():
        whole = label.height() >= label.heightForWidth(label.width())
        return whole and all((place(each).top() > place(label).bottom()) == below for each in buttons)

    qtbot.waitUntil(is_arranged)
    assert place(view).contains(place(banners))
    assert all(place(messages).contains(place(each)) for each in (label, *buttons))


@pytest.fixture
def bar(qapp, qtbot):
    made = MessageBar()
    apply_theme(DARK)
    qtbot.addWidget(made)
    made.resize(800, 40)
    return made


def test_an_error_is_shown_first_and_the_note_that_waits_follows_once_it_was_read(qtbot, bar, monkeypatch):
    monkeypatch.setattr(banners, "NOTE_MILLISECONDS", 30)
    monkeypatch.setattr(banners, "READ_MILLISECONDS", 50)
    bar.warn("the file is gone")
    qtbot.wait(80)
    assert bar.text == "the file is gone"  # nothing waits for it
    bar.warn("the disk is full")
    bar.note("saved")
    shown = [bar.text]
    bar.changed.connect(lambda: shown.append(bar.text))
    qtbot.waitUntil(bar.isHidden)
    assert shown == ["the disk is full", "saved", ""]


def test_a_note_that_another_banner_hides_is_seen_as_long_as_any_other(qtbot, qapp, monkeypatch):
    monkeypatch.setattr(banners, "NOTE_MILLISECONDS", 40)
    around, bar = QWidget(), MessageBar()
    qtbot.addWidget(around)
    QVBoxLayout(around).addWidget(bar)
    bar.note("saved")
    qtbot.wait(80)
    assert bar.text == "saved"  # nobody could read it
    around.show()
    qtbot.waitUntil(lambda: bar.text == "")


def test_a_button_acts_once_and_closes_its_message(qtbot, bar):
    done = []
    bar.note("Run 3 was deleted", action=("Undo", lambda: done.append(3)))
    qtbot.mouseClick(button_of(bar, "Undo"), Qt.MouseButton.LeftButton)
    assert done == [3]
    assert bar.text == ""
    assert not [each for each in bar.findChildren(QPushButton) if not each.isHidden()]


def test_a_message_stays_while_the_mouse_is_on_it(qtbot, bar, monkeypatch):
    monkeypatch.setattr(banners, "NOTE_MILLISECONDS", 40)
    monkeypatch.setattr(banners, "REACH_MILLISECONDS", -1)
    bar.note("saved")
    bar.enterEvent(None)
    qtbot.wait(60)
    assert bar.text == "saved"
    bar.leaveEvent(QEvent(QEvent.Type.Leave))
    qtbot.waitUntil(lambda: bar.text == "")


def test_the_sentence_can_be_copied(qtbot, bar):
    bar.warn("track.txt holds no frames")
    copy = next(each for each in bar.findChildren(QToolButton) if each.text() == "Copy text")
    qtbot.mouseClick(copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "track.txt holds no frames"
