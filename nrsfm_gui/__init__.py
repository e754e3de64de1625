"""The window of NRSfM Studio: a Qt application around `core`."""
