"""Qt widgets and painting that know nothing of NRSfM: setters and request signals."""
