import doctest
from importlib import import_module

import pytest
from sources import CORE, name_of

import core

LONG = {"core.solvers.bmm"}  # which solves
WITH_EXAMPLES = [
    pytest.param(name_of(path), marks=pytest.mark.slow) if name_of(path) in LONG else name_of(path)
    for path in CORE
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.fixture(scope="module", autouse=True)
def solved_once():
    """Let examples that begin with the same reconstruction share it."""
    solve, solved = core.reconstruct, {}

    def reconstruct(sequence, settings=None, **options):
        key = sequence.content, settings, str(sorted(options.items()))
        if "start" in options or key not in solved:
            solved[key] = solve(sequence, settings, **options)
        return solved[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core, "reconstruct", reconstruct)
        yield


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_of_a_module_print_what_they_say(name):
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for test in doctest.DocTestFinder().find(import_module(name)):
        if test.name.removeprefix(f"{name}.").partition(".")[0] in core.__all__:
            test.globs.clear()  # a reader of the reference has what the example imports
        runner.run(test)
    assert runner.tries > 0 and runner.failures == 0
