# SPDX-License-Identifier: Apache-2.0
"""The command ./wcb reliability: run the tests of each target, and write docs/reliability.md from their results."""
