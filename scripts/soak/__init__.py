# SPDX-License-Identifier: Apache-2.0
"""Endurance test: make a long readout on the fly, process it and compare it with its truth."""
