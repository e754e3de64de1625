"""Files of `core` that `nrsfm solve ... --xi` enters until the weights are computed from xi.

    python tests/benchmarks/trace_xi.py [--list] [SEQUENCE] [-- OPTIONS OF SOLVE]

A file is entered where a function of it is called, comprehensions and lambdas not counted; module and class
bodies, which run when a module is imported, are counted apart. The count ends with the first call of
`WeightedNuclearNorm.weights`.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import CodeType, FrameType

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "core"
LAST = "WeightedNuclearNorm.weights"


class WeightsReached(BaseException):
    """The weights are about to be computed."""


def trace(words: list[str]) -> tuple[dict[str, int], set[str], int]:
    """Return calls by file, the files that were imported, and how often control changed from file to file."""
    calls: dict[str, int] = {}
    imported: set[str] = set()
    names: dict[CodeType, str] = {}
    changes, before = 0, ""

    def profile(frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal changes, before
        if event != "call":
            return
        code = frame.f_code
        if code not in names:
            path = Path(code.co_filename)
            names[code] = str(path.relative_to(ROOT)) if path.is_relative_to(CORE) else ""
        name = names[code]
        if not name:
            return
        if not code.co_flags & inspect.CO_NEWLOCALS or not code.co_flags & inspect.CO_OPTIMIZED:
            imported.add(name)  # the body of a module or a class
            return
        if code.co_name.startswith("<"):  # a comprehension or a lambda
            return
        calls[name] = calls.get(name, 0) + 1
        changes += name != before
        before = name
        if code.co_qualname == LAST:
            raise WeightsReached

    with tempfile.TemporaryDirectory() as folder:
        output = str(Path(folder) / "result.npz")
        sys.setprofile(profile)
        try:
            from core.cli import main

            main(["solve", *words, "--xi", "0.01", "--quiet", "-o", output])
        except WeightsReached:
            pass
        finally:
            sys.setprofile(None)
    return calls, imported, changes


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", action="store_true", help="print the files and how many calls each has")
    parser.add_argument("sequence", nargs="?", default="sample:balloon/circle", help="default %(default)s")
    parser.add_argument("options", nargs="*", help="of nrsfm solve, after --")
    arguments = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    calls, imported, changes = trace([arguments.sequence, *arguments.options])
    if arguments.list:
        for name, count in calls.items():
            print(f"{count:6}  {name}")
    print(
        f"files entered {len(calls)}, calls {sum(calls.values())}, changes of file {changes}, "
        f"files imported {len(imported)}"
    )


if __name__ == "__main__":
    main()
