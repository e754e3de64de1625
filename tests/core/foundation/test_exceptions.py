"""The message of bad input: one line that can be printed, whatever the file holds."""

import textwrap

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
        ("zero\u200dwidth\u200cjoiners", "zero\\u200dwidth\\u200cjoiners"),
        ("fill\u3164er, select\ufe0for, bl\u2800ank", "fill\\u3164er, select\\ufe0for, bl\\u2800ank"),
        (
            "\u2067isolate\u2069 soft\u00adhyphen no\u00a0break",
            "\\u2067isolate\\u2069 soft\\xadhyphen no\\xa0break",
        ),
        ("Größe 中 مرحبا 🧑", "Größe 中 مرحبا 🧑"),
    ],
)
def test_what_cannot_be_printed_is_escaped(text, shown):
    assert str(InputError(text)) == shown == printable(text)


@pytest.mark.parametrize("depth", [1, 10, 100])
def test_the_folder_of_a_file_shortens_a_message_only_where_it_is_longer_than_some_lines(depth):
    folder = depth * "/tracks"
    message = str(InputError(f"{folder}/file.mat: holds {'x' * 370}; accepted are numbers"))
    assert (" ... " in message) == (depth == 100) and len(message) <= 600
    assert message.startswith("/tracks") and message.endswith("xxx; accepted are numbers")
    assert len(str(InputError(f"{folder}/file.mat: {'x' * 9000}"))) == 410 + min(7 * depth, 170)


@pytest.mark.parametrize("width", [1, 20, 56, 100, 110, 111, 300])
def test_a_message_has_four_lines_wherever_these_break(width):
    message = str(InputError(f"a.csv: the columns are {' '.join(9 * ['x' * width])}; accepted are x and y"))
    assert len(textwrap.wrap(message, 110)) <= 4
    assert message.startswith("a.csv: the columns are x") and message.endswith("x; accepted are x and y")
