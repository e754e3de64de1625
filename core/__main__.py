"""`python -m core` is `nrsfm`."""

import sys

from .cli import main

sys.exit(main())
