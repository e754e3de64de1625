"""The sequences that can be opened, and their runs."""
