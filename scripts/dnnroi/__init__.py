# SPDX-License-Identifier: Apache-2.0
"""The network that finds regions of interest: its data, training, figures and export. docs/dnnroi.md describes it."""
