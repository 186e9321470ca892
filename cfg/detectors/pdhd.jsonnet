// SPDX-License-Identifier: Apache-2.0
// ProtoDUNE-HD: four anodes with two faces, all with the nominal field response. pdhd_badAPA1 is the detector as it was built.
// Source of the values: public wire-cell-data and wire-cell-toolkit (cfg/pgrapher/experiment/pdhd and pdsp); see data/README.md.
local filters = import 'filters.jsonnet';
local wc = import 'wirecell.jsonnet';

(import 'wrapped_anode.jsonnet') {
    name: 'pdhd',
    anodes: [0, 1, 2, 3],
    wires: 'protodunehd-wires-larsoft-v1.json.gz',

    field_response(anode):: 'dune-garfield-1d565.json.gz',
    noise_spectra: 'protodunehd-noise-spectra-14mVfC-v1.json.bz2',

    electronics: { gain: 14.0 * wc.mV / wc.fC, shaping: 2.2 * wc.us, postgain: 1.0 },
    // 0.2 V to 1.6 V; baselines of U and V 1003.4 mV, of W 507.7 mV
    digitiser: { bits: 14, fullscale: 1.4 * wc.volt, baselines: [9402, 9402, 3601] },
    period_hint: 'raw data of ProtoDUNE-HD have ticks of 512 ns and need -A detname=pdhd-data',

    // Drift along x to one face of each anode; the other face points to the cryostat (cfg/pgrapher/experiment/pdhd/simparams.jsonnet).
    lar: {
        drift_speed: 1.60563 * wc.mm / wc.us,
        longitudinal_diffusion: 4.0 * wc.cm2 / wc.s,
        transverse_diffusion: 8.8 * wc.cm2 / wc.s,
        lifetime: 35.0 * wc.ms,
        electric_field: 500 * wc.volt / wc.cm,
    },
    drift_volumes(anode):: self.inner_drift_volume(anode, centre=3573.4 * wc.mm, wires=85.87 * wc.mm),
    // Centre of the ideal lines of the line scan.
    line_centre(anode):: { y: 3000 * wc.mm, z: (1150 + (if anode < 2 then 0 else 2320.6)) * wc.mm },

    // The network that finds ROIs on U and V with the default filter set (docs/dnnroi.md).
    model(anode):: 'dnnroi.ts',
    // Networks that were trained for one of these detectors fit.
    network_detectors(anode):: ['pdhd'],
    noise_image(anode):: filters.osp_noise(filters.wiener.pdhd, 0.016, 0.75),
    filter_sets(anode):: super.filter_sets(anode) { pdhd: filters.traditional(filters.wiener.pdhd) },
}
