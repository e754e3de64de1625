"""The sequences that can be opened."""
