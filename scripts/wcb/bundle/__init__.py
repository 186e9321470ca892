"""./wcb bundle: a folder with the program and all it needs beside LibTorch and the C library. See docs/bundle.md."""
