// SPDX-License-Identifier: Apache-2.0
// Raw data of MicroBooNE until run 7000, with the steps of its noise paper (arXiv:1705.07341).
(import 'microboone.jsonnet') {
    name: 'microboone-data',
    noise_filters: ['response', 'chirping', 'tails', 'lines', 'coherent', 'channels'],
    // The list `bad` of chndb-base.jsonnet (wire-cell-toolkit, cfg/pgrapher/experiment/uboone): one channel, and the W wires of
    // microboone-shorted-wires.json.bz2 (wire-cell-data), which are shorted to V wires.
    bad_channels(anode):: [446] + std.range(7136, 7199) + std.range(7201, 7214) + std.range(7216, 7263),
}
