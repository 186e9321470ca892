// SPDX-License-Identifier: Apache-2.0
// Common part of the anodes of ProtoDUNE-VD: four below the cathode (0 to 3) and four above it (4 to 7). The two faces of an
// anode are its halves beside each other; strips of U and V may cross both. Drift is along x, and x is vertical.
// Source of the values: public dunereco (DUNEWireCell/protodunevd/{params,sp-filters}.jsonnet), the wire-cell-toolkit
// (cfg/pgrapher/experiment/protodunevd) and the headers of the files; positions are those of the wire file. The data files are
// the unchanged files of dunereco; give their folder with -P or in WIRECELL_PATH.
// Boards do not all read the same count of channels (chndb-base.jsonnet), so there is no `board_channels`.
local filters = import 'filters.jsonnet';
local wc = import 'wirecell.jsonnet';

{
    file_source: 'https://github.com/DUNE/dunereco',
    wires: 'protodunevd-wires-larsoft-v5.json.bz2',
    field_response(anode):: 'protodunevd_FR_norminal_260324.json.bz2',

    // The ticks of frames after the resampling of dunereco's jobs.
    readout: { tick: 500 * wc.ns, nticks: 6400, start: -250 * wc.us },
    // Readout windows of long readouts: a track along the drift lasts 2.16 ms, less than `after`.
    window: { core: 12000, before: 1000, after: 5000 },

    // The toolkit's drift speed is measured with tracks from anode to cathode. Lifetime is that of ProtoDUNE-HD.
    lar: {
        drift_speed: 1.568 * wc.mm / wc.us,
        longitudinal_diffusion: 4.0 * wc.cm2 / wc.s,
        transverse_diffusion: 8.8 * wc.cm2 / wc.s,
        lifetime: 35.0 * wc.ms,
        electric_field: 500 * wc.volt / wc.cm,
    },
    // Values of the field response.
    response_plane: { distance: 181 * wc.mm, speed: 1.53 * wc.mm / wc.us },
    drift_volumes(anode)::
        local side = if anode < 4 then -1 else 1;
        [
            {
                face: face,
                anode: side * 3415.1 * wc.mm,
                response: side * (3415.5 * wc.mm - $.response_plane.distance),
                cathode: side * 25.4 * wc.mm,
            }
            for face in [0, 1]
        ],
    truth: filters.smearing(self.gauss, [0.27, 0.27, 10.0 / std.sqrt(wc.pi)], self.readout.tick),
    line_centre(anode)::
        local half = anode % 4;
        { y: (if half < 2 then -2524 else 845) * wc.mm, z: (if half % 2 == 0 then 750 else 2242) * wc.mm },

    // Views of equal shape make one tensor. The electronics reads a strip that crosses both faces on face 1, the one with the
    // smaller y; the block of face 0 has the strips that are on it alone. Strips have edges, so the axis of channels is not cyclic.
    groups(anode)::
        local rising = { faces: [0, 1], order: [1, 1] }, falling = { faces: [1, 0], order: [1, 1] };
        local slopes = if anode < 4 then [rising, falling] else [falling, rising];
        [
            {
                name: 'induction',
                kind: 'induction',
                cyclic: false,
                channels: 476,
                views: [{ name: 'U', plane: 0 } + slopes[0], { name: 'V', plane: 1 } + slopes[1]],
            },
            {
                name: 'collection',
                kind: 'collection',
                cyclic: false,
                channels: 292,
                views: [
                    { name: 'W0', plane: 2, faces: [0], order: [1] },
                    { name: 'W1', plane: 2, faces: [1], order: [1] },
                ],
            },
        ],

    // Low pass along strips, in cycles per strip, and along ticks for the charge.
    wire_filter: {
        induction: { sigma: 5.0 / std.sqrt(wc.pi) },
        collection: { sigma: 10.0 / std.sqrt(wc.pi) },
    },
    gauss: filters.low_pass(0.12),

    // Image whose noise is summary_wiener.
    noise_image(anode):: filters.osp_noise(filters.wiener.pdsp, 0.014, 5.0),

    filter_set: 'pure',
    filter_sets(anode):: {
        pure: filters.pure(filters.wiener.pdsp, 0.20, 0.25, 1.0, 3.0),
        smooth: filters.smooth(filters.wiener.pdsp),
        pdvd: filters.traditional(filters.wiener.pdsp),
    },
}
