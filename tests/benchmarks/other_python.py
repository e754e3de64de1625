"""Checks of exported files by another interpreter, which has neither the project nor its packages.

A benchmark is started with the path of that interpreter. It writes the files and what they should hold, and
has the interpreter run it again to read them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

CHECK = "--check"


def run_in_other_python(
    script: str,
    usage: str | None,
    write_files: Callable[[Path], list[dict[str, Any]]],
    check: Callable[[dict[str, Any]], bool],
) -> None:
    """Write the cases, or check them where this is the other interpreter; exit with 1 where one is wrong."""
    if len(sys.argv) == 3 and sys.argv[1] == CHECK:
        cases = json.loads(Path(sys.argv[2]).read_text())
        sys.exit(0 if all(list(map(check, cases))) else 1)
    if len(sys.argv) != 2:
        sys.exit(usage)
    with tempfile.TemporaryDirectory() as folder:
        cases = Path(folder, "cases.json")
        cases.write_text(json.dumps(write_files(Path(folder))))
        done = subprocess.run([sys.argv[1], script, CHECK, str(cases)], check=False)
    sys.exit(done.returncode)
