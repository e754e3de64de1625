"""The state of the window: the session, its runs and their histories, and the stored settings."""
