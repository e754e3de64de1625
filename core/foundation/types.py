"""The types of the project: arrays, and the function that long work calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .exceptions import InputError

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Pixels = npt.NDArray[np.uint8]
Watch: TypeAlias = Callable[[], object]  # long work calls it often; what it raises ends the work


def do_nothing() -> None:
    """Do nothing; the `Watch` of work that nobody watches."""


def read_only(array: npt.ArrayLike, dtype: type = np.float64) -> npt.NDArray[Any]:
    """Return a contiguous, read-only copy of an array, which threads can share; or itself if it is one."""
    given = np.asarray(array)
    if given.dtype.kind == "c":
        raise InputError(f"an array holds {given.dtype} numbers; accepted are real ones")
    if given.dtype == dtype and given.flags.c_contiguous and not given.flags.writeable and given.base is None:
        return given
    copy: npt.NDArray[Any] = np.array(given, dtype=dtype, order="C")
    copy.setflags(write=False)
    return copy
