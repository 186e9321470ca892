"""What ./wcb is made of: set-up, help and the call of waf. Python's standard library only, since Debian's
bare python3 runs it before there is a virtual environment."""
