// SPDX-License-Identifier: Apache-2.0
// Raw data of ProtoDUNE-HD: ticks of 512 ns, which SPNGResampler brings to 500 ns, and anode 0 as it was built
// (docs/decisions/resampling.md).
local wc = import 'wirecell.jsonnet';

(import 'pdhd_badAPA1.jsonnet') {
    name: 'pdhd-data',
    raw_readout: { tick: 512 * wc.ns, nticks: 5859 },
    // Noise that real frames have and simulated ones lack; the toolkit's jobs for data have such steps too
    // (cfg/pgrapher/experiment/pdhd/nf.jsonnet).
    noise_filters: ['lines', 'channels', 'coherent'],
    // Boards begin three channels later than in the simulation (docs/decisions/coherent-noise.md).
    groups(anode):: [
        group + (if std.get(group, 'board_channels') == 40 then { board_shift: 3 } else {})
        for group in super.groups(anode)
    ],
    period_hint: 'frames of the simulation have ticks of 500 ns and need -A detname=pdhd or pdhd_badAPA1',
}
