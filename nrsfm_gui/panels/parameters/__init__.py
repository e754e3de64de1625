"""The parameters of a run: method, penalty, weights."""
