// SPDX-License-Identifier: Apache-2.0
// ProtoDUNE-VD, anodes above the cathode: strips in three views, with electronics outside of the argon.
// Source of the values: public wire-cell-toolkit (cfg/pgrapher/experiment/protodunevd/params.jsonnet). The toolkit reads the pulse shape of
// these electronics from a file that is not public; here it is that of the cold electronics with the gain that the toolkit
// notes, 11 mV/fC (docs/limits.md).
local wc = import 'wirecell.jsonnet';

(import 'strip_anode.jsonnet') {
    name: 'pdvd_top',
    anodes: [4, 5, 6, 7],
    noise_spectra: 'pdvd-top-noise-spectra-v1.3.json.bz2',
    electronics: { gain: 11.0 * wc.mV / wc.fC, shaping: 2.2 * wc.us, postgain: 1.0 },
    // 0 to 2 V; baselines 1 V
    digitiser: { bits: 14, fullscale: 2.0 * wc.volt, baselines: [8192, 8192, 8192] },
}
