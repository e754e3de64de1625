"""Sequences with a known answer: deforming objects seen along camera paths, for demonstrations and tests."""

from ..io.readers.challenge import PATHS
from .objects import KINDS
from .simulation import simulate, write_challenge
