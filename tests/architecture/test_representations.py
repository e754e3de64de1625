import importlib
import inspect
import pkgutil
import re
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

import core
from core.foundation import Parameter, parameters_of
from core.io.readers import READERS, ReaderPlugin, ReadingOptions
from core.reconstruction import Verdict, parse_scale

LONGEST = 200
ARRAYS = re.compile("Floats|Ints|Bools|Pixels|ndarray")
LONG = "a sentence of a report\n" * 40


def public_classes():
    """Return the public dataclasses of core."""
    found = []
    for module in ("core", *(each.name for each in pkgutil.walk_packages(core.__path__, "core."))):
        if not module.endswith("__main__"):
            room = importlib.import_module(module)
            public = vars(room) if hasattr(room, "__path__") else ()
            found += [getattr(room, name) for name in getattr(room, "__all__", public)]
    return {each for each in found if inspect.isclass(each) and is_dataclass(each)}


@pytest.fixture(scope="module")
def values():
    """Values of public dataclasses: of a reconstruction, of the tables, and of hostile texts."""
    scene = core.simulate("paper", frames=12, points=20, occlusion=0.2, seed=1)
    K = 1400.5, 1399.0, 640.0, 480.0
    quick = core.Settings(rank=2, starts=2, rotations="truth", intrinsics=K, objective="wnn")
    steps = core.SolveStep(quick, 3), core.SolveStep(quick.with_changes(eta=0.3))
    *_, last = core.iterate(scene, steps=steps)
    tables = core.METHODS, READERS, core.WRITERS, parameters_of(core.Settings)
    found = [
        scene, scene.observations, scene.truth, last.phase.stage, last.geometry, last.provenance,
        last.result(), core.procrustes_mm(last.result().camera_points, scene.truth), parse_scale("3-17=85mm"),
        Verdict("jump", LONG, (11, 12), "look"), core.ExplicitWeights(tuple(np.linspace(0, 1, 60))),
        *(kind() for kind in core.PENALTIES.values()),
        *(each for table in tables for each in table.values()),
        ReadingOptions(tracks=LONG, visible=LONG, columns=LONG, order="ntxy"),
        ReaderPlugin(LONG, LONG, READERS[".csv"], LONG), Parameter("rho", LONG, choices=("a",) * 40),
    ]  # fmt: skip
    held = [value for each in (last, last.best) for value in vars(each).values() if is_dataclass(value)]
    return [*found, last, *held]


def test_every_public_class_is_represented_in_one_line(values):
    """None that holds arrays has the representation that `dataclass` writes, with all of them."""
    classes = public_classes()
    assert len(classes) > 60
    generated = [kind for kind in classes if kind.__repr__.__code__.co_filename.endswith("dataclasses.py")]
    assert not [kind for kind in generated if any(ARRAYS.search(entry.type) for entry in fields(kind))]
    texts = {type(value).__name__: repr(value) for value in values}
    assert len(texts) > 25
    for value in values:
        assert "\n" not in repr(value) and len(repr(value)) <= LONGEST, type(value)
    assert texts["Factors"] == "Factors(B=float64[12, 2], C=float64[2, 3, 20], s=float64[12, 3])"
    assert "loss=" in texts["Point"]
    assert texts["Provenance"] == "Provenance(steps=(SolveStep(...), SolveStep(...)))"
