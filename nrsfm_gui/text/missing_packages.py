"""The sentence for an optional package that is not installed. No Qt."""

from __future__ import annotations

INSTALL = "pip install 'nrsfm-gui[video]'"


def needs(what: str, package: str) -> str:
    """Return "A video needs PyAV, which is not installed here; ...", and how to install it."""
    return f"{what} needs {package}, which is not installed here; install it with: {INSTALL}"
