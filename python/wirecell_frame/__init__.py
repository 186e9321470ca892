# SPDX-License-Identifier: Apache-2.0
"""The command wirecell-frame: look at frame files, compare and convert them."""
