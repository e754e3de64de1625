"""The arrays of point trackers as these write them: 12 frames of 9 points."""

import numpy as np
from scipy.special import logit

F, P = 12, 9
RNG = np.random.default_rng(8)
TIME = np.arange(F)[:, None, None]
# Points that move less from frame to frame than they are apart, as in a video.
TRACKS = (RNG.uniform(200, 700, size=(1, 2, P)) + 8 * np.sin(TIME / 3 + RNG.uniform(0, 6, (1, 2, P)))).astype(
    np.float32
)
SEEN = RNG.random((F, P)) < 0.8
SEEN[:, 0] = SEEN[:2] = True
K = np.array([[900.0, 0, 480], [0, 900, 360], [0, 0, 1]])
TNXY, NTXY = TRACKS.transpose(0, 2, 1), TRACKS.transpose(2, 0, 1)
SCORES = np.where(SEEN, 0.94, 0.3).astype(np.float32)
VIDEO = np.zeros((F, 90, 120, 3), np.uint8)  # tiny: the tracks do not lie in it
LARGE_VIDEO = np.broadcast_to(np.uint8(0), (1, 720, 960, 3))

LOGITS = {"occlusion": np.where(SEEN, logit(0.1), logit(0.8)).T, "expected_dist": np.full((P, F), logit(0.2))}
CERTAINTY = {"visible_logits": np.full((P, F), 2.0), "certainty": np.where(SEEN, 0.9, 0.4).T}
TAP_VID = {"points": NTXY / np.float32([960, 720]), "occluded": ~SEEN.T}
BOTH_SCORES = np.stack([SCORES, np.where(SEEN, 0.5, 0.05)], axis=-1)
ROWS = {
    "CoTracker, batch": {"pred_tracks": TNXY[None], "pred_visibility": SEEN[None]},
    "CoTracker, last axis": {"pred_tracks": TNXY[None], "pred_visibility": SEEN[None, :, :, None]},
    "CoTracker, squeezed": {"tracks": TNXY, "visibility": SEEN},
    "CoTracker, short names": {"coords": TNXY, "vis": SEEN},
    "CoTracker, scores": {"pred_tracks": TNXY, "pred_visibility": SCORES, "pred_confidence": SCORES},
    "TAPIR": {"tracks": NTXY, "visibles": SEEN.T},
    "TAPIR, batch": {"tracks": NTXY[None], "visibles": SEEN.T[None]},
    "TAPIR, occluded": {"tracks": NTXY, "occluded": ~SEEN.T},
    "TAPIR, with its logits": {"tracks": NTXY, "visibles": SEEN.T, **LOGITS},
    "TAPIR, logits": {"tracks": NTXY, **LOGITS},
    "TAPNext": {"tracks": NTXY[None], "visible_logits": np.where(SEEN, 2.0, -3.0).T[None]},
    "TAPNext, certainty": {"tracks": NTXY, **CERTAINTY},
    "TAP-Vid": TAP_VID | {"video": LARGE_VIDEO},
    "DELTA": {"coords": TNXY, "vis": SEEN, "conf": SCORES},
    "AllTracker": {"trajs_e": TNXY[None], "visconfs_e": BOTH_SCORES[None]},
}


def cells(items):
    """Arrays as cells of MATLAB."""
    box = np.empty((1, len(items)), dtype=object)
    box[0] = items
    return box


def world():
    """Points that move in front of a turning camera."""
    rng = np.random.default_rng(3)
    points = rng.normal(size=(1, P, 3)) + 0.1 * np.sin(TIME / 3 + rng.uniform(0, 6, (1, P, 3)))
    angles = np.linspace(0, 0.4, F)
    extrinsics = np.tile(np.eye(4), (F, 1, 1))
    extrinsics[:, 0, 0] = extrinsics[:, 2, 2] = np.cos(angles)
    extrinsics[:, 0, 2], extrinsics[:, 2, 0] = np.sin(angles), -np.sin(angles)
    extrinsics[:, :3, 3] = [0.2, -0.1, 8.0]
    return {
        "coords": points.astype(np.float32),
        "extrinsics": extrinsics.astype(np.float32),
        "intrinsics": np.tile(K, (F, 1, 1)).astype(np.float32),
        "visibs": SEEN,
        "video": LARGE_VIDEO,
        "depths": np.ones((F, 4, 5), np.float32),
        "query_points": np.zeros((P, 4), np.float32),
    }


def tap_vid_videos():
    """Two videos of TAP-Vid by name, as its pickles have them; their pictures are a tenth as large."""
    dogs = {
        "points": NTXY / np.array([960, 720]),
        "occluded": ~SEEN.T,
        "video": np.zeros((F, 72, 96, 3), np.uint8),
    }
    short = {"points": dogs["points"][:, :8], "occluded": dogs["occluded"][:, :8], "video": dogs["video"][:8]}
    return {"dogs": dogs, "breakdance": short}
