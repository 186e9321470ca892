"""Set-up, build and tests (wcb), and the studies: bench, physics, dnnroi, soak."""
