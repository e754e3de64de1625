"""Files that are refused."""

import re

import pytest

from core import InputError, read_sequence


def refuses(path, sentence, **options):
    """Read a file, and find a regular expression in the one line that refuses it."""
    with pytest.raises(InputError) as refused:
        read_sequence(path, **options)
    said = str(refused.value)
    assert re.search(sentence, said) is not None and "\n" not in said, said
