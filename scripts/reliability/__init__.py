# SPDX-License-Identifier: Apache-2.0
"""The reliability of the program as 17 figures with bars: `./wcb reliability`."""
