# SPDX-License-Identifier: Apache-2.0
"""Set-up, build and tests (wcb), and the studies: bench, physics, dnnroi, soak."""
