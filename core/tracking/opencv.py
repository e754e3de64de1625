"""OpenCV, which is optional: its import, and the sentences where it is absent or brings a Qt of its own.

The package `opencv-python` has the plugins of another Qt and sets where Qt looks for them, so that a window
of PyQt6 ends with "could not load the Qt platform plugin xcb". `opencv-python-headless` has none.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any

from ..foundation import InputError, needs

WHAT = "Following points through a video"


def missing_packages() -> str:
    """Return the sentence for a package that following points needs and that is absent, else "".

    Nothing is imported.
    """
    for module, package in (("cv2", "OpenCV"), ("av", "PyAV")):
        if find_spec(module) is None:
            return needs(WHAT, package, "track")
    return ""


def load_opencv() -> Any:
    """Import OpenCV for one thread, and leave the environment as it was."""
    before = dict(os.environ)
    try:
        import cv2
    except ImportError as error:
        raise InputError(needs(WHAT, "OpenCV", "track")) from error
    for name in os.environ.keys() - before.keys():  # opencv-python sets where Qt looks for plugins and fonts
        del os.environ[name]
    os.environ.update(before)
    cv2.setNumThreads(1)
    return cv2


def plugin_warning() -> str:
    """Return a sentence where the OpenCV that is installed has a Qt of its own, else ""."""
    lines = load_opencv().getBuildInformation().splitlines()
    drawn = next(
        (line.partition(":")[2].strip() for line in lines if line.strip().startswith("GUI:")), "NONE"
    )
    if not drawn.upper().startswith("QT"):
        return ""
    return (
        "The package opencv-python is installed, whose Qt plugins can keep this program's window from "
        "opening; replace it: pip uninstall opencv-python; "
        "pip install --force-reinstall opencv-python-headless"
    )
