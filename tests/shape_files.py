"""PLY and glTF files, read as their specifications describe them, and results to write."""

from __future__ import annotations

import base64
import json
import struct
from dataclasses import replace

import numpy as np

COMPONENTS = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
SIZES = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


def read_ply(path):
    """Read a PLY file as the format's specification describes it: the header says all."""
    content = path.read_bytes()
    header, _, body = content.partition(b"end_header\n")
    lines = header.decode("ascii").splitlines()
    assert lines[0] == "ply"
    binary = lines[1] == "format binary_little_endian 1.0"
    assert binary or lines[1] == "format ascii 1.0"
    codes = {"double": "d", "float": "f", "int": "i", "uchar": "B"}
    elements = {}
    for line in lines[2:]:
        words = line.split()
        if words[0] == "element":
            elements[words[1]] = (int(words[2]), [])
        elif words[0] == "property":
            list(elements.values())[-1][1].append(words[1:])
    read, rows, offset = {}, body.decode("ascii").splitlines() if not binary else [], 0
    for name, (count, properties) in elements.items():
        table = []
        for _ in range(count):
            if not binary:
                words = rows.pop(0).split()
                table.append(
                    [float(word) for word in words[1:]]
                    if properties[0][0] == "list"
                    else [*map(float, words)]
                )
            elif properties[0][0] == "list":
                size = body[offset]
                table.append(struct.unpack_from(f"<{size}i", body, offset + 1))
                offset += 1 + 4 * size
            else:
                form = "<" + "".join(codes[words[0]] for words in properties)
                table.append(struct.unpack_from(form, body, offset))
                offset += struct.calcsize(form)
        read[name] = np.array(table)
    assert offset == len(body) if binary else not rows
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
