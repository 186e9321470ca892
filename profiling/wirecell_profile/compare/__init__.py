"""Measurements of runs, their comparison, baselines, and the history of a repository."""
