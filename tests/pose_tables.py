"""Points as tools of poses and of motion capture write them, and what is read of such files."""

import ezc3d
import numpy as np

from core import CameraModel


def write_pose_table(path, names, *poses, individuals=("",), extra=()):
    """Write the places of points: of each individual (F, P, 2), or (F, P, 3) with likelihoods."""
    kinds = ("x", "y", "likelihood")[: poses[0].shape[2]]
    columns = [(one, name, kind) for one in individuals for name in names for kind in kinds]
    rows = [["scorer", *["DLC_resnet50_mouseJan1shuffle1_100000"] * len(columns), *extra]]
    for level, name in enumerate(("individuals", "bodyparts", "coords")):
        if level or individuals != ("",):
            rows.append([name, *(column[level] for column in columns), *("" for _ in extra)])
    values = np.concatenate(poses, axis=1).reshape(len(poses[0]), -1).tolist()
    rows += [[number, *row, *("train" for _ in extra)] for number, row in enumerate(values)]
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


def landmarks(tracks, visible, size):
    """Return frames of landmarks as MediaPipe's result is saved, of tracks (F, P, 2)."""
    places, seen = (tracks / size).tolist(), np.where(visible, 0.98, 0.2).tolist()
    return [
        [{"x": x, "y": y, "z": -0.1, "visibility": s} for (x, y), s in zip(*frame, strict=True)]
        for frame in zip(places, seen, strict=True)
    ]


def write_markers(path, shapes, names, units="mm"):
    """Write shapes (F, 3, P) as a C3D."""
    file = ezc3d.c3d()
    for name, value in (("UNITS", [units]), ("RATE", [100]), ("LABELS", names)):
        file["parameters"]["POINT"][name]["value"] = value
    file["data"]["points"] = np.insert(shapes, 3, 1.0, axis=1).transpose(1, 2, 0)
    file.write(str(path))
    return path


def assert_tracks(sequence, tracks, visible, tolerance=0.0):
    """Compare the tracks of a camera with perspective with (F, P, 2), and what is visible with (F, P)."""
    np.testing.assert_array_equal(sequence.visible, visible)
    np.testing.assert_allclose(
        np.where(visible[:, None], sequence.tracks, 0),
        np.where(visible[..., None], tracks, 0).transpose(0, 2, 1),
        rtol=tolerance,
    )
    assert sequence.camera is CameraModel.PERSPECTIVE and sequence.units == "px"
