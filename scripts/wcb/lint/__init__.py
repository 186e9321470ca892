# SPDX-License-Identifier: Apache-2.0
"""./wcb lint: formatters, linters, type checker, and the rules of the house style."""
