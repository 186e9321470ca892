# SPDX-License-Identifier: Apache-2.0
"""The subcommands, one module each: NAME, HELP, add_arguments(parser) and run(arguments) -> exit status."""
