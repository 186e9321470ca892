# SPDX-License-Identifier: Apache-2.0
"""./wcb wheel: the Python packages with the native library, for pip."""
