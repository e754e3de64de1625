"""Sequences from files, one format a module; the table `READERS` lists them."""

from .challenge_folder import challenge_file
from .csv import write_csv
from .entry import SequenceEntry
from .npz import entries_of, sequence_from, write_npz
from .npz_archive import check_unpacked, load_arrays
from .read import READERS, Reader, list_sequences, read_sequence, stands_alone
from .samples import bundled_samples, resolve, sample_name, sample_path
from .source import digest, naming, read_bytes
from .text import parse_matrix

__all__ = [
    "READERS",
    "Reader",
    "SequenceEntry",
    "bundled_samples",
    "challenge_file",
    "check_unpacked",
    "digest",
    "entries_of",
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
    "stands_alone",
    "write_csv",
    "write_npz",
]
