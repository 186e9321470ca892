"""The subcommands, one module each: NAME, HELP, add_arguments(parser) and run(arguments) -> exit status."""
