# SPDX-License-Identifier: Apache-2.0
"""The command wirecell-frame: look at, compare and convert frame files. The work is done by the package spng."""
