# SPDX-License-Identifier: Apache-2.0
"""Figures of every detector against the truth: `./wcb physics --detectors`."""
