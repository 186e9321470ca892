# SPDX-License-Identifier: Apache-2.0
"""The command scripts/gpu_check: run the program on a GPU in stages, keep the results, and write docs/benchmarks/cuda.md.

Each stage is a module with a function run(stage): smoke, modes, sanitize, speed. The modules probe_* are programs of
their own that need torch in Python. Everything else needs the standard library and NumPy.
"""
