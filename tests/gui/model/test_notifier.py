"""Messages for the user: which signal each becomes, and that nothing is shown after the end."""

import pytest

from nrsfm_gui.model.notifier import Notifier


@pytest.fixture
def notifier():
    return Notifier()


@pytest.fixture
def sent(notifier):
    sent = []
    for name in ("status_changed", "informed", "warned", "defect_found", "failed", "cleared"):
        getattr(notifier, name).connect(lambda *values, name=name: sent.append((name, *values)))
    return sent


def test_each_kind_of_message_is_a_signal_and_what_fails_a_warning_or_a_defect(notifier, sent):
    offer = ("Undo", list)
    notifier.show_status("Reading")
    notifier.inform("saved", action=offer)
    notifier.clear()
    assert sent == [("status_changed", "Reading"), ("informed", "saved", offer), ("cleared",)]
    sent.clear()
    notifier.fail("no such file")
    notifier.fail("ValueError", "Traceback")
    notifier.fail("shown in the view", shown=True)
    assert sent == [
        ("failed", "no such file"),
        ("warned", "no such file", ()),
        ("failed", "ValueError"),
        ("defect_found", "ValueError", "Traceback"),
        ("failed", "shown in the view"),
    ]


def test_a_closed_notifier_still_signals_failures_and_shows_nothing(notifier, sent):
    notifier.close()
    notifier.inform("saved")
    notifier.warn("late")
    notifier.fail("ValueError", "Traceback")
    assert sent == [("failed", "ValueError")]
