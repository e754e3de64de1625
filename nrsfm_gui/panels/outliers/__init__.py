"""Finding observations that do not fit the reconstruction, and hiding them."""
