"""What must be set before the application exists, and what all tests of the viewer share."""

from __future__ import annotations

import os
import sys

import pytest

if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PyQt6.QtCore import QCoreApplication, QSettings, Qt
from PyQt6.QtGui import QSurfaceFormat

# pyqtgraph keeps its shaders per class: without shared contexts, every 3-D view after the first stays empty.
QCoreApplication.setAttribute(Qt.ApplicationAttribute.AA_ShareOpenGLContexts)
_format = QSurfaceFormat()
_format.setVersion(3, 3)
_format.setProfile(QSurfaceFormat.OpenGLContextProfile.CoreProfile)
_format.setDepthBufferSize(24)
QSurfaceFormat.setDefaultFormat(_format)


@pytest.fixture(scope="session", autouse=True)
def settings_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Keep the tests out of the settings of whoever runs them."""
    folder = str(tmp_path_factory.mktemp("settings"))
    QSettings.setDefaultFormat(QSettings.Format.IniFormat)
    for scope in (QSettings.Scope.UserScope, QSettings.Scope.SystemScope):
        QSettings.setPath(QSettings.Format.IniFormat, scope, folder)
        QSettings.setPath(QSettings.Format.NativeFormat, scope, folder)
    return folder
