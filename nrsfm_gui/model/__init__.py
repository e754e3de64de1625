"""What the window is about: the session, its runs and their histories, and what is remembered."""
