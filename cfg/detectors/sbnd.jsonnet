// SPDX-License-Identifier: Apache-2.0
// SBND: two anodes, each with one face of unwrapped wires, on both sides of the cathode at x = 0.
// Source of the values: public wire-cell-toolkit (cfg/pgrapher/experiment/sbnd/{params,simparams,sp-filters}.jsonnet). The data
// files are the unchanged files of the public wire-cell-data; give their folder with -P or in WIRECELL_PATH.
// Boards do not all read the same count of channels (chndb-base.jsonnet), so there is no `board_channels`.
local filters = import 'filters.jsonnet';
local wc = import 'wirecell.jsonnet';

{
    name: 'sbnd',
    anodes: [0, 1],
    file_source: 'https://github.com/WireCell/wire-cell-data',
    wires: 'sbnd-wires-geometry-v0202.json.bz2',
    field_response(anode):: 'garfield-sbnd-v1.json.bz2',
    noise_spectra: 'sbnd-noise-spectra-v1.json.bz2',

    electronics: { gain: 14.0 * wc.mV / wc.fC, shaping: 2.2 * wc.us, postgain: 1.0 },
    // 0 to 1.8 V; baselines of U and V 879.5 mV, of W 286 mV
    digitiser: { bits: 12, fullscale: 1.8 * wc.volt, baselines: [2001, 2001, 651] },
    readout: { tick: 500 * wc.ns, nticks: 3427, start: -205 * wc.us },
    // Coupling of the wires (chndb-base.jsonnet and simparams.jsonnet; one layer).
    rc_tails: { constant: 0.5 * wc.ms, layers: 1 },
    // Readout windows of long readouts: a track along the drift lasts 1.28 ms, less than `after`.
    window: { core: 12000, before: 1000, after: 5000 },

    // Drift along x. The response plane is that of the field response: 100 mm before the collection wires.
    lar: {
        drift_speed: 1.563 * wc.mm / wc.us,
        longitudinal_diffusion: 4.0 * wc.cm2 / wc.s,
        transverse_diffusion: 8.8 * wc.cm2 / wc.s,
        lifetime: 35.0 * wc.ms,
        electric_field: 500 * wc.volt / wc.cm,
    },
    response_plane: { distance: 100 * wc.mm, speed: 1.59 * wc.mm / wc.us },
    drift_volumes(anode)::
        local side = 2 * anode - 1;
        [{
            face: anode,
            anode: side * 2014.5 * wc.mm,
            response: side * (2020.5 * wc.mm - $.response_plane.distance),
            cathode: side * 4.5 * wc.mm,
        }],
    truth: filters.smearing(self.gauss, [0.27, 0.27, 3.6 / std.sqrt(wc.pi)], self.readout.tick),
    line_centre(anode):: { y: 0 * wc.mm, z: 2550 * wc.mm },

    // Views of equal shape make one tensor. Planes have edges, so the axis of channels is not cyclic.
    groups(anode):: [
        {
            name: 'induction',
            kind: 'induction',
            cyclic: false,
            channels: 1984,
            views: [
                { name: 'U', plane: 0, faces: [anode], order: [1] },
                { name: 'V', plane: 1, faces: [anode], order: [1] },
            ],
        },
        {
            name: 'collection',
            kind: 'collection',
            cyclic: false,
            channels: 1670,
            views: [{ name: 'W', plane: 2, faces: [anode], order: [1] }],
        },
    ],

    // Low pass along wires, in cycles per wire, and along ticks for the charge.
    wire_filter: {
        induction: { sigma: 1.05 / std.sqrt(wc.pi) },
        collection: { sigma: 3.6 / std.sqrt(wc.pi) },
    },
    gauss: filters.low_pass(0.10),

    // Image whose noise is summary_wiener.
    noise_image(anode):: filters.osp_noise(filters.wiener.sbnd, 0.0185, 1.05),

    filter_set: 'pure',
    filter_sets(anode):: {
        pure: filters.pure(filters.wiener.sbnd, 0.20, 0.25, 1.0, 3.0),
        smooth: filters.smooth(filters.wiener.sbnd),
        sbnd: filters.traditional(filters.wiener.sbnd),
    },
}
