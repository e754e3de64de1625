"""Check the measures of the house that [tool.house] of pyproject.toml states.

    python tests/architecture/house.py

No module imports from a package that holds it. None is so short that it belongs in the only one that imports
it, or so long that nobody reads it, and no folder holds too many. Imports for types count as any other: they
hide an import, they do not cut it. That nothing else is imported in a circle is a contract of import-linter.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Module:
    """A module of the project, and the names that its statements import."""

    name: str
    path: Path  # relative to the project
    lines: int
    tree: ast.Module
    stub: ast.Module  # of a package that imports what it shows when it is asked for

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"

    @property
    def package(self) -> str:
        return self.name if self.is_package else self.name.rpartition(".")[0]

    @cached_property
    def imported(self) -> dict[str, tuple[str, str]]:
        """The module and the name that every name here is imported from; "" for a module itself."""
        return self._imported(self.tree)

    @cached_property
    def shown(self) -> dict[str, tuple[str, str]]:
        """The same with what a package shows."""
        return self.imported | self._imported(self.stub)

    def _imported(self, tree: ast.Module) -> dict[str, tuple[str, str]]:
        found = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found.update({alias.asname or alias.name: (alias.name, "") for alias in node.names})
            elif isinstance(node, ast.ImportFrom):
                above = self.package.split(".")
                parts = above[: len(above) + 1 - node.level] if node.level else []
                source = ".".join([*parts, *filter(None, [node.module])])
                found.update({alias.asname or alias.name: (source, alias.name) for alias in node.names})
        return found

    @cached_property
    def defined(self) -> dict[str, ast.stmt]:
        """The statements that define the names of the module."""
        found: dict[str, ast.stmt] = {}
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found[node.name] = node
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                found.update({target.id: node for target in targets if isinstance(target, ast.Name)})
        return found

    def names_in(self, definition: str, seen: frozenset[str] = frozenset()) -> Iterator[str]:
        """Yield names and texts in a definition, and in the definitions of this module that it names."""
        for node in ast.walk(self.defined[definition]):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            elif isinstance(node, ast.Name):
                yield node.id
                if node.id in self.defined.keys() - seen - {definition}:
                    yield from self.names_in(node.id, seen | {definition})


class House:
    """The modules of a project, and the measures that they have to keep."""

    def __init__(self, root: Path) -> None:
        text = (root / "pyproject.toml").read_text("utf-8")
        self.measures: Mapping[str, Any] = tomllib.loads(text)["tool"]["house"]
        self.modules: dict[str, Module] = {}
        for package in self.measures["packages"]:
            for path in sorted((root / package).rglob("*.py")):
                module = _read(path, path.relative_to(root))
                self.modules[module.name] = module

    @cached_property
    def importers(self) -> dict[str, set[str]]:
        """The modules that import what each module defines.

        What a package shows of its modules is imported from them, and the package itself imports it only
        where it is one of the project.
        """
        found: dict[str, set[str]] = {name: set() for name in self.modules}
        for name, module in self.modules.items():
            if not module.is_package or name in self.measures["packages"]:
                for source in {self._defining(*each) for each in module.shown.values()} & found.keys():
                    found[source].add(name)
        return found

    @cached_property
    def entries(self) -> set[tuple[str, str]]:
        """The modules that the tables of the project list, each with the module of the table."""
        found = set()
        for name, module in self.modules.items():
            for table in module.defined.keys() & set(self.measures["tables"]):
                for listed in module.names_in(table):
                    source = module.imported.get(listed, (module.package, listed))
                    found.add((self._defining(*source), name))
        return found

    def breaches(self) -> list[str]:
        """Return a sentence for each measure that is not kept."""
        return [*self._upward(), *self._slivers(), *self._sizes()]

    def _upward(self) -> Iterator[str]:
        imports = {
            name: {self._module_of(*each) for each in module.imported.values()} & self.modules.keys()
            for name, module in self.modules.items()
        }
        for name, module in self.modules.items():
            for holder in imports[name]:
                if name.startswith(f"{holder}.") and imports[holder]:  # which a lazy one does not
                    yield f"{module.path}: imports from {holder}, which holds it"

    def _slivers(self) -> Iterator[str]:
        for name, module in self.modules.items():
            importers = self.importers[name]
            if module.is_package or module.path.name == "__main__.py":
                continue
            tables = {table for entry, table in self.entries if entry == name}
            if not importers and not tables:
                yield f"{module.path}: no module imports it"
            elif len(importers) == 1 and module.lines <= self.measures["sliver"]:
                (importer,) = importers
                if importer not in tables and not self._is_part(module, importer):
                    yield f"{module.path}: has {module.lines} lines, and only {importer} imports it"

    def _is_part(self, module: Module, importer: str) -> bool:
        """Return whether a module is one class, with its state, that a module of builders makes."""
        kinds = [
            type(node)
            for name, node in module.defined.items()
            if not (name.startswith("_") or name.endswith("State"))
        ]
        return importer in self.measures["builders"] and Counter(kinds)[ast.ClassDef] == 1

    def _sizes(self) -> Iterator[str]:
        for module in self.modules.values():
            most = self.measures["longest"].get(str(module.path), self.measures["longest"]["module"])
            if module.lines > most:
                yield f"{module.path}: has {module.lines} lines; accepted are {most}"
        folders = Counter(str(module.path.parent) for module in self.modules.values())
        for folder, count in folders.items():
            if count > self.measures["folder"]:
                yield f"{folder}: has {count} modules; accepted are {self.measures['folder']}"

    def _module_of(self, source: str, name: str) -> str:
        """Return the module that an import of a name executes."""
        return f"{source}.{name}" if f"{source}.{name}" in self.modules else source

    def _defining(self, source: str, name: str) -> str:
        """Return the module that defines an imported name, behind the packages that show it."""
        found = self._module_of(source, name)
        package = self.modules.get(found)
        if package is None or found != source or not package.is_package or name not in package.shown:
            return found
        return self._defining(*package.shown[name])


def _read(path: Path, place: Path) -> Module:
    text, stub = path.read_text("utf-8"), path.with_suffix(".pyi")
    shown = ast.parse(stub.read_text("utf-8") if stub.exists() else "")
    parts = place.parent.parts if place.name == "__init__.py" else place.with_suffix("").parts
    return Module(".".join(parts), place, len(text.splitlines()), ast.parse(text), shown)


def main() -> int:
    """Print what is not kept; return the exit code."""
    house = House(ROOT)
    breaches = house.breaches()
    print("\n".join(breaches) or f"All {len(house.modules)} modules keep the measures of the house.")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
