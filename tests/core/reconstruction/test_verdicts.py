"""Verdicts are of known kinds, and survive JSON."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from core import InputError
from core.reconstruction import VERDICT_ACTIONS, VERDICT_KINDS, Verdict, verdicts_from_list


def test_verdicts_survive_json():
    verdicts = [Verdict(kind, f"{meaning}.") for kind, meaning in VERDICT_KINDS.items()]
    verdicts += [Verdict("jump", "Frame 12.", (11, 11), action) for action in VERDICT_ACTIONS]
    plain = json.loads(json.dumps([asdict(verdict) for verdict in verdicts]))
    assert verdicts_from_list(plain) == tuple(verdicts)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"kind": "wrong"}, "kind of a verdict is 'wrong'; accepted are rigid, ambiguous"),
        ({"action": "delete"}, "action of a verdict is 'delete'; accepted are look, compare, repair"),
        ({"frames": (3, 2)}, "frames of a verdict are 3 to 2; accepted are 0 or more, in order"),
        ({"frames": (-1, 2)}, "frames of a verdict are -1 to 2"),
        ({"color": "red"}, "verdict 1 is .*; accepted are kind, sentence, frames and action"),
        ({"frames": 3}, "verdict 1 is .*; accepted are kind, sentence, frames and action"),
    ],
)
def test_other_values_are_refused(fields, sentence):
    with pytest.raises(InputError, match=sentence):
        verdicts_from_list([{"kind": "jump", "sentence": "The rotations jump."} | fields])
