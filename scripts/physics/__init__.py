"""Physics figures: what `./wcb physics` simulates, runs, measures and shows."""
