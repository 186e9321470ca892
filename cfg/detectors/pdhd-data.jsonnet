// SPDX-License-Identifier: Apache-2.0
// Raw data of ProtoDUNE-HD: ticks of 512 ns, which SPNGResampler brings to 500 ns, and anode 0 as it was built
// (docs/decisions/resampling.md).
local wc = import 'wirecell.jsonnet';

(import 'pdhd_badAPA1.jsonnet') {
    name: 'pdhd-data',
    raw_readout: { tick: 512 * wc.ns, nticks: 5859 },
    // Noise that real frames have and simulated ones lack: the steps of production (DUNE/dunereco, DUNEWireCell/pdhd, and
    // wire-cell-toolkit, cfg/pgrapher/experiment/pdhd: nf.jsonnet, chndb-base.jsonnet), and lines.
    noise_filters: ['lines', 'negative', 'coherent', 'channels'],
    // Boards of the map of channels (pdhd-coh-groups.jsonnet there), which the simulation does not have
    // (docs/decisions/real-noise.md). Each half of a board pulses separately (pdhd-femb-negpulse-groups.jsonnet).
    board_shift(anode):: local uv = if anode % 2 == 0 then 37 else 31; [uv, uv, 0],
    negative_pulses: { parts: 2 },
    // The list `bad` of chndb-base.jsonnet there.
    bad_channels(anode)::
        local listed =
            [2297, 2580, 2940, 3347, 3758, 3805, 3866, 4722, 5379, 5472, 5556, 5607, 5608, 5920, 5921, 6072, 7099]
            + [7288, 7679, 7876, 9120, 9125, 9126, 9127, 9306, 9307, 9309, 9310, 9534, 9956, 9986, 9987, 9988];
        [channel for channel in listed if std.floor(channel / 2560) == anode],
    period_hint: 'frames of the simulation have ticks of 500 ns and need -A detname=pdhd or pdhd_badAPA1',
}
