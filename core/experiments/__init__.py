"""The paper's tables and figures, run again: jobs, their results, and the report."""

from .figure1 import CURVE_METHODS, RecoveryJob, figure_jobs, figure_panels, figure_sequences
from .job_store import JobStore
from .jobs import ExperimentJob, JobResult, JobsProgress, load_job_results, run_jobs, save_job_result
from .mocap import (
    PUBLISHED_E3D,
    MocapJob,
    MocapRow,
    bmm_rows,
    load_mocap,
    mocap_blocks,
    mocap_jobs,
    rotation_error,
)
from .published import PUBLISHED_ERRATA, mean_log_loss, published_tables
from .report import (
    BulletList,
    CodeBlock,
    Heading,
    ImageGallery,
    Paragraph,
    ReportImage,
    ReportTable,
    TableCell,
    TableRow,
    render_html,
    render_markdown,
    write_csv_table,
    write_report,
)
from .reproduce import EXPERIMENTS, reproduce_experiment, shape_blocks
from .sweep import Sweep, SweepTable, is_sweep_folder, read_sweep, tabulate
from .table_data import TableData, TableSequence, load_table_data
from .table_jobs import TableJob
from .tables import TABLE_ROWS, TableEntries, TableEntry, loss_blocks

__all__ = [
    "CURVE_METHODS",
    "EXPERIMENTS",
    "PUBLISHED_E3D",
    "PUBLISHED_ERRATA",
    "TABLE_ROWS",
    "BulletList",
    "CodeBlock",
    "ExperimentJob",
    "Heading",
    "ImageGallery",
    "JobResult",
    "JobStore",
    "JobsProgress",
    "MocapJob",
    "MocapRow",
    "Paragraph",
    "RecoveryJob",
    "ReportImage",
    "ReportTable",
    "Sweep",
    "SweepTable",
    "TableCell",
    "TableData",
    "TableEntries",
    "TableEntry",
    "TableJob",
    "TableRow",
    "TableSequence",
    "bmm_rows",
    "figure_jobs",
    "figure_panels",
    "figure_sequences",
    "is_sweep_folder",
    "load_job_results",
    "load_mocap",
    "load_table_data",
    "loss_blocks",
    "mean_log_loss",
    "mocap_blocks",
    "mocap_jobs",
    "published_tables",
    "read_sweep",
    "render_html",
    "render_markdown",
    "reproduce_experiment",
    "rotation_error",
    "run_jobs",
    "save_job_result",
    "shape_blocks",
    "tabulate",
    "write_csv_table",
    "write_report",
]
