"""Session files, autosave, recovery and results that are opened."""
