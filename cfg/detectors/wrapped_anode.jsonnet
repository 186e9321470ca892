// SPDX-License-Identifier: Apache-2.0
// Common part of the anode plane assemblies of DUNE's horizontal drift: two faces, U and V wires that wrap around both of
// them, and separate collection wires on each face. Twenty front-end boards read an anode, each 40 U, 40 V and
// 48 W channels with consecutive ids (public wire-cell-toolkit, cfg/pgrapher/experiment/{pdhd,pdsp}/chndb-base.jsonnet).
local filters = import 'filters.jsonnet';
local wc = import 'wirecell.jsonnet';

{
    // Descriptions with the same channel ids: the input check names the one that fits instead.
    alternatives:: [import 'pdhd.jsonnet', import 'pdhd_badAPA1.jsonnet', import 'pdsp.jsonnet'],

    readout: { tick: 500 * wc.ns, nticks: 6000, start: -250 * wc.us },

    // Distance of the response plane, where the paths of the field response start, from the collection plane, and the drift
    // speed there; both are values of the file.
    response_plane: { distance: 100 * wc.mm, speed: 1.565 * wc.mm / wc.us },

    // Smearing of the truth by plane: the width of a point after the filters of the signal processing (docs/physics-notes.md#simulation;
    // wire-cell-toolkit, cfg/layers/mids/pdsp/variants/ssss.jsonnet and spng/cfg/spng/detconfs/pdhd.jsonnet).
    truth: { smear_long: [2.6919, 2.6750, 2.7138], smear_tran: [0.7377, 0.7158, 0.1398] },

    // Readout windows of long readouts: a track along the drift lasts 2.25 ms, less than `after`
    // (docs/decisions/long-readouts.md).
    window: { core: 12000, before: 1000, after: 5000 },

    // Views of equal shape make one tensor. The blocks of the two faces are ordered such that neighbouring rows are
    // neighbouring wires, also across the wrap, so the axis of channels is cyclic.
    groups(anode):: [
        {
            name: 'induction',
            kind: 'induction',
            cyclic: true,
            channels: 800,
            board_channels: 40,
            views: [
                { name: 'U', plane: 0, faces: [1, 0], order: [-1, 1] },
                { name: 'V', plane: 1, faces: [1, 0], order: [-1, 1] },
            ],
        },
        {
            name: 'collection',
            kind: 'collection',
            cyclic: false,
            channels: 480,
            board_channels: 48,
            views: [
                { name: 'W0', plane: 2, faces: [0], order: [1] },
                { name: 'W1', plane: 2, faces: [1], order: [1] },
            ],
        },
    ],

    // The volume between an anode's inner face and the cathode at x = 0. Even anodes lie at negative x with face 0 towards
    // the cathode, odd ones at positive x with face 1. The response plane is the start of the paths of the field response,
    // `anode` the position of the first wires; both are the positions of the toolkit's configuration.
    // centre: distance of the anode's centre from the cathode; wires: distance between its two planes of collection wires
    inner_drift_volume(anode, centre, wires)::
        local side = if anode % 2 == 0 then -1 else 1;
        local wire_gap = 4.76 * wc.mm, response = 100 * wc.mm, cathode_thickness = 3.175 * wc.mm;
        [{
            face: anode % 2,
            anode: side * (centre - wires / 2 - 2 * wire_gap),
            response: side * (centre - wires / 2 - response),
            cathode: side * cathode_thickness / 2,
        }],

    // Low pass along wires, in cycles per wire.
    wire_filter: {
        induction: { sigma: 0.75 / std.sqrt(wc.pi) },
        collection: { sigma: 10.0 / std.sqrt(wc.pi) },
    },

    // Low pass along ticks for the charge.
    gauss: filters.low_pass(0.12),

    // Image whose noise is summary_wiener.
    noise_image(anode):: filters.osp_noise(filters.wiener.pdsp, 0.014, 0.75),

    filter_set: 'smooth',
    filter_sets(anode):: {
        smooth: filters.smooth(filters.wiener.pdsp),
        pdsp: filters.traditional(filters.wiener.pdsp),
        simulated: filters.smooth(filters.wiener.simulated, filters.wiener.simulated, filters.wiener.simulated),
    },
}
