"""The same results from run to run, and nearly the same with other kernels of BLAS."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import numpy as np
import pytest

from core import load_result

MEASURED = ("history", "energy_history")  # with a column of seconds


def solve(path, variables, *words):
    """Reconstruct the balloon in another process; return the file of the result."""
    command = [sys.executable, "-m", "core", "solve", "sample:balloon/circle", "--rank", "2", "--quiet"]
    subprocess.run([*command, *words, "-o", str(path)], env=os.environ | variables, check=True)
    return path


def without_seconds(name, values):
    return np.delete(values, 1, axis=1) if name in MEASURED else values


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["wnn", "depths"])
def test_results_are_the_same_bit_for_bit_from_run_to_run(objective, tmp_path):
    found = []
    for threads, seed in (("1", "0"), ("2", "1")):
        variables = {"OPENBLAS_NUM_THREADS": threads, "PYTHONHASHSEED": seed}
        path = solve(tmp_path / f"{threads}.npz", variables, "--objective", objective)
        with np.load(path) as arrays:
            found.append(
                {name: without_seconds(name, arrays[name]) for name in arrays.files if name != "meta"}
            )
    one, other = found
    assert one.keys() == other.keys() and one["loss"] > 0
    for name, values in one.items():
        np.testing.assert_array_equal(values, other[name], err_msg=name)


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the kernels are of x86-64")
def test_errors_do_not_hang_on_the_last_digits_of_sums(tmp_path):
    """The energy of a balloon is flat along shapes whose errors differ by a quarter: it has to converge."""
    kernels = ("Prescott", "Nehalem")  # every processor of today runs these
    found = [
        load_result(solve(tmp_path / f"{kernel}.npz", {"OPENBLAS_CORETYPE": kernel}, "--objective", "depths"))
        for kernel in kernels
    ]
    errors = [result.errors()["procrustes_mm"] for result in found]
    assert errors[0] == pytest.approx(errors[1], rel=2e-3) and max(errors) < 0.7
    assert found[0].loss == pytest.approx(found[1].loss, rel=1e-10)
