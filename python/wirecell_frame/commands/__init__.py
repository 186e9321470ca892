# SPDX-License-Identifier: Apache-2.0
"""The commands: modules with NAME, HELP, add_arguments() and run()."""
