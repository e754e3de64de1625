"""Sequences from files, one format a module; the table `READERS` lists them."""

from ..files.allowance import GIGABYTE, Allowance, memory_limit, set_memory_limit
from ..files.contents import (
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
from ..files.named_paths import named_path
from ..files.reading_options import COORDINATES, ORDERS, READING_OPTIONS, ReadingOptions
from ..files.variables import describe
from .arrays.array_shapes import SHAPES
from .arrays.layouts import LAYOUTS
from .arrays.npz import entries_of, sequence_from, write_npz, write_tracks
from .challenge import challenge_file, resolve, sample_name, sample_path
from .listing import SequenceEntry, bundled_samples, entry_of, list_sequences
from .read import ArrayEntry, FileContents, inspect_file, read_sequence
from .table import (
    READERS,
    Reader,
    ReaderPlugin,
    installed_plugins,
    installed_readers,
    is_self_contained,
    is_sequence_folder,
)
from .tables.csv import write_csv
