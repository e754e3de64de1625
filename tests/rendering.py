"""Videos of simulated sheets: a small rasterizer, printed patterns, and a camera as it is held by a person.

A frame is drawn at twice its size, then averaged over 2 x 2. A drawn pixel belongs to the triangle nearest to
the camera among those that cover its center. With image positions a, b, c and depths z of the corners, the
weights w of the center in the image give the place on the surface by linear interpolation of 1 / z:

    v_i = (w_i / z_i) / sum_j (w_j / z_j)

The same weights give the truth: `RenderedVideo.locate` finds the material point under an image position, and
`RenderedVideo.project` where that point is in every frame, and whether it is seen there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter, map_coordinates

from core.foundation.representation import OneLine
from core.foundation.types import Bools, Floats, Ints, Pixels
from core.synthetic.objects import KINDS, sheet
from core.synthetic.simulation import cross, hidden, look_at, overlapping
from nrsfm_gui.model.mesh import vertex_normals

OVERSAMPLING = 2
LIGHT = np.array([-0.45, -0.6, -0.66])  # from the object to the light, in the world
AMBIENT = 0.55
TABLE_SIZE = 1800.0  # mm along a side
SHEET_POINTS = 1230  # 41 columns and 30 rows of a sheet of 150 x 110 mm
SHEETS = {"paper": (150.0, 110.0), "stretch": (110.0, 110.0), "tearing": (130.0, 130.0)}  # mm, flat


@dataclass(frozen=True, eq=False)
class RenderedVideo(OneLine):
    """A sheet over a table, the path of the camera, and how they are drawn."""

    size: tuple[int, int]  # width and height in pixels
    intrinsics: Floats  # (3, 3) K
    rotations: Floats  # (F, 3, 3) and (F, 3), world to camera, in mm
    translations: Floats  # (F, 3, 3) and (F, 3), world to camera, in mm
    shapes: Floats  # (F, 3, V) vertices of the sheet in the world, mm
    faces: Ints  # (T, 3) its triangles
    texture_places: Floats
    texture: Floats
    table: Floats
    noise: float  # standard deviation of a channel of a pixel, of 255
    seed: int

    @property
    def frame_count(self) -> int:
        return len(self.shapes)

    def draw(self) -> Iterator[Pixels]:
        """Yield the frames, (H, W, 3) each."""
        random = np.random.default_rng([self.seed, 1])
        for frame in range(self.frame_count):
            picture = self._drawn(frame)
            noisy = 255 * picture + self.noise * random.standard_normal(picture.shape)
            yield np.clip(np.rint(noisy), 0, 255).astype(np.uint8)

    def write(self, path: Path, *, crf: int = 23) -> None:
        write_video(path, self.draw(), crf=str(crf), preset="slow")

    def locate(self, frame: int, places: Floats) -> tuple[Ints, Floats]:
        """Return the material points of the sheet under image positions.

        `places`: (2, N) in pixels. Returns (N,) triangles, -1 where the sheet is not; (3, N) weights of their
        corners.
        """
        image, depths = self._image_of(frame, self.shapes[frame])
        vertices = image.shape[1]
        both = np.concatenate([image, places], axis=1)
        triangles, weights = np.full(places.shape[1], -1), np.zeros((3, places.shape[1]))
        nearest = np.zeros(places.shape[1])
        for triangle, point in overlapping(both, self.faces):
            place = point >= vertices
            triangle, point = triangle[place], point[place] - vertices
            corners = self.faces[triangle].T
            flat = _weights(image[:, corners], places[:, point])
            near = flat / depths[corners]
            covers = (flat >= -1e-12).all(axis=0)
            order = np.flatnonzero(covers)[np.argsort(near.sum(axis=0)[covers])]  # the nearest is set last
            order = order[near[:, order].sum(axis=0) > nearest[point[order]]]
            triangles[point[order]] = triangle[order]
            nearest[point[order]] = near[:, order].sum(axis=0)
            weights[:, point[order]] = near[:, order] / near[:, order].sum(axis=0)
        return triangles, weights

    def points(self, triangles: Ints, weights: Floats) -> Floats:
        """Return material points in the frame of the camera.

        `triangles`, `weights`: (N,) and (3, N), as `locate` returns them. Returns (F, 3, N) mm.
        """
        world = np.einsum("fcnk,kn->fcn", self.shapes[:, :, self.faces[triangles]], weights)
        seen: Floats = self.rotations @ world + self.translations[:, :, None]
        return seen

    def project(self, triangles: Ints, weights: Floats) -> tuple[Floats, Bools]:
        """Return where material points are in the images, and whether they are seen there.

        `triangles`, `weights`: (N,) and (3, N), as `locate` returns them. Returns (F, 2, N) px, and (F, N).
        """
        sheet = self.rotations @ self.shapes + self.translations[:, :, None]
        seen = np.concatenate([sheet, self.points(triangles, weights)], axis=2)
        image = self.intrinsics @ seen
        places = image[:, :2] / image[:, 2:]
        behind = hidden(places, seen[:, 2], self.faces, perspective=True)
        count = len(triangles)
        within = ((places >= 0) & (places <= np.array([[self.size[0] - 1], [self.size[1] - 1]]))).all(axis=1)
        return places[:, :, -count:], (within & ~behind)[:, -count:]

    def _image_of(self, frame: int, vertices: Floats) -> tuple[Floats, Floats]:
        """Return positions (2, V) in the image and depths (V,)."""
        seen = self.rotations[frame] @ vertices + self.translations[frame][:, None]
        image = self.intrinsics @ seen
        return image[:2] / image[2], seen[2]

    def _drawn(self, frame: int) -> Floats:
        """Return a frame (H, W, 3) from 0 to 1: the sheet, and the table behind all that it ever reaches."""
        n = OVERSAMPLING
        width, height = n * self.size[0], n * self.size[1]
        image, depths = self._image_of(frame, self.shapes[frame])
        # The centers of the pixels are whole numbers in both.
        triangles, weights = _rasterize(n * image + (n - 1) / 2, depths, self.faces, (width, height))
        corners = self.faces[triangles].T
        picture = self._table_at(frame, (np.mgrid[:height, :width][::-1].reshape(2, -1) - (n - 1) / 2) / n)
        on = weights.any(axis=0)
        where = np.einsum("ckn,kn->cn", self.texture_places[:, corners[:, on]], weights[:, on])
        shade = np.einsum("kn,kn->n", _shades(self.shapes[frame], self.faces)[corners[:, on]], weights[:, on])
        picture[on] = shade[:, None] * _sampled(self.texture, where)
        averaged: Floats = picture.reshape(self.size[1], n, self.size[0], n, 3).mean(axis=(1, 3))
        return averaged

    def _table_at(self, frame: int, places: Floats) -> Floats:
        """Return the colors (N, 3) of the table, a plane, at positions (2, N) in the image."""
        behind = float(self.shapes[:, 2].max()) + 25.0
        R, eye = self.rotations[frame], -self.rotations[frame].T @ self.translations[frame]
        rays = R.T @ np.linalg.solve(self.intrinsics, np.vstack([places, np.ones(places.shape[1])]))
        there = eye[:2, None] + (behind - eye[2]) / rays[2] * rays[:2]
        return _brightness(LIGHT[2] / np.linalg.norm(LIGHT)) * _sampled(self.table, there / TABLE_SIZE + 0.5)


def write_video(path: Path, pictures: Iterable[Pixels], **options: str) -> Path:
    """Encode pictures (H, W, 3) of one size as H.264, 30 a second; `options` of the encoder."""
    import av

    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=30, options=options)
        for number, picture in enumerate(pictures):
            if not number:
                stream.height, stream.width, stream.pix_fmt = *picture.shape[:2], "yuv420p"
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode(None))
    return path


def render(
    kind: str = "paper",
    *,
    frames: int = 60,
    size: tuple[int, int] = (640, 480),
    focal: float | None = None,
    pattern: str = "cloth",
    noise: float = 2.0,
    seed: int = 0,
) -> RenderedVideo:
    """Return a video of a deforming sheet over a table, seen by a camera in a moving hand; it is drawn later.

    `size`: width and height in pixels; `focal`: the focal length in pixels; by default that of a phone, 0.7 x
    the longer side; `noise`: standard deviation of a channel of a pixel, of 255.

    >>> video = render("paper", frames=3, size=(64, 48))
    >>> next(video.draw()).shape
    (48, 64, 3)
    """
    body = KINDS[kind](frames, SHEET_POINTS)
    flat = np.stack(sheet(SHEET_POINTS, *SHEETS[kind]))
    length = 0.7 * max(size) if focal is None else focal
    K = np.array([[length, 0.0, (size[0] - 1) / 2], [0.0, length, (size[1] - 1) / 2], [0.0, 0.0, 1.0]])
    random = np.random.default_rng([seed, 0])
    # The sheet fills about six tenths of the width or of the height, whichever is less.
    distance = length / 0.6 * max(150 / size[0], 110 / size[1])
    rotations, translations = _handheld(frames, distance, random)
    return RenderedVideo(
        size=size,
        intrinsics=K,
        rotations=rotations,
        translations=translations,
        shapes=body.shapes,
        faces=body.occluders,
        texture_places=(flat - flat.min(axis=1, keepdims=True)) / np.ptp(flat, axis=1, keepdims=True),
        texture=PATTERNS[pattern](random),
        table=_wood(random),
        noise=noise,
        seed=seed,
    )


def sample_video() -> RenderedVideo:
    """Return what the bundled video `sample:sheet` was drawn from: printed cloth that bends, three seconds.

    >>> sample_video().frame_count
    90
    """
    return render("paper", frames=90, size=(640, 360), pattern="cloth", noise=1.5, seed=4)


def _handheld(frames: int, distance: float, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the rotations and translations of a camera that a person moves around the object."""
    s = np.linspace(0, 1, frames)
    phase = random.uniform(0, 2 * np.pi, 10)

    def sway(number: int, cycles: float) -> Floats:
        wave: Floats = np.sin(2 * np.pi * cycles * s + phase[number])
        return wave

    azimuth = 0.5 * sway(0, 0.9) + 0.08 * sway(1, 2.7)
    elevation = 0.35 * sway(2, 0.7) + 0.06 * sway(3, 2.2)
    away = distance * (1 + 0.08 * sway(4, 0.8))
    level = np.cos(elevation)
    outward = np.stack([np.sin(azimuth) * level, -np.sin(elevation), -np.cos(azimuth) * level], axis=1)
    target = 0.02 * distance * np.stack([sway(5, 1.1), sway(6, 1.3), 0 * s], axis=1)
    return look_at(away[:, None] * outward, target, 0.12 * sway(7, 0.6))


def _weights(corners: Floats, place: Floats) -> Floats:
    """Return the weights (3, N) of the corners (2, 3, N) of triangles at positions (2, N) of the plane."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    area = cross(b - a, c - a)
    area = np.where(np.abs(area) < 1e-12, np.inf, area)  # seen edge-on: covers nothing
    second, third = cross(place - a, c - a) / area, cross(b - a, place - a) / area
    weights: Floats = np.stack([1 - second - third, second, third])
    weights[:, ~np.isfinite(area)] = -1
    return weights


def _rasterize(image: Floats, depths: Floats, faces: Ints, size: tuple[int, int]) -> tuple[Ints, Floats]:
    """Return the nearest triangle of every pixel, and the weights (3, H W) of its corners: 0 without one."""
    width, height = size
    limits = np.array([[width - 1], [height - 1]])
    low = np.maximum(np.ceil(image[:, faces].min(axis=2)), 0).astype(int)
    high = np.minimum(np.floor(image[:, faces].max(axis=2)), limits).astype(int)
    columns, rows = np.maximum(high - low + 1, 0)
    counts = columns * rows
    triangle = np.repeat(np.arange(len(faces)), counts)
    step = np.arange(len(triangle)) - np.repeat(np.cumsum(counts) - counts, counts)
    x = low[0, triangle] + step % columns[triangle]
    y = low[1, triangle] + step // columns[triangle]
    corners = faces[triangle].T
    flat = _weights(image[:, corners], np.stack([x, y]).astype(np.float64))
    kept = (flat >= 0).all(axis=0)
    triangle, pixel = triangle[kept], (y * width + x)[kept]
    near = flat[:, kept] / depths[faces[triangle].T]
    total = near.sum(axis=0)
    order = np.argsort(total)  # of several assignments to a pixel the last one stays: the nearest
    triangles, weights = np.zeros(width * height, dtype=np.int64), np.zeros((3, width * height))
    triangles[pixel[order]], weights[:, pixel[order]] = triangle[order], (near / total)[:, order]
    return triangles, weights


def _brightness(cosine: Floats) -> Floats:
    """Return how bright either side of a matt surface is, by the cosine between its normal and the light."""
    return AMBIENT + (1.05 - AMBIENT) * np.abs(cosine)


def _shades(vertices: Floats, faces: Ints) -> Floats:
    return _brightness(vertex_normals(vertices.T, faces) @ (LIGHT / np.linalg.norm(LIGHT)))


def _sampled(texture: Floats, places: Floats) -> Floats:
    """Return the colors (N, 3) at places (2, N) from 0 to 1, bilinear."""
    limits = np.array(texture.shape[1::-1])[:, None] - 1
    x, y = np.clip(places, 0, 1) * limits
    colors = [map_coordinates(channel, [y, x], order=1) for channel in np.moveaxis(texture, 2, 0)]
    return np.stack(colors, axis=1)


# -- printed patterns, (H, W, 3) from 0 to 1 -----------------------------------------------------------------

TEXTURE = (900, 660)
INKS = np.array(
    [[0.76, 0.27, 0.24], [0.15, 0.36, 0.52], [0.90, 0.62, 0.22], [0.29, 0.50, 0.36], [0.45, 0.25, 0.42]]
)


def _clouds(random: np.random.Generator, size: tuple[int, int], scales: tuple[float, ...]) -> Floats:
    """Return smooth noise (H, W) of mean 0 and deviation 1: equal amounts of the scales, in pixels."""
    layers = []
    for scale in scales:
        layer = gaussian_filter(random.standard_normal((size[1], size[0])), scale, mode="wrap")
        layers.append(layer / layer.std())
    total = np.sum(layers, axis=0)
    noise: Floats = total / total.std()
    return noise


def _weave(random: np.random.Generator, size: tuple[int, int]) -> Floats:
    """Return the brightness (H, W) of linen: threads of uneven thickness in both directions."""
    y, x = np.mgrid[: size[1], : size[0]].astype(np.float64)
    wander = 2.0 * _clouds(random, size, (14.0,))
    threads = np.sin(2 * np.pi * (x + wander) / 7) + np.sin(2 * np.pi * (y + wander) / 7)
    brightness: Floats = 1 + 0.025 * threads + 0.03 * _clouds(random, size, (1.2, 9.0))
    return brightness


def _cloth(random: np.random.Generator) -> Floats:
    """Return linen with flowers and leaves."""
    picture = np.ones((TEXTURE[1], TEXTURE[0], 3)) * np.array([0.93, 0.89, 0.80])
    y, x = np.mgrid[: TEXTURE[1], : TEXTURE[0]].astype(np.float64)
    flowers = np.zeros((0, 3))  # x, y, radius
    for _ in range(4000):
        radius = 34.0 if len(flowers) < 60 else 15.0
        center = random.uniform((0, 0), TEXTURE)
        far = np.hypot(*(flowers[:, :2] - center).T)
        if (far < 0.95 * (radius + flowers[:, 2])).any():
            continue
        flowers = np.concatenate([flowers, [[*center, radius]]])
        petals, phase = random.integers(4, 8), random.uniform(0, 2 * np.pi)
        rows = slice(max(0, int(center[1] - radius)), int(center[1] + radius) + 2)
        columns = slice(max(0, int(center[0] - radius)), int(center[0] + radius) + 2)
        dx, dy = x[rows, columns] - center[0], y[rows, columns] - center[1]
        far, angle = np.hypot(dx, dy), np.arctan2(dy, dx)
        ink, other = random.permutation(len(INKS))[:2]
        size = radius * random.uniform(0.75, 0.98)
        layers = [
            (size * (0.72 + 0.28 * np.cos(petals * angle + phase)), INKS[ink]),
            (size * (0.40 + 0.14 * np.cos(petals * angle + phase)), 0.6 * INKS[ink] + 0.4),
            (np.full_like(far, 0.2 * size), INKS[other]),
        ]
        for edge, color in layers:
            cover = np.clip(0.5 + edge - far, 0, 1)[:, :, None]
            picture[rows, columns] = (1 - cover) * picture[rows, columns] + cover * color
    return np.asarray(np.clip(picture * _weave(random, TEXTURE)[:, :, None], 0, 1))


def _page(random: np.random.Generator) -> Floats:
    """Return paper with lines of print and two pictures; the letters are strokes, not letters of a script."""
    picture = np.ones((TEXTURE[1], TEXTURE[0])) * 0.93
    for top in range(30, TEXTURE[1] - 30, 19):
        left = 36
        while left < TEXTURE[0] - 40:
            for _ in range(random.integers(2, 9)):
                for _ in range(random.integers(2, 4)):
                    a, b = random.integers(0, 8), random.integers(0, 6)
                    if random.random() < 0.5:
                        picture[top + a : top + a + 2, left : left + 7] = 0.15
                    else:
                        picture[top : top + 11, left + b : left + b + 2] = 0.15
                left += 9
                if left >= TEXTURE[0] - 45:
                    break
            left += 8
    page: Floats = np.repeat(picture[:, :, None], 3, axis=2)
    for left, top in ((90, 110), (520, 380)):
        image = (
            0.5 + 0.16 * _clouds(random, (280, 170), (3.0, 10.0, 30.0))[:, :, None] * INKS[random.integers(5)]
        )
        page[top : top + 170, left : left + 280] = image
    return np.asarray(np.clip(page * (1 + 0.01 * _clouds(random, TEXTURE, (1.0, 6.0))[:, :, None]), 0, 1))


def _stone(random: np.random.Generator) -> Floats:
    layers = [0.5 + 0.15 * _clouds(random, TEXTURE, (1.5, 4.0, 12.0, 40.0)) for _ in range(3)]
    gray = np.mean(layers, axis=0)
    return np.asarray(np.clip(np.stack([0.6 * gray + 0.4 * layer for layer in layers], axis=2), 0, 1))


def _wood(random: np.random.Generator) -> Floats:
    size = (1200, 1200)
    y, x = np.mgrid[: size[1], : size[0]].astype(np.float64)
    rings = y / 9 + 1.5 * np.sin(x / 140) + 2.0 * _clouds(random, size, (40.0,))
    tone = 0.55 + 0.05 * np.sin(2 * np.pi * rings / 3) + 0.02 * _clouds(random, size, (1.5, 8.0))
    tone -= 0.25 * (y % 150 < 3)
    return np.asarray(np.clip(tone[:, :, None] * np.array([0.82, 0.66, 0.50]), 0, 1))


PATTERNS = {"cloth": _cloth, "page": _page, "stone": _stone}
