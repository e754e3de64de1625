"""The paper's experiments, run again: jobs that can be resumed, and a report of what came out."""
