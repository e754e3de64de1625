"""Exported files in other programs: USD and glTF in Blender, `.pvd` in the reader that ParaView has.

    python tests/benchmarks/exports_check.py /path/to/python

The interpreter named is of an environment of its own, without this project, and has Blender's module (`pip
install bpy==5.0.1`; it needs Python 3.11), PyVista (`pip install pyvista`), or both. This program writes the
files and what they should hold, and that interpreter runs this file again to read them. It ends with an error
where something differs.

Of Blender it prints the largest deviations: of positions in sizes of the shape, of errors relative, of the
picture in the units of the tracks; and the angle between Blender's upward axis and the mean one of the
pictures, and the height of the lowest point above its floor. The scale of an orthogonal camera is set first:
Blender 5.0.1 reads it ten times too large, and without metersPerUnit.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

CHECK = "--check"  # of this script in the other interpreter
Cases = list[dict[str, Any]]  # of every file the path and what it should hold

FRAMES = (0, 4, 9)  # that are compared, counted from 0
SIZE = (1920, 1080)
FPS = 24
RELATIVE = 1e-5  # accepted deviation of positions, of the size of the shape: Blender computes in float32
PIXELS = 0.05
LEANING = 35.0  # degrees: up is the axis of the truth next to that of the pictures


def write_for_blender(folder: Path) -> Cases:
    """Write a sequence in several ways, and return what each file should hold."""
    import core
    from core.io.writers.options import ExportOptions, aligned_shapes
    from core.io.writers.scene import cameras_of, compare, picture_bounds
    from core.reconstruction.scale import METERS

    cases: Cases = []
    for model in ("perspective", "orthogonal"):
        simulated = core.simulate("paper", frames=10, points=40, camera=core.CameraModel(model))
        result = core.reconstruct(simulated, rank=2, starts=1, rotations="truth")
        if model == "perspective":  # pixels that are not square, and a principal point off the middle
            K = np.array([[1500.0, 0.0, 900.0], [0.0, 1450.0, 560.0], [0.0, 0.0, 1.0]])
            result = replace(result, intrinsics=K)
            result = replace(result, meta=result.meta | {"image_size": SIZE})
        result = replace(result, meta=result.meta | {"frame_rate": FPS})
        for align in ("none", "sequence"):
            for suffix in (".usda", ".glb"):
                options = ExportOptions(align=align, mirror=model == "orthogonal", y_up=True)
                path = folder / f"{model}_{align}{suffix}"
                core.export(result, path, align=align, mirror=options.mirror)
                meters = 1.0 if align == "none" else METERS[str(result.meta["truth_units"])]
                compared = compare(result, options)
                left, _, right, _ = cameras_of(result, options).picture.T
                cases.append(
                    {
                        "path": str(path),
                        "points": (meters * aligned_shapes(result, options)).tolist(),
                        "truth": (meters * compared.points).tolist(),
                        "errors": compared.errors.tolist(),
                        "pixels": result.reprojections().tolist(),
                        "bounds": picture_bounds(result),
                        "widths": (meters * (right - left)).tolist(),  # of pictures, at a distance of 1
                    }
                )
    return cases


def check_in_blender(case: dict) -> bool:
    """Import a file into an empty Blender, compare, and print the deviations."""
    import bpy
    from bpy_extras.object_utils import world_to_camera_view
    from mathutils import Vector

    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene, usd = bpy.context.scene, case["path"].endswith(".usda")
    scene.render.fps = FPS  # the import sets no frame rate; frames of glTF, whose time is in seconds, need it
    if usd:
        bpy.ops.wm.usd_import(filepath=case["path"], set_frame_range=True)
    else:
        bpy.ops.import_scene.gltf(filepath=case["path"])
    points, truth, pixels = (np.array(case[name]) for name in ("points", "truth", "pixels"))
    objects = {item.name: item for item in bpy.data.objects}
    far = {"position": 0.0, "surface": 0.0, "truth": 0.0, "error": 0.0, "picture": 0.0}

    def compare_with(name, got, expected):
        far[name] = max(far[name], float(np.abs(got - expected).max()))

    scales, ups, lowest = None, [], np.inf
    for frame in FRAMES:
        scene.frame_set(frame + 1 if usd else frame)  # glTF begins at time 0
        graph = bpy.context.evaluated_depsgraph_get()

        def positions(name, graph=graph):
            """Return the positions (P, 3) of an object as Blender has them, z up."""
            item = objects[name].evaluated_get(graph)
            data = item.to_mesh() if item.type == "MESH" else item.data
            flat = np.array([entry.vector[:] for entry in data.attributes["position"].data])
            world = np.array(item.matrix_world)
            return flat @ world[:3, :3].T + world[:3, 3]

        camera = objects["camera"].evaluated_get(graph)
        ups.append(np.array(camera.matrix_world)[:3, 1])
        lowest = min(lowest, positions("estimate" if usd else "shape")[:, 2].min() / np.ptp(points))
        expected = points[frame].T[:, [0, 2, 1]] * [1, -1, 1]  # z up
        if not usd:
            compare_with("position", positions("shape"), expected)
            continue
        compare_with("position", positions("estimate"), expected)
        compare_with("surface", positions("surface"), expected)
        compare_with("truth", positions("ground_truth"), truth[frame].T[:, [0, 2, 1]] * [1, -1, 1])
        cloud = objects["estimate"].evaluated_get(graph).data
        errors = np.array([entry.value for entry in cloud.attributes["error"].data])
        compare_with("error", errors / case["errors"][frame], 1.0)
        left, top, right, bottom = case["bounds"]
        set_aspect(scene, camera.data)
        if camera.data.type == "ORTHO":
            scales = scales or (camera.data.ortho_scale, case["widths"][frame])
            camera.data.ortho_scale = case["widths"][frame]
        views = np.array([world_to_camera_view(scene, camera, Vector(point))[:2] for point in expected])
        got = [left + views[:, 0] * (right - left), bottom - views[:, 1] * (bottom - top)]
        compare_with("picture", got, pixels[frame])
    if scales is not None:
        print(f"    Blender's scale of the orthogonal camera was {scales[0]:g}, it is {scales[1]:g} meters")
    size = np.ptp(points)
    for name in ("position", "surface", "truth"):
        far[name] /= size
    frames = (scene.frame_start, scene.frame_end)
    good = max(far[name] for name in ("position", "surface", "truth")) < RELATIVE
    good = good and far["error"] < 1e-4 and far["picture"] < PIXELS
    good = good and (not usd or frames == (1, len(points)))
    up = np.mean(ups, axis=0)
    angle = float(np.degrees(np.arccos(up[2] / np.linalg.norm(up))))
    good = good and angle < LEANING and -0.01 < lowest < 0.5
    told = ", ".join(f"{name} {value:.1e}" for name, value in far.items())
    told += f"; up {angle:.1f} degrees from the pictures, lowest point {lowest:.3f} above the floor"
    print(f"{Path(case['path']).name:26} {'ok' if good else 'WRONG':5} frames {frames}; {told}")
    return good


def set_aspect(scene, lens):
    """Give the render the shape of the picture: of the film, Blender's renders have the width alone."""
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    aspect = (lens.sensor_width / lens.sensor_height) / (SIZE[0] / SIZE[1])
    scene.render.pixel_aspect_x, scene.render.pixel_aspect_y = max(aspect, 1.0), max(1 / aspect, 1.0)


def write_for_paraview(folder: Path) -> Cases:
    """Write a sequence with faces, with edges and with neither; return what each file should hold."""
    import core
    from core.io.writers.options import ExportOptions, aligned_shapes
    from core.io.writers.scene import compare

    sequence = core.simulate("paper", frames=10, points=40)
    result = core.reconstruct(sequence, rank=2, starts=1, rotations="truth")
    cases: Cases = []
    options = ExportOptions(align="sequence")
    compared = compare(result, options)
    no_faces = replace(result, faces=None)
    bare = replace(no_faces, edges=None)  # whose mesh is found as it is written
    for name, drawn in {"faces": result, "edges": no_faces, "points": bare}.items():
        files = core.export(drawn, folder / f"{name}.pvd", align=options.align)
        meshed = drawn.with_mesh()
        cases.append(
            {
                "path": str(files[0]),
                "points": aligned_shapes(result, options).tolist(),
                "errors": compared.errors.tolist(),
                "visible": result.visible.tolist(),
                "cells": len(meshed.edges if meshed.faces is None else meshed.faces),
            }
        )
    return cases


def check_in_paraview(case: dict) -> bool:
    """Read a file, compare, and print what was found."""
    import pyvista

    reader = pyvista.get_reader(case["path"])
    points = np.array(case["points"])
    times, far, same = list(reader.time_values), 0.0, True
    for frame, time in enumerate(times):
        reader.set_active_time_value(time)
        mesh = reader.read()[0]
        far = max(far, float(np.abs(mesh.points - points[frame].T).max()))
        errors, apart = case["errors"][frame], np.linalg.norm(mesh.point_data["to_truth"], axis=1)
        same = same and np.allclose(mesh.point_data["error"], errors, rtol=1e-5)
        same = same and np.array_equal(mesh.point_data["visible"], case["visible"][frame])
        same = same and np.allclose(apart, errors, rtol=1e-3)
        cells = mesh.n_faces or mesh.n_lines or mesh.n_verts
        same = same and cells == case["cells"] and mesh.active_scalars_name == "error"
    good = same and far < 1e-9 * np.ptp(points) + 1e-12 and times == list(range(1, len(points) + 1))
    name, shown = Path(case["path"]).name, f"times {times[0]:g} to {times[-1]:g}, position {far:.1e}"
    print(f"{name:12} {'ok' if good else 'WRONG':5} {shown}")
    return good


def main() -> int:
    """Write the cases, or check those that this interpreter can read; return 1 where one is wrong."""
    programs = {  # by the modules that they need
        "bpy": (write_for_blender, check_in_blender),
        "pyvista": (write_for_paraview, check_in_paraview),
    }
    if len(sys.argv) == 3 and sys.argv[1] == CHECK:
        cases, there = json.loads(Path(sys.argv[2]).read_text()), [*filter(find_spec, programs)]
        good = [programs[module][1](case) for module in there for case in cases[module]]
        return int(not good or not all(good))
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "cases.json")
        path.write_text(json.dumps({module: write(Path(folder)) for module, (write, _) in programs.items()}))
        return subprocess.run([sys.argv[1], __file__, CHECK, str(path)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
