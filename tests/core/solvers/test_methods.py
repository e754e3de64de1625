from dataclasses import fields

import pytest

from core import METHODS, InputError, Settings

OPTIONS = [(name, option) for name, method in METHODS.items() for option in method.options]


@pytest.mark.parametrize(("method", "option"), OPTIONS, ids=lambda value: getattr(value, "name", value))
def test_an_option_is_a_field_of_an_algorithm_and_accepts_its_default(method, option):
    steps = [step for step in (METHODS[method].algorithm, METHODS[method].refined) if step]
    assert any(option.name in {entry.name for entry in fields(step)} for step in steps)
    default = METHODS[method].default(option.name)
    assert option.checked(default) == default
    assert option.checked(str(default)) == default


@pytest.mark.parametrize(
    ("method", "name", "value", "sentence"),
    [
        ("admm", "rho", "inf", "rho is inf; accepted is a finite number above 0"),
        ("admm", "rho", "much", "rho is much; accepted is a number above 0"),
        ("admm", "patience", "2.5", "patience is 2.5; accepted is a whole number of at least 1"),
        ("admm", "relaxation", "2", "relaxation is 2; accepted is a number of at least 1 and at most 1.9"),
        ("agd", "restart", "never", "restart is 'never'; accepted are gradient, loss, none"),
    ],
)
def test_an_option_outside_its_range_is_refused(method, name, value, sentence):
    with pytest.raises(InputError) as refused:
        Settings(method=method, options=((name, value),))
    assert str(refused.value) == sentence
