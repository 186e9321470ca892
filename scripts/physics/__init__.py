"""Physics figures: simulation, runs, measurement and pages of `./wcb physics`."""
