"""What ./wcb bench is made of. It needs Python's standard library only, so that it also runs after a slim set-up."""
