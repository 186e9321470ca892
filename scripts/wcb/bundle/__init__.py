# SPDX-License-Identifier: Apache-2.0
"""./wcb bundle: make a folder with the program and its dependencies except LibTorch and the C library. See docs/bundle.md."""
