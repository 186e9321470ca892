# SPDX-License-Identifier: Apache-2.0
"""Profile files as columns: tables, events, node calls, their joins, and selections of them."""
