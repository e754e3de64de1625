"""Grow a folder of inputs by those that reach code which the others do not: atheris, that is libFuzzer.

    python tests/fuzz/grow_corpus.py READER NAME CORPUS RUNS SEED

It starts with the files of the folder, damages them as `mutation` does, and reads them in this process, under
the name given. An input that ends in anything but a sentence ends the process, and is in the folder too.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
with atheris.instrument_imports(include=["core", "nrsfm_gui"], enable_loader_override=False):
    from readers import READERS

    from core import InputError

from mutation import mutated

LARGEST = 300_000  # bytes of an input
SECONDS, MEGABYTES = 20, 4000  # of an input; libFuzzer counts the wall clock and all memory of the process


def main() -> None:
    """Grow the corpus until as many inputs as asked for have been read."""
    reader, name, corpus, runs, seed = sys.argv[1:]
    folder = Path(tempfile.mkdtemp(prefix="nrsfm-corpus-"))
    read, path = READERS[reader].read, folder / name
    silent = open(os.devnull, "w")

    def read_one(content: bytes) -> None:
        path.write_bytes(content)
        try:
            with redirect_stdout(silent), redirect_stderr(silent):
                read(path, ())
        except InputError:
            pass

    def mutate(content: bytes, most: int, number: int) -> bytes:
        return mutated(content, Random(number))[:most]

    limits = [f"-timeout={SECONDS}", f"-rss_limit_mb={MEGABYTES}", f"-max_len={LARGEST}"]
    words = [f"-runs={runs}", f"-seed={int(seed) + 1}", f"-artifact_prefix={corpus}/", "-verbosity=0"]
    atheris.Setup([sys.argv[0], *limits, *words, corpus], read_one, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
