"""The version of the program, and of what it computes with."""

from __future__ import annotations

import platform

PROGRAM = "nrsfm-gui"  # the name in titles, files and messages; the one that pip installs
VERSION = "0.1.0"


def versions() -> dict[str, str]:
    """Return the versions that a reconstruction depends on, by name."""
    import numpy
    import scipy

    return {
        "core": VERSION,
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "python": platform.python_version(),
    }
