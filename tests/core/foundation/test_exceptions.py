"""The message of bad input: one line that can be printed, whatever the file holds."""

import multiprocessing

import pytest

from core import InputError
from core.foundation import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a \x1b[2J b", "a \\x1b[2J b"),
        ("two\nlines", "two\\nlines"),
        ("name \udcff.mat", "name \\udcff.mat"),
        ("right \u202e left", "right \\u202e left"),
        ("Größe 中", "Größe 中"),
    ],
)
def test_what_cannot_be_printed_is_escaped(text, shown):
    assert str(InputError(text)) == shown == printable(text)


def test_a_long_message_keeps_its_beginning_and_its_end():
    message = str(InputError(f"file.mat: {'x' * 10_000}; accepted are numbers"))
    assert len(message) == 600 and message.startswith("file.mat: xxx")
    assert message.endswith("xxx; accepted are numbers")


def test_an_error_passes_between_processes():
    receiver, sender = multiprocessing.Pipe(duplex=False)
    with receiver, sender:
        sender.send(InputError("a.npz: is empty"))
        error = receiver.recv()
    assert type(error) is InputError and str(error) == "a.npz: is empty"
