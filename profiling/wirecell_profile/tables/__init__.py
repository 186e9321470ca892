# SPDX-License-Identifier: Apache-2.0
"""Tables of the commands `summary`, `memory` and `ncu`: use of host, device and memory per range and node."""
