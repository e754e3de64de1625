"""How functions and classes get from where they are written to the tests that call them."""

import pytest


def called_by_tests(function):
    """Return a fixture that is a function or a class."""
    return pytest.fixture(scope="session")(lambda: function)
