"""One widget per file: setters and request signals; never imports the session, solvers or each other."""
