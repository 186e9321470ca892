# SPDX-License-Identifier: Apache-2.0
"""The command ./wcb bench.

options.py is read before the set-up and imports only the standard library; the other modules run after the set-up, with
packages that every set-up installs ("base" in requirements.txt).
"""
