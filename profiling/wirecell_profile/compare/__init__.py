# SPDX-License-Identifier: Apache-2.0
"""Measurements of runs, their comparison, baselines, and the history of a repository."""
