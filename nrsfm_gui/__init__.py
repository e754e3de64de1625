"""The window: a Qt application around `core`."""
