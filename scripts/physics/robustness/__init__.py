# SPDX-License-Identifier: Apache-2.0
"""Study outside of nominal conditions: `./wcb physics --robustness`."""
