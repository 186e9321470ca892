# SPDX-License-Identifier: Apache-2.0
"""Measurements of runs, and their comparison."""
