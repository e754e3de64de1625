"""Sequences from files, one format a module; the table `READERS` lists them."""

from .allowance import GIGABYTE, Allowance, memory_limit, set_memory_limit
from .array_shapes import SHAPES
from .challenge import challenge_file
from .contents import (
    check_file,
    digest,
    load_arrays,
    names_in,
    naming,
    opened_archive,
    parse_array,
    parse_json,
    parse_matrix,
    read_bytes,
    read_member,
    reason,
    recording_files,
    refusing_damage,
)
from .csv import write_csv
from .entry import SequenceEntry, entry_of
from .inspection import ArrayEntry, FileContents, inspect_file
from .layouts import LAYOUTS
from .listing import list_sequences
from .named_paths import named_path
from .npz import entries_of, sequence_from, write_npz, write_tracks
from .read import read_sequence
from .reader import Reader, ReaderPlugin
from .reading_options import COORDINATES, ORDERS, READING_OPTIONS, ReadingOptions
from .samples import bundled_samples, resolve, sample_name, sample_path
from .table import READERS, installed_plugins, installed_readers, is_self_contained, is_sequence_folder
from .variables import describe

__all__ = [
    "COORDINATES",
    "GIGABYTE",
    "LAYOUTS",
    "ORDERS",
    "READERS",
    "READING_OPTIONS",
    "SHAPES",
    "Allowance",
    "ArrayEntry",
    "FileContents",
    "Reader",
    "ReaderPlugin",
    "ReadingOptions",
    "SequenceEntry",
    "bundled_samples",
    "challenge_file",
    "check_file",
    "describe",
    "digest",
    "entries_of",
    "entry_of",
    "inspect_file",
    "installed_plugins",
    "installed_readers",
    "is_self_contained",
    "is_sequence_folder",
    "list_sequences",
    "load_arrays",
    "memory_limit",
    "named_path",
    "names_in",
    "naming",
    "opened_archive",
    "parse_array",
    "parse_json",
    "parse_matrix",
    "read_bytes",
    "read_member",
    "read_sequence",
    "reason",
    "recording_files",
    "refusing_damage",
    "resolve",
    "sample_name",
    "sample_path",
    "sequence_from",
    "set_memory_limit",
    "write_csv",
    "write_npz",
    "write_tracks",
]
