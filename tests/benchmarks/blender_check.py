"""Exported USD and glTF files in Blender: frame range, positions and the picture of the camera.

    python tests/benchmarks/blender_check.py /path/to/python

The interpreter named has Blender's module (`pip install bpy==5.0.1` in an environment of its own; it needs
Python 3.11). This program writes the files and what they should hold, and that interpreter runs this file
again to import them. It prints the largest deviations: of positions in sizes of the shape, of errors
relative, of the picture in the units of the tracks; and the angle between Blender's upward axis and the mean
one of the pictures, and the height of the lowest point above its floor. It ends with an error where one is
too large. The scale of an orthogonal camera is set first: Blender 5.0.1 reads it ten times too large, and
without metersPerUnit.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from other_python import run_in_other_python

FRAMES = (0, 4, 9)  # that are compared, counted from 0
SIZE = (1920, 1080)
FPS = 24
RELATIVE = 1e-5  # accepted deviation of positions, of the size of the shape: Blender computes in float32
PIXELS = 0.05
LEANING = 35.0  # degrees: up is the axis of the truth next to that of the pictures


def write_files(folder: Path) -> list[dict[str, object]]:
    """Write a sequence in several ways, and return what each file should hold."""
    from dataclasses import replace

    import core
    from core.io.writers.options import ExportOptions, aligned_shapes
    from core.io.writers.scene import cameras_of, compare, picture_bounds
    from core.reconstruction.scale import METERS

    cases: list[dict[str, object]] = []
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
                (path,) = core.export(
                    result, folder / f"{model}_{align}{suffix}", align=align, mirror=options.mirror
                )
                meters = 1.0 if align == "none" else METERS[str(result.meta["truth_units"])]
                compared = compare(result, options)
                assert compared is not None
                cases.append(
                    {
                        "path": str(path),
                        "points": (meters * aligned_shapes(result, options)).tolist(),
                        "truth": (meters * compared.points).tolist(),
                        "errors": compared.errors.tolist(),
                        "pixels": result.reprojections().tolist(),
                        "bounds": picture_bounds(result),
                        "widths": widths(cameras_of(result, options), meters),
                    }
                )
    return cases


def widths(cameras, meters) -> list[float]:
    """Return how wide the pictures of the frames are, in meters at a distance of 1."""
    return (meters * (cameras.picture[:, 2] - cameras.picture[:, 0])).tolist()


def check(case: dict) -> bool:
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


if __name__ == "__main__":
    run_in_other_python(__file__, __doc__, write_files, check)
