// SPDX-License-Identifier: Apache-2.0
// ICARUS: four anodes in two modules, east with anodes 0 and 1 and west with 2 and 3, each with its cathode between its anodes.
// The first induction view, U, has horizontal wires in two halves along z; wires of V and W cross both halves. The wire file lists
// the halves separately, each with all wires of V and W; together they are an anode with two faces beside each other.
// Source of the values: public wire-cell-toolkit (cfg/pgrapher/experiment/icarus/{params,simparams,sp-filters}.jsonnet and, for
// the electronics of each view, detsim-yz-per-tpc-v10_20_03.fcl). The data files are the unchanged files of the public
// wire-cell-data; give their folder with -P or in WIRECELL_PATH.
local filters = import 'filters.jsonnet';
local wc = import 'wirecell.jsonnet';

{
    name: 'icarus',
    anodes: [0, 1, 2, 3],
    file_source: 'https://github.com/WireCell/wire-cell-data',
    wires: 'icarus-wires-dualanode-v5.json.bz2',
    // Ids of the halves in the wire file; the first has the smaller z.
    anode_parts(anode):: [110 + anode, 120 + anode],
    field_response(anode):: 'garfield-icarus-fnal-rev1.json.bz2',
    // Of anode 0; those of the other anodes are not in the public files.
    noise_spectra: 'icarus_noise_model_int_TPCEE.json.bz2',

    // Electronics outside of the cryostat, tuned by view.
    electronics: [
        { type: 'WarmElecResponse', gain: each.gain * wc.mV / wc.fC, shaping: each.shaping * wc.us, postgain: 1.0 }
        for each in [
            { gain: 17.05212, shaping: 1.3 },
            { gain: 12.6181926, shaping: 1.45 },
            { gain: 13.0261362, shaping: 1.3 },
        ]
    ],
    // 0 to 3.3 V; baselines of U and V 1650 mV, of W 322.3 mV
    digitiser: { bits: 12, fullscale: 3.3 * wc.volt, baselines: [2048, 2048, 400] },
    readout: { tick: 400 * wc.ns, nticks: 4096, start: -340 * wc.us },
    // Coupling of the wires (simparams.jsonnet and chndb-base.jsonnet; one layer).
    rc_tails: { constant: 1.1 * wc.ms, layers: 1 },
    // Readout windows of long readouts: a track along the drift lasts 0.95 ms, less than `after`.
    window: { core: 12000, before: 1000, after: 5000 },

    // Drift along x.
    lar: {
        drift_speed: 1.5756 * wc.mm / wc.us,
        longitudinal_diffusion: 4.0 * wc.cm2 / wc.s,
        transverse_diffusion: 8.8 * wc.cm2 / wc.s,
        lifetime: 3.5 * wc.ms,
        electric_field: 500 * wc.volt / wc.cm,
    },
    // Values of the field response.
    response_plane: { distance: 100 * wc.mm, speed: 1.6 * wc.mm / wc.us },
    // Even anodes drift to smaller x, odd ones to larger x. `anode` is the position of the first wires.
    drift_volumes(anode)::
        local side = 2 * (anode % 2) - 1, collection = [-3593.3, -611.0, 611.0, 3593.3][anode] * wc.mm;
        [
            {
                face: face,
                anode: collection - side * 6 * wc.mm,
                response: collection - side * $.response_plane.distance,
                cathode: (if anode < 2 then -2102.9 else 2102.9) * wc.mm,
            }
            for face in [0, 1]
        ],
    truth: filters.smearing(self.gauss, [0.27, 0.27, 3.0 / std.sqrt(wc.pi)], self.readout.tick),
    line_centre(anode):: { y: -234.5 * wc.mm, z: -4475 * wc.mm },

    // Views of equal shape make one tensor. Planes have edges, so the axis of channels is not cyclic.
    groups(anode):: [
        {
            name: 'horizontal',
            kind: 'induction',
            cyclic: false,
            channels: 1056,
            views: [
                { name: 'U0', plane: 0, faces: [0], order: [1] },
                { name: 'U1', plane: 0, faces: [1], order: [1] },
            ],
        },
        {
            name: 'induction',
            kind: 'induction',
            cyclic: false,
            channels: 5600,
            views: [{ name: 'V', plane: 1, faces: [0, 1], order: [1, 1] }],
        },
        {
            name: 'collection',
            kind: 'collection',
            cyclic: false,
            channels: 5600,
            views: [{ name: 'W', plane: 2, faces: [0, 1], order: [1, 1] }],
        },
    ],

    // Low pass along wires, in cycles per wire, and along ticks for the charge.
    wire_filter: {
        induction: { sigma: 0.75 / std.sqrt(wc.pi) },
        collection: { sigma: 3.0 / std.sqrt(wc.pi) },
    },
    gauss: filters.low_pass(0.12),

    // Image whose noise is summary_wiener.
    noise_image(anode):: filters.osp_noise(filters.wiener.pdsp, 0.014, 0.75),

    // Noise of 3000 to 11000 electrons: `noisy` has lower thresholds, a stronger high pass on U and V and a lower low pass on W
    // (docs/decisions/detectors.md).
    filter_set: 'noisy',
    filter_sets(anode):: {
        noisy: filters.smooth(filters.wiener.pdsp, collection=[filters.low_pass(0.12, 3.4) for plane in [0, 1, 2]]) {
            induction+: {
                images+: { tight+: { high: 0.020 * wc.megahertz }, loose+: { high: 0.005 * wc.megahertz } },
                witness+: { threshold_rms_factor: 3.5 },
                rois+: { seed_rms_factor: 3.5, lone_seed_rms_factor: 4.5 },
            },
            collection+: { witness+: { threshold_rms_factor: 4.0 } },
        },
        smooth: filters.smooth(filters.wiener.pdsp),
        icarus: filters.traditional(filters.wiener.pdsp),
    },
}
