"""./wcb lint: formatters, linters, type checker, and the rules of the house style."""
