"""Messages for the user: which signal each becomes, and that nothing is shown after the end."""

import pytest

from nrsfm_gui.model.notifier import Notifier


@pytest.fixture
def sent():
    """A notifier, and the list of what it sends."""
    notifier, sent = Notifier(), []
    for name in ("status_changed", "informed", "warned", "defect_found", "failed", "cleared"):
        getattr(notifier, name).connect(lambda *values, name=name: sent.append((name, *values)))
    return notifier, sent


def test_each_kind_of_message_is_a_signal(sent):
    notifier, received = sent
    offer = ("Undo", list)
    notifier.show_status("Reading")
    notifier.inform("saved", action=offer)
    notifier.warn("tracks are few")
    notifier.clear()
    assert received == [
        ("status_changed", "Reading"),
        ("informed", "saved", offer),
        ("warned", "tracks are few", ()),
        ("cleared",),
    ]


def test_what_fails_is_a_warning_or_with_a_traceback_a_defect(sent):
    notifier, received = sent
    notifier.fail("no such file")
    notifier.fail("ValueError", "Traceback")
    notifier.fail("shown in the view", shown=True)
    assert received == [
        ("failed", "no such file"),
        ("warned", "no such file", ()),
        ("failed", "ValueError"),
        ("defect_found", "ValueError", "Traceback"),
        ("failed", "shown in the view"),
    ]


def test_a_closed_notifier_still_signals_failures_and_shows_nothing(sent):
    notifier, received = sent
    notifier.close()
    notifier.inform("saved")
    notifier.warn("late")
    notifier.fail("ValueError", "Traceback")
    assert received == [("failed", "ValueError")]
