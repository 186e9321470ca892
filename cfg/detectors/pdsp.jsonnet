// SPDX-License-Identifier: Apache-2.0
// ProtoDUNE-SP: six anodes with two faces, the same wires as ProtoDUNE-HD but other electronics.
// Source of the values: public wire-cell-toolkit (cfg/pgrapher/experiment/pdsp/params.jsonnet). The data files are the unchanged
// files of the public wire-cell-data; give their folder with -P or in WIRECELL_PATH.
local filters = import 'filters.jsonnet';
local wc = import 'wirecell.jsonnet';

(import 'wrapped_anode.jsonnet') {
    name: 'pdsp',
    anodes: [0, 1, 2, 3, 4, 5],
    file_source: 'https://github.com/WireCell/wire-cell-data',
    wires: 'protodune-wires-larsoft-v4.json.bz2',
    field_response(anode):: 'dune-garfield-1d565.json.bz2',
    noise_spectra: 'protodune-noise-spectra-v1.json.bz2',

    // The factor sets the area of the response to the value of the pulser calibration: 41.649 instead of 36.648 ADC tick / 1000 e.
    electronics: { gain: 14.0 * wc.mV / wc.fC, shaping: 2.2 * wc.us, postgain: 1.1365 },
    // 0.2 V to 1.6 V; baselines of U and V 1003.4 mV, of W 507.7 mV
    digitiser: { bits: 12, fullscale: 1.4 * wc.volt, baselines: [2350, 2350, 900] },
    // Coupling of the wires (chndb-base.jsonnet and simparams.jsonnet; one layer).
    rc_tails: { constant: 1.1 * wc.ms, layers: 1 },

    // Drift along x to one face of each anode (cfg/pgrapher/experiment/pdsp/simparams.jsonnet).
    lar: {
        drift_speed: 1.565 * wc.mm / wc.us,
        longitudinal_diffusion: 4.0 * wc.cm2 / wc.s,
        transverse_diffusion: 8.8 * wc.cm2 / wc.s,
        lifetime: 35.0 * wc.ms,
        electric_field: 500 * wc.volt / wc.cm,
    },
    drift_volumes(anode):: self.inner_drift_volume(anode, centre=3630.75 * wc.mm, wires=85.725 * wc.mm),
    line_centre(anode):: { y: 3000 * wc.mm, z: (1150 + 2320.6 * std.floor(anode / 2)) * wc.mm },

    // Wires, responses and shaping are those of ProtoDUNE-HD, and its network fits (docs/decisions/detectors.md).
    model(anode):: 'dnnroi.ts',
    network_detectors(anode):: ['pdsp', 'pdhd'],
    filter_sets(anode)::
        local pure = filters.pure(filters.wiener.pdsp, 0.16, 0.22, 0.0, 2.0);
        super.filter_sets(anode) { smooth+: { collection: pure.collection }, pure: pure },
}
