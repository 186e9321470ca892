# SPDX-License-Identifier: Apache-2.0
"""Checks that take longer than the tests: damaged input, sanitizers."""
