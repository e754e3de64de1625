"""An exported `.pvd` in VTK: times, positions, arrays of the points, and cells.

    python tests/benchmarks/paraview_check.py /path/to/python

The interpreter named has PyVista (`pip install pyvista` in an environment of its own). This program writes
the files and what they should hold, and that interpreter runs this file again to read them, with the reader
that ParaView has. It ends with an error where something differs.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from other_python import run_in_other_python


def write_files(folder: Path) -> list[dict[str, object]]:
    """Write a sequence with faces, with edges and with points alone; return what each file should hold."""
    from dataclasses import replace

    import core
    from core.io.writers.options import ExportOptions, aligned_shapes
    from core.io.writers.scene import compare

    sequence = core.simulate("paper", frames=10, points=40)
    result = core.reconstruct(sequence, rank=2, starts=1, rotations="truth")
    cases: list[dict[str, object]] = []
    options = ExportOptions(align="sequence")
    compared = compare(result, options)
    assert compared is not None
    for name, changes in {
        "faces": {},
        "edges": {"faces": None},
        "points": {"faces": None, "edges": None},
    }.items():
        drawn = replace(result, **changes)
        files = core.export(drawn, folder / f"{name}.pvd", align=options.align)
        items = {"faces": drawn.faces, "edges": drawn.edges}.get(name)
        cases.append(
            {
                "path": str(files[0]),
                "points": aligned_shapes(result, options).tolist(),
                "errors": compared.errors.tolist(),
                "visible": result.visible.tolist(),
                "cells": len(items) if items is not None else result.point_count,
            }
        )
    return cases


def check(case: dict) -> bool:
    """Read a file, compare, and print what was found."""
    import pyvista

    reader = pyvista.get_reader(case["path"])
    points = np.array(case["points"])
    times, far, same = list(reader.time_values), 0.0, True
    for frame, time in enumerate(times):
        reader.set_active_time_value(time)
        mesh = reader.read()[0]
        far = max(far, float(np.abs(mesh.points - points[frame].T).max()))
        same = same and np.allclose(mesh.point_data["error"], case["errors"][frame], rtol=1e-5)
        same = same and np.array_equal(mesh.point_data["visible"], case["visible"][frame])
        same = same and np.allclose(
            np.linalg.norm(mesh.point_data["to_truth"], axis=1), case["errors"][frame], rtol=1e-3
        )
        cells = mesh.n_faces or mesh.n_lines or mesh.n_verts
        same = same and cells == case["cells"] and mesh.active_scalars_name == "error"
    good = same and far < 1e-9 * np.ptp(points) + 1e-12 and times == list(range(1, len(points) + 1))
    name, shown = Path(case["path"]).name, f"times {times[0]:g} to {times[-1]:g}, position {far:.1e}"
    print(f"{name:12} {'ok' if good else 'WRONG':5} {shown}")
    return good


if __name__ == "__main__":
    run_in_other_python(__file__, __doc__, write_files, check)
