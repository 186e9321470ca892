# SPDX-License-Identifier: Apache-2.0
"""./wcb harden: sanitizers and fuzzing."""
