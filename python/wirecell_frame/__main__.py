# SPDX-License-Identifier: Apache-2.0
"""python -m wirecell_frame."""

import sys

from .cli import main

sys.exit(main())
