# SPDX-License-Identifier: Apache-2.0
"""python -m wirecell_campaign."""

import sys

from .cli import main

if __name__ == "__main__":  # worker processes of a local cluster import this module again
    sys.exit(main())
