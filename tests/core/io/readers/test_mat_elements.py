"""The values of MATLAB files as plain arrays, lists and dicts."""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from core import InputError
from core.io.files.variables import size_of
from core.io.readers.arrays.mat import load_variables

FILE = Path("a.mat")


def as_scipy_reads(value):
    if scipy.sparse.issparse(value):
        value = value.toarray()
    if value.dtype.names:
        structs = [
            {name: as_scipy_reads(each[name]) for name in value.dtype.names} for each in value.ravel("F")
        ]
        return structs[0] if len(structs) == 1 else structs
    if value.dtype == object:
        return [as_scipy_reads(each) for each in value.ravel("F")]
    return value if value.dtype.kind in "biufc" else None


def check_same(ours, theirs):
    assert type(ours) is type(theirs)
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys()
        for name in ours:
            check_same(ours[name], theirs[name])
    elif isinstance(ours, list):
        for one, other in zip(ours, theirs, strict=True):
            check_same(one, other)
    elif ours is not None:
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.filterwarnings("ignore:The default value for `spmatrix`:DeprecationWarning")
def test_what_scipy_writes_is_read_as_scipy_reads_it():
    rng = np.random.default_rng(0)
    cells = np.empty((2, 3), dtype=object)
    for place in np.ndindex(cells.shape):
        cells[place] = rng.normal(size=(3, 4)) if place != (1, 1) else "text"
    structs = np.zeros((1, 2), dtype=[("p", object), ("name", object)])
    for number in range(2):
        structs[0, number] = (rng.normal(size=(2, 5)), f"view {number}")
    variables: dict[str, Any] = {
        "small": np.array([[1, 2], [3, 4]], dtype=np.uint8),
        "W": rng.normal(size=(6, 9)),
        "complex": rng.normal(size=(2, 3)) + 1j * rng.normal(size=(2, 3)),
        "flags": rng.random((3, 4)) < 0.5,
        "single": np.float32(3.5),
        "text": "nothing to read",
        "sparse": scipy.sparse.random(5, 4, 0.5, "csc", random_state=0),
        "empty": np.zeros((0, 3)),
        "cells": cells,
        "struct": {"a": np.eye(3), "in": {"b": cells}},
        "structs": structs,
    }
    content = io.BytesIO()
    scipy.io.savemat(content, variables)
    content.seek(0)
    theirs = {
        name: as_scipy_reads(value) for name, value in scipy.io.loadmat(content).items() if name[0] != "_"
    }
    check_same(load_variables(content.getvalue(), FILE), {k: v for k, v in theirs.items() if v is not None})


def test_numbers_of_the_other_order_become_native():
    header = struct.pack(">5i", 1000, 2, 3, 0, 2) + b"W\0"
    ours = load_variables(header + struct.pack(">6d", 1, -2.5, 3e300, 4, 5, 6), FILE)
    np.testing.assert_array_equal(ours["W"], [[1, 3e300, 5], [-2.5, 4, 6]])
    assert ours["W"].dtype.isnative


def test_what_is_too_large_beside_the_tracks_is_marked_and_alone_is_refused(monkeypatch):
    monkeypatch.setenv("NRSFM_FILE_MEMORY", "0.003")
    mask, wanted = np.zeros((2000, 2000), np.uint8), np.arange(24.0).reshape(4, 6)
    cells = np.empty((1, 1), dtype=object)
    cells[0, 0] = mask
    for rois in (mask, cells):
        stream = io.BytesIO()
        scipy.io.savemat(stream, {"rois": rois, "W": wanted}, do_compression=True)
        found = load_variables(stream.getvalue(), FILE)
        np.testing.assert_array_equal(found["W"], wanted)
        assert size_of(found["rois"]) == "more than a file of this size may need, and not read"
    scipy.io.savemat(stream := io.BytesIO(), {"rois": mask}, do_compression=True)
    with pytest.raises(
        InputError, match="needs too much of memory; accepted of a file of this size are 3 MB"
    ):
        load_variables(stream.getvalue(), FILE)
