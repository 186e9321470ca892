# SPDX-License-Identifier: Apache-2.0
"""The commands, one module each: NAME, HELP, a docstring, add_arguments(parser) and run(arguments)."""
