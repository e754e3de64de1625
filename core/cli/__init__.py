"""The command line: `nrsfm COMMAND ...`, a module here for every command, and the options that they share.

The public names are imported when they are asked for, so that a command starts without what it does not need.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
