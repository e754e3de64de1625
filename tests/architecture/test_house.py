"""A breach of each kind of the measures of the house is caught, imports for types included."""

import pytest
from house import House

MEASURES = """
[tool.house]
packages = ["core"]
folder = 5
sliver = 2
tables = ["TABLE"]
builders = ["core.part.builder"]
[tool.house.longest]
module = 9
"core/start.py" = 7
"""
TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    "
START = "from core.part.builder import made\nfrom core.part.entry import Entry\nTABLE = [Entry]\n"
KEPT = {
    "core/__init__.py": "from .start import go\n",
    "core/start.py": f"{START}#\n#\n#\n#\n",
    "core/part/__init__.py": "",
    "core/part/builder.py": "from .view import View\nmade = 1\n\n\n",
    "core/part/view.py": "class View:\n    pass\n",  # one class of a builder
    "core/part/entry.py": "class Entry:\n    pass\n",  # an entry of a table
}
# By the sentence that names it: a module, and what is written below it.
BREACHES = {
    "core/part/view.py: imports from core, which": ("core/part/view.py", f"{TYPES}from core import go\n"),
    "core/part/alone.py: has 1 lines, and only core.part.entry imports it": (
        "core/part/entry.py", "from .alone import ALONE\n"
    ),
    "core/part/unused.py: no module imports it": ("core/part/unused.py", "UNUSED = 1\n"),
    "core/part/builder.py: has 10 lines; accepted are 9": ("core/part/builder.py", 6 * "#\n"),
    "core/start.py: has 8 lines; accepted are 7": ("core/start.py", "#\n"),
    "core/part: has 6 modules; accepted are 5": ("core/part/unused.py", ""),
}  # fmt: skip


@pytest.fixture
def house(tmp_path):
    """Return what makes a house of modules with their texts."""

    def build(texts):
        (tmp_path / "pyproject.toml").write_text(MEASURES)
        for path, text in texts.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        return House(tmp_path)

    return build


@pytest.mark.parametrize(("sentence", "breach"), BREACHES.items(), ids=BREACHES)
def test_a_breach_of_each_measure_is_caught(house, sentence, breach):
    path, text = breach
    alone = {"core/part/alone.py": "ALONE = 1\n"} if "alone" in sentence or "modules;" in sentence else {}
    found = house(KEPT | alone | {path: KEPT.get(path, "") + text}).breaches()
    assert any(each.startswith(sentence) for each in found), found


def test_a_house_without_a_breach_is_kept(house):
    assert house(KEPT).breaches() == []
