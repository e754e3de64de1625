"""`nrsfm reproduce` as a process of its own that tells its parent where it stands, a line of JSON at a time.

    {"done": 3, "total": 40, "fraction": 0.1, "seconds_left": 62.0, "label": "balloon circle"}
    {"written": "reports/table1/report.html"}
    {"problem": "there is no such folder"}

An interrupt ends it; what was finished is kept, and the same command goes on from there.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence as Items

    from core.experiments.run import Standing

BAD_INPUT = 2
INTERRUPTED = 130


def main(words: Items[str]) -> int:
    """Make the report that the options of `nrsfm reproduce` ask for; return the exit code."""
    from core import InputError
    from core.cli import parser
    from core.cli.reproduce import reproduced

    args = parser().parse_args(["reproduce", *words])
    try:
        written = reproduced(args, _tell_standing)
    except InputError as refusal:
        _tell({"problem": str(refusal)})
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    _tell({"written": str(written)})
    return 0


def _tell_standing(now: Standing) -> None:
    _tell(
        {
            "done": now.done,
            "total": now.total,
            "fraction": now.fraction,
            "seconds_left": now.seconds_left,
            "label": now.label,
        }
    )


def _tell(value: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
