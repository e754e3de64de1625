"""The reports of the paper's experiments: making and reading them."""
