"""A metaclass for abstract Qt classes."""

from __future__ import annotations

from abc import ABCMeta

from PyQt6.QtCore import QObject


class AbstractQt(type(QObject), ABCMeta):  # type: ignore[misc]  # sip's metaclass is found at run time
    """The metaclass of such a class: none of it can be made while a method is missing."""
