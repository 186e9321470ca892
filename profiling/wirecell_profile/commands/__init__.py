"""The subcommands, one module each: NAME, HELP, add_arguments(parser) and run(arguments) -> exit status.

Every module in this folder is found by the command line; none is listed anywhere.
"""
