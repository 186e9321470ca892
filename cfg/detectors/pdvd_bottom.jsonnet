// SPDX-License-Identifier: Apache-2.0
// ProtoDUNE-VD, anodes below the cathode: strips in three views, cold electronics as in ProtoDUNE-HD with another gain.
// Source of the values: public dunereco (DUNEWireCell/protodunevd/{params,sim}.jsonnet).
local wc = import 'wirecell.jsonnet';

(import 'strip_anode.jsonnet') {
    name: 'pdvd_bottom',
    anodes: [0, 1, 2, 3],
    noise_spectra: 'pdvd-bottom-noise-spectra-7d8mVfC-v1.json.bz2',
    electronics: { gain: 7.8 * wc.mV / wc.fC, shaping: 2.2 * wc.us, postgain: 1.0 },
    // 0.2 V to 1.6 V; baselines of U and V 1003.4 mV, of W 507.7 mV
    digitiser: { bits: 14, fullscale: 1.4 * wc.volt, baselines: [9402, 9402, 3601] },
    period_hint: 'raw data of these anodes have ticks of 512 ns and need -A detname=pdvd_bottom-data',
}
