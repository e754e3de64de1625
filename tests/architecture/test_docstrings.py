"""What `core` exports has numpydoc sections: parameters, what is returned, errors. Nothing else has."""

import ast
import inspect
import re
import textwrap
from dataclasses import is_dataclass
from enum import Enum

import pytest
from numpydoc.validate import validate
from sources import CORE, WINDOW, nodes_of

import core

# A section is absent, a parameter is not described, or one is described that does not exist.
SECTIONS = {"GL08", "PR01", "PR02", "RT01", "YD01"}
# Classes that a user of core does not make: they are returned, raised, or inherited from.
RETURNED = {
    "FileContents", "HistoryEntry", "Iterate", "Penalty", "Point", "Progress", "Provenance", "Result",
    "SequenceEntry", "Snapshot", "StartReport",
}  # fmt: skip


FUNCTIONS = [name for name in core.__all__ if inspect.isfunction(getattr(core, name))]
HEADING = re.compile(r"^[A-Z][a-z ]+\n-{3,}$", re.MULTILINE)


def with_sections(nodes, exported=()):
    """Return the functions and classes with sections that are neither exported nor their methods."""
    methods = {
        child
        for node in nodes
        if isinstance(node, ast.ClassDef) and node.name in exported
        for child in node.body
        if isinstance(child, ast.FunctionDef) and not child.name.startswith("_")
    }
    return [
        node.name
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and node.name not in exported
        and node not in methods
        and HEADING.search(ast.get_docstring(node) or "")
    ]


def problems(name, codes):
    """Return what numpydoc finds in the docstring of a name, of some kinds of problems."""
    return [text for code, text in validate(name)["errors"] if code in codes]


def raises(function):
    """Return whether the body of a function itself, functions inside left out, raises an error."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function)))).body[0]
    inner = {
        node
        for part in ast.walk(tree)
        if part is not tree and isinstance(part, ast.FunctionDef)
        for node in ast.walk(part)
    }
    return any(isinstance(node, ast.Raise) and node.exc and node not in inner for node in ast.walk(tree))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_exported_function_documents_its_parameters_and_what_it_returns(name):
    assert not problems(f"core.{name}", SECTIONS)
    function = getattr(core, name)
    if raises(function):
        assert "\nRaises\n------\n" in inspect.getdoc(function)


def test_an_exported_class_documents_the_fields_that_it_is_made_of():
    classes = [name for name in core.__all__ if is_dataclass(getattr(core, name))]
    assert len(classes) > 30
    found = {name: problems(f"core.{name}", {"GL08", "PR01", "PR02"}) for name in classes}
    assert not {name: texts for name, texts in found.items() if texts}


def test_nothing_else_has_sections():
    for path in (*CORE, *WINDOW):
        assert not with_sections(nodes_of(path), core.__all__ if path in CORE else ()), path
    bad = 'def half(x):\n    """Halve.\n\n    Returns\n    -------\n    float\n    """\n'
    assert with_sections(ast.parse(bad).body) == ["half"]


@pytest.mark.parametrize("name", core.__all__)
def test_what_a_user_of_core_calls_has_an_example(name):
    value = getattr(core, name)
    made = inspect.isclass(value) and not issubclass(value, Enum | Exception) and name not in RETURNED
    if inspect.isfunction(value) or made:
        assert not problems(f"core.{name}", {"EX01", "GL08"})
        sections = inspect.getdoc(value)
        assert "\nParameters\n----------\n" in sections or not inspect.signature(value).parameters
