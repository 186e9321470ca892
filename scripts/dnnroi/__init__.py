"""The network that finds regions of interest: its data, training, figures and export. docs/dnnroi.md describes it."""
