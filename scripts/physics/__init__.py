# SPDX-License-Identifier: Apache-2.0
"""Physics figures: simulation, runs, measurement and pages of `./wcb physics`."""
