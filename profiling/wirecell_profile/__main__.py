"""python -m wirecell_profile."""

import sys

from .cli import main

sys.exit(main())
