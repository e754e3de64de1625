"""How long tests wait for what is to happen."""

import os

# Seconds. What has not happened then hangs; a machine that is slow, or that others use, needs more.
PATIENCE = 60.0 * float(os.environ.get("NRSFM_TEST_PATIENCE", "1"))
