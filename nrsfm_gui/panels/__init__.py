"""One folder for each dock: its views and its controller. No panel imports another."""
