"""The site: pages here, the reference from docstrings, and the examples as a gallery."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import itertools
import os
import pkgutil
import re
import shutil
import sys
from pathlib import Path

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path[:0] = [str(ROOT), str(DOCS)]
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import core  # noqa: E402
from core.evaluation import METRICS, Kind  # noqa: E402

project = core.foundation.PROGRAM
author = "the authors of nrsfm-gui"
release = version = core.VERSION
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["generated/examples", "generated/*.md"]
default_role = "py:obj"  # a name in single backticks is a link where it is documented
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]

autodoc_default_options = {"members": True, "undoc-members": True, "imported-members": True}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
maximum_signature_line_length = 100
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_title = project
html_static_path: list[str] = []
html_show_sourcelink = False
# Pages without pages below them have nothing to list at the side.
html_sidebars = {page.stem: [] for page in DOCS.glob("*.md")}
html_theme_options = {
    "logo": {"text": project},
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
}
html_favicon = html_logo = str(ROOT / "assets" / "icons" / "application.svg")

# The gallery runs the examples where it finds them, and they write files: it gets a copy of them.
GENERATED = DOCS / "generated"
EXAMPLES = GENERATED / "examples"
sphinx_gallery_conf = {
    "examples_dirs": "generated/examples",
    "gallery_dirs": "generated/gallery",
    "filename_pattern": ".*",
    "image_scrapers": ("gallery_pictures.draw_variables",),
    "reset_modules": ("gallery_pictures.reset_penalties",),
    "capture_repr": (),
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,  # the page loads scripts from elsewhere
    "abort_on_example_error": True,
}


def rooms() -> list[str]:
    """Return the packages of core, outermost first: each lists what is public in it."""
    found = [each.name for each in pkgutil.walk_packages(core.__path__, "core.") if each.ispkg]
    return ["core", *found]


def public_names(room: str) -> list[str]:
    """Return what a package lists as public."""
    module = importlib.import_module(room)
    imported = [
        name for name, value in vars(module).items() if not (name[0] == "_" or inspect.ismodule(value))
    ]
    return list(getattr(module, "__all__", sorted(imported)))


def copy_examples() -> None:
    """Copy the examples with a title each, and write the first lines of the gallery."""
    EXAMPLES.mkdir()
    for path in (ROOT / "assets" / "examples").glob("*.py"):
        title = path.stem.replace("_", " ").capitalize()
        text = path.read_text().replace('"""', f'"""{title}\n{"=" * len(title)}\n\n', 1)
        (EXAMPLES / path.name).write_text(text)
    (EXAMPLES / "GALLERY_HEADER.rst").write_text(
        "Examples\n========\n\nThe scripts of ``assets/examples``, run when this page was built. "
        "Red circles are the ground truth, blue triangles the estimate.\n"
    )


def write_reference() -> None:
    """Write a page for every package of core that lists public names."""
    folder = GENERATED / "reference"
    folder.mkdir()
    pages = [room for room in rooms() if public_names(room)]
    for room in pages:
        lines = [room, "=" * len(room), ""]
        homes = {name: _home(room, name) for name in public_names(room)}
        own = [name for name, home in homes.items() if home == f"{room}.{name}"]
        others = [name for name in homes if name not in own]
        if own:
            lines += [f".. automodule:: {room}", f"   :exclude-members: {', '.join(others)}", ""]
        else:
            lines += [_first_line(importlib.import_module(room)), ""]
        for name in own:
            value = getattr(importlib.import_module(room), name)
            if not inspect.isclass(value) and not inspect.isroutine(value):  # autodoc leaves these out
                lines += [f".. py:data:: {name}", f"   :module: {room}", "", f"   {_comment(room, name)}", ""]
        if others:
            lines += ["Also imported from here, and documented in their packages:", ""]
            lines += [f"* `{name} <{homes[name]}>`" for name in others]
        (folder / f"{room}.rst").write_text("\n".join(lines) + "\n")
    listed = "\n".join(f"   {room}" for room in pages)
    (folder / "index.rst").write_text(f"Reference\n=========\n\n.. toctree::\n   :maxdepth: 1\n\n{listed}\n")


def write_tables() -> None:
    """Write the tables of alignments and of benchmarks that pages include."""
    rows = [f"| `{kind.value}` | {kind.label} | {kind.meaning} |" for kind in Kind]
    (GENERATED / "alignments.md").write_text("\n".join(["| alignment | | |", "|---|---|---|", *rows]) + "\n")
    rows = []
    for path in sorted((ROOT / "tests" / "benchmarks").glob("*.py")):
        text = (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")[0]
        rows.append(f"| `{path.name}` | {text} |")
    (GENERATED / "benchmarks.md").write_text("\n".join(["| script | |", "|---|---|", *rows]) + "\n")


def _first_line(module: object) -> str:
    return (inspect.getdoc(module) or "").partition("\n")[0]


def _comment(room: str, name: str) -> str:
    """Return the comment at the definition of a constant: after it in its line, or in the lines above."""
    source = Path(importlib.import_module(room).__file__)
    stub = source.with_suffix(".pyi")  # of a package whose names are imported when they are asked for
    text = (stub if stub.exists() else source).read_text()
    package = ast.parse(text)
    origin = next(
        node
        for node in ast.walk(package)
        if isinstance(node, (ast.ImportFrom, ast.Assign, ast.AnnAssign)) and name in _bound(node)
    )
    if isinstance(origin, ast.ImportFrom):
        return _comment(importlib.util.resolve_name("." * origin.level + (origin.module or ""), room), name)
    lines = text.splitlines()
    _, _, after = lines[origin.end_lineno - 1].partition("  # ")
    above = itertools.takewhile(lambda line: line.startswith("# "), reversed(lines[: origin.lineno - 1]))
    return _escaped(after or " ".join(line[2:] for line in reversed(list(above))))


def _bound(node: ast.ImportFrom | ast.Assign | ast.AnnAssign) -> list[str]:
    """Return the names that an import or an assignment binds."""
    if isinstance(node, ast.ImportFrom):
        return [alias.asname or alias.name for alias in node.names]
    targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
    return [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]


def _escaped(text: str) -> str:
    """Escape the bars of norms and the asterisks of products and optima outside of backticks."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([|*])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def escape_docstring(
    _app: object, _what: str, _name: str, _value: object, _options: object, lines: list[str]
) -> None:
    """Escape what reStructuredText would take for markup, but in examples."""
    lines[:] = [line if line.lstrip().startswith((">>>", "...")) else _escaped(line) for line in lines]


def _home(room: str, name: str) -> str:
    """Return the full name of a public name in the innermost package below a room that lists it."""
    value = getattr(importlib.import_module(room), name)
    below = [each for each in rooms() if each.startswith(f"{room}.") and name in public_names(each)]
    same = [each for each in below if getattr(importlib.import_module(each), name) is value]
    return f"{max(same, key=len, default=room)}.{name}"


def check_complete(app: object, environment: object) -> None:
    """Warn of every public name without an entry, and of every metric that the page does not explain."""
    from sphinx.util import logging

    logger = logging.getLogger(__name__)
    documented = environment.domains.python_domain.objects
    for room in rooms():
        for name in public_names(room):
            if _home(room, name) not in documented:
                logger.warning("%s.%s is public and has no entry in the reference", room, name)
    page = (DOCS / "metrics.md").read_text()
    for name in METRICS:
        if not re.search(rf"`{name}`", page):
            logger.warning("`%s` is not explained in metrics.md", name)


def setup(app: object) -> None:
    """Connect what is made from the program itself."""
    shutil.rmtree(GENERATED, ignore_errors=True)
    GENERATED.mkdir()
    copy_examples()
    write_reference()
    write_tables()
    app.connect("autodoc-process-docstring", escape_docstring, priority=100)  # before numpydoc
    app.connect("env-check-consistency", check_complete)
