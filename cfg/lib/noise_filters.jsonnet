// SPDX-License-Identifier: Apache-2.0
// The steps on raw waveforms that the job argument noise_filter names, in the order in which they run, whatever the order of the
// argument (docs/decisions/noise-order.md). A new step gets a name here and its nodes in spng.jsonnet (noise_filtered).
['sticky', 'response', 'chirping', 'tails', 'lines', 'negative', 'coherent', 'channels']
