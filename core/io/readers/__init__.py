"""Sequences from files, one format a module; the table `READERS` lists them."""

from .challenge import challenge_file
from .contents import check_unpacked, digest, load_arrays, naming, parse_matrix, read_bytes
from .csv import write_csv
from .entry import SequenceEntry
from .npz import entries_of, sequence_from, write_npz, write_tracks
from .read import (
    READERS,
    Reader,
    bundled_samples,
    is_self_contained,
    list_sequences,
    read_sequence,
    resolve,
    sample_name,
    sample_path,
)

__all__ = [
    "READERS",
    "Reader",
    "SequenceEntry",
    "bundled_samples",
    "challenge_file",
    "check_unpacked",
    "digest",
    "entries_of",
    "is_self_contained",
    "list_sequences",
    "load_arrays",
    "naming",
    "parse_matrix",
    "read_bytes",
    "read_sequence",
    "resolve",
    "sample_name",
    "sample_path",
    "sequence_from",
    "write_csv",
    "write_npz",
    "write_tracks",
]
