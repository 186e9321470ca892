// SPDX-License-Identifier: Apache-2.0
// Raw data of ProtoDUNE-VD below the cathode: ticks of 512 ns, which SPNGResampler brings to 500 ns, as dunereco's jobs do for
// these anodes (DUNEWireCell/protodunevd/wcls-nf-sp.jsonnet).
local wc = import 'wirecell.jsonnet';

(import 'pdvd_bottom.jsonnet') {
    name: 'pdvd_bottom-data',
    raw_readout: { tick: 512 * wc.ns, nticks: 6250 },
    period_hint: 'frames of the simulation have ticks of 500 ns and need -A detname=pdvd_bottom',
}
