"""PLY and glTF files, read as their specifications describe them, and results to write."""

import base64
import json
import struct
import zlib
from dataclasses import replace

import numpy as np

COMPONENTS = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
CODES = {"double": "<f8", "float": "<f4", "int": "<i4", "uchar": "u1"}  # of PLY
SIZES = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


def read_ply(path):
    """Return the values of each element of a PLY file, as the header describes them; faces are triangles."""
    header, _, body = path.read_bytes().partition(b"end_header\n")
    first, form, *lines = (line.split() for line in header.decode("ascii").splitlines())
    assert first == ["ply"] and form[1:] in (["binary_little_endian", "1.0"], ["ascii", "1.0"])
    text, elements, read = body.decode("ascii").split() if form[1] == "ascii" else None, {}, {}
    for kind, name, *more in lines:
        if kind == "element":
            elements[name] = (int(more[0]), fields := [])
        elif kind == "property":
            types = ["uchar", *3 * ["int"]] if name == "list" else [name]
            fields += [(f"{more[-1]} {k}", CODES[each]) for k, each in enumerate(types)]
    for name, (count, fields) in elements.items():
        width = len(fields)
        if text is None:
            size = np.dtype(fields).itemsize
            table = np.frombuffer(body, fields, count)
            values, body = np.array(table.tolist()).reshape(count, width), body[count * size :]
        else:
            values, text = np.array(text[: count * width], float).reshape(count, width), text[count * width :]
        if name == "face":
            assert (values[:, 0] == 3).all()  # corners
            values = values[:, 1:]
        read[name] = values
    assert not (body if text is None else text)
    return read


def read_gltf(path):
    """Return tree and buffer of a .gltf or .glb file, as the specification lays them out."""
    content = path.read_bytes()
    if path.suffix == ".gltf":
        tree = json.loads(content)
        head, data = tree["buffers"][0]["uri"].split(",", 1)
        assert head == "data:application/octet-stream;base64"
        buffer = base64.b64decode(data, validate=True)
        assert len(buffer) == tree["buffers"][0]["byteLength"]
        return tree, buffer
    magic, version, length = struct.unpack_from("<4sII", content)
    assert (magic, version, length) == (b"glTF", 2, len(content))
    size, kind = struct.unpack_from("<I4s", content, 12)
    assert kind == b"JSON" and size % 4 == 0
    text = content[20 : 20 + size]
    assert text == text.rstrip(b" ") + b" " * (len(text) - len(text.rstrip(b" ")))
    tree = json.loads(text)
    body, kind = struct.unpack_from("<I4s", content, 20 + size)
    assert kind == b"BIN\0" and body % 4 == 0 and 20 + size + 8 + body == len(content)
    assert "uri" not in tree["buffers"][0]
    used = tree["buffers"][0]["byteLength"]
    assert used <= body <= used + 3
    return tree, content[28 + size :][:used]


def array(tree, buffer, index):
    """Decode an accessor, checking its bounds, its alignment and what it says of itself."""
    accessor = tree["accessors"][index]
    view = tree["bufferViews"][accessor["bufferView"]]
    kind = np.dtype(COMPONENTS[accessor["componentType"]])
    width, offset = SIZES[accessor["type"]], accessor.get("byteOffset", 0)
    assert view["buffer"] == 0 and "byteStride" not in view
    assert (view.get("byteOffset", 0) + offset) % kind.itemsize == 0
    needed = accessor["count"] * width * kind.itemsize
    assert accessor["count"] >= 1 and offset + needed <= view["byteLength"]
    assert view.get("byteOffset", 0) + view["byteLength"] <= len(buffer)
    if view.get("target") == 34962:
        assert kind.itemsize * width % 4 == 0
    start = view.get("byteOffset", 0) + offset
    values = np.frombuffer(buffer[start : start + needed], kind).reshape(-1, width)
    if "min" in accessor:
        assert np.array_equal(values.min(axis=0), np.array(accessor["min"], dtype=kind))
        assert np.array_equal(values.max(axis=0), np.array(accessor["max"], dtype=kind))
    if kind.kind == "f":
        assert np.isfinite(values).all()
    return values if width > 1 else values[:, 0]


def shape_at(tree, buffer, seconds):
    """Return the (P, 3) shape that a viewer shows at a time: base and weighted targets."""
    (mesh,) = tree["meshes"]
    primitive = mesh["primitives"][0]
    sampler = tree["animations"][0]["samplers"][0]
    times = array(tree, buffer, sampler["input"]).astype(float)
    weights = array(tree, buffer, sampler["output"]).astype(float).reshape(len(times), -1)
    if sampler["interpolation"] == "STEP":
        now = weights[np.searchsorted(times, seconds, side="right") - 1]
    else:
        now = np.array([np.interp(seconds, times, column) for column in weights.T])
    shape = array(tree, buffer, primitive["attributes"]["POSITION"]).astype(float)
    for weight, target in zip(now, primitive["targets"], strict=True):
        shape = shape + weight * array(tree, buffer, target["POSITION"]).astype(float)
    return shape


def page_data(path):
    """Return what the script of a page reads."""
    text = path.read_text(encoding="utf-8")
    return json.loads(text.split('<script type="application/json" id="data">')[1].split("</script>")[0])


def unpacked(text, frames):
    """Decode numbers (F, N) of a page as `core.io.writers.page` describes them."""
    planes = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8).astype(np.uint16)
    low, high = planes.reshape(2, -1)
    return np.cumsum((low | high << 8).reshape(frames, -1), axis=0, dtype=np.uint16)


def drawn_as(result, drawn):
    """Return a result of which "faces", "edges" or "points" are drawn."""
    gone = {"faces": {}, "edges": {"faces": None}, "points": {"faces": None, "edges": np.zeros((0, 2))}}
    return replace(result, **gone[drawn])


def mirrored(result):
    return replace(result, C=result.C * np.repeat([1.0, 1.0, -1.0], result.point_count)[:, None])


def with_moved_truth(result):
    """Return a result whose truth is no similarity of its shapes."""
    points = result.truth.points
    moved = points + 3 * np.random.default_rng(5).standard_normal(points.shape)
    return replace(result, truth=replace(result.truth, points=moved))
