// SPDX-License-Identifier: Apache-2.0
// ProtoDUNE-VD, anodes above the cathode: strips in three views, with electronics outside of the argon whose pulse shape is in a
// file of samples.
// Source of the values: public dunereco (DUNEWireCell/protodunevd/{params,sim}.jsonnet).
local wc = import 'wirecell.jsonnet';

(import 'strip_anode.jsonnet') {
    name: 'pdvd_top',
    anodes: [4, 5, 6, 7],
    noise_spectra: 'pdvd-top-noise-spectra-v3.json.bz2',
    // The samples peak at 1.3 us with 7.21 mV/fC, which the factor makes 9.81 mV/fC.
    electronics: {
        type: 'JsonElecResponse',
        filename: 'dunevd-coldbox-elecresp-top-psnorm_400.json.bz2',
        postgain: 1.36,
    },
    // 0 to 2 V; baselines 1 V
    digitiser: { bits: 14, fullscale: 2.0 * wc.volt, baselines: [8192, 8192, 8192] },
}
