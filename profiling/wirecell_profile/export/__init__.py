# SPDX-License-Identifier: Apache-2.0
"""Output in other formats: all tables, Chrome traces, merged profiles."""
