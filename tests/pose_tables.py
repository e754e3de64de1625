"""The table of DeepLabCut and Lightning Pose, as pandas writes it, and what is read of such files."""

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


def assert_tracks(sequence, tracks, visible, tolerance=0.0):
    """Compare the tracks of a camera with perspective with (F, P, 2), and what is visible with (F, P)."""
    np.testing.assert_array_equal(sequence.visible, visible)
    np.testing.assert_allclose(
        np.where(visible[:, None], sequence.tracks, 0),
        np.where(visible[..., None], tracks, 0).transpose(0, 2, 1),
        rtol=tolerance,
    )
    assert sequence.camera is CameraModel.PERSPECTIVE and sequence.units == "px"
