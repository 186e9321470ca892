"""A long readout through the chain: made on the fly, processed, and checked against its truth."""
