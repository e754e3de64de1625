"""The methods compared on the same problems: loss against CPU time, iterations, memory."""

from .growth import GROWTH_SIZES, growth_cases, growth_curve
from .known_cameras import (
    BILINEAR_TITLE,
    KnownCamerasProblem,
    KnownCamerasScene,
    SolverCurve,
    read_scene,
    solve_bilinear,
)
from .measurement import CurvePoint, Stopwatch
from .methods import BENCHMARK_METHODS, TIME_LIMIT, BenchmarkMethod
from .problems import BENCHMARK_STARTS, BenchmarkCase, bilinear_start, solve_incrementally
from .pyproximal import PYPROXIMAL_METHODS, compare_with_pyproximal, pyproximal_blocks, pyproximal_rows
from .results import benchmark_blocks, benchmark_rows
from .runs import STOPPED, BenchmarkInterrupted, MethodRun, measure_method, run_benchmark, run_method

__all__ = [
    "BENCHMARK_METHODS",
    "BENCHMARK_STARTS",
    "BILINEAR_TITLE",
    "GROWTH_SIZES",
    "PYPROXIMAL_METHODS",
    "STOPPED",
    "TIME_LIMIT",
    "BenchmarkCase",
    "BenchmarkInterrupted",
    "BenchmarkMethod",
    "CurvePoint",
    "KnownCamerasProblem",
    "KnownCamerasScene",
    "MethodRun",
    "SolverCurve",
    "Stopwatch",
    "benchmark_blocks",
    "benchmark_rows",
    "bilinear_start",
    "compare_with_pyproximal",
    "growth_cases",
    "growth_curve",
    "measure_method",
    "pyproximal_blocks",
    "pyproximal_rows",
    "read_scene",
    "run_benchmark",
    "run_method",
    "solve_bilinear",
    "solve_incrementally",
]
