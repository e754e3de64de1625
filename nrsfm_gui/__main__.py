"""`python -m nrsfm_gui`."""

import sys

from nrsfm_gui.app import main

if __name__ == "__main__":
    sys.exit(main())
