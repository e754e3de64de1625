"""The modules of the project as trees; each is parsed once."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORE = sorted((ROOT / "core").rglob("*.py"))
WINDOW = sorted((ROOT / "nrsfm_gui").rglob("*.py"))


def name_of(path):
    """Return the name of a module."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def nodes_of(path):
    """Return all statements of a file that import, or define a function or a class."""
    found, waiting = [], [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
                waiting.append(node)
                if isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef):
                    found.append(node)
    return sorted(found, key=lambda node: node.lineno)


def imports_of(path):
    """Return (module, name, line) of everything that a file imports, for types only, too.

    The name is "" where the module itself is imported; a module that is relative begins with a point.
    """
    found = []
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found += [(alias.name, "", node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            found += [(module, alias.name, node.lineno) for alias in node.names]
    return found
