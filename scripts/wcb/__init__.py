# SPDX-License-Identifier: Apache-2.0
"""The command ./wcb: set-up, help, call of waf, demo, tests.

Import only Python's standard library here: Debian's bare python3 runs it before the virtual environment exists.
"""
