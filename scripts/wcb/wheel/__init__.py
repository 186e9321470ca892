# SPDX-License-Identifier: Apache-2.0
"""./wcb wheel: wire-cell and the Python packages, for pip."""
