"""The window of a sweep: its runs as a table and as a heat map, and what is done with one of them."""
