"""The loss over iterations or seconds."""
