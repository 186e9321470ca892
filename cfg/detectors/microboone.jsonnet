// SPDX-License-Identifier: Apache-2.0
// MicroBooNE: one anode with one face of unwrapped wires.
// Source of the values: public uboonedata (WireCellData/pgrapher/experiment/uboone/params.jsonnet, where the gain of the
// stages behind the preamplifier is `adc.gain`). The data files are the unchanged files of the public wire-cell-data; give
// their folder with -P or in WIRECELL_PATH. The response is that of wires without shorts.
local filters = import 'filters.jsonnet';
local wc = import 'wirecell.jsonnet';

{
    name: 'microboone',
    anodes: [0],
    file_source: 'https://github.com/WireCell/wire-cell-data',
    wires: 'microboone-celltree-wires-v2.1.json.bz2',
    field_response(anode):: 'ub-10-half.json.bz2',
    noise_spectra: 'microboone-noise-spectra-v2.json.bz2',

    electronics: { gain: 14.0 * wc.mV / wc.fC, shaping: 2.2 * wc.us, postgain: 1.2 },
    // 0 to 2 V; baselines of U and V 999.3 mV, of W 231.02 mV (wire-cell-toolkit, cfg/pgrapher/experiment/uboone/params.jsonnet)
    digitiser: { bits: 12, fullscale: 2.0 * wc.volt, baselines: [2047, 2047, 473] },
    readout: { tick: 500 * wc.ns, nticks: 9595, start: -1600 * wc.us },
    // Values of the field response.
    response_plane: { distance: 100 * wc.mm, speed: 1.114 * wc.mm / wc.us },
    // The toolkit takes the smearing of ProtoDUNE-SP (cfg/layers/mids/uboone/variants/ssss.jsonnet).
    truth: { smear_long: [2.6919, 2.6750, 2.7138], smear_tran: [0.7377, 0.7158, 0.1398] },
    // Coupling of the wires: chndb-base.jsonnet, and OmniChannelNoiseDB.cxx, which takes two layers.
    rc_tails: { constant: 1.0 * wc.ms, layers: 2 },
    // Channels whose preamplifiers were set to another gain and shaping time until run 7000 (list: params.jsonnet, which has
    // 1.1 us; 1.0 us: OmniChannelNoiseDB's predecessor SimpleChannelNoiseDB.h, and the setting that arXiv:1705.07341 names).
    channel_response: [{
        channels: std.range(2016, 2095) + std.range(2192, 2303) + std.range(2352, 2399),
        gain: 4.7 * wc.mV / wc.fC,
        shaping: 1.0 * wc.us,
    }],
    // Diagnostics.h of the toolkit
    chirping: { max_rms: 0.9, block: 20, max_alternation: 0.2 },
    // Readout windows of long readouts: a track along the drift lasts 2.33 ms, less than `after`.
    window: { core: 12000, before: 1000, after: 5000 },

    // Drift along x.
    lar: {
        drift_speed: 1.1 * wc.mm / wc.us,
        longitudinal_diffusion: 6.4 * wc.cm2 / wc.s,
        transverse_diffusion: 9.8 * wc.cm2 / wc.s,
        lifetime: 10.4 * wc.ms,
        electric_field: 273 * wc.volt / wc.cm,
    },
    drift_volumes(anode):: [{ face: 0, anode: 0.0, response: 94.0 * wc.mm, cathode: 2560.0 * wc.mm }],
    line_centre(anode):: { y: 9.7 * wc.mm, z: 5185.0 * wc.mm },

    // Views of equal shape make one tensor. Planes have edges, so the axis of channels is not cyclic. Groups of 48
    // consecutive channels share noise (public wire-cell-toolkit, cfg/obsolete/uboone/sigproc/omnicndb.jsonnet).
    groups(anode):: [
        {
            name: 'induction',
            kind: 'induction',
            cyclic: false,
            channels: 2400,
            board_channels: 48,
            views: [
                { name: 'U', plane: 0, faces: [0], order: [1] },
                { name: 'V', plane: 1, faces: [0], order: [1] },
            ],
        },
        {
            name: 'collection',
            kind: 'collection',
            cyclic: false,
            channels: 3456,
            board_channels: 48,
            views: [{ name: 'W', plane: 2, faces: [0], order: [1] }],
        },
    ],

    // Low pass along wires, in cycles per wire, and along ticks for the charge: the toolkit's defaults until May 2019.
    wire_filter: {
        induction: { sigma: 1.4 / std.sqrt(wc.pi) },
        collection: { sigma: 3.0 / std.sqrt(wc.pi) },
    },
    gauss: filters.low_pass(0.111408),

    // Image whose noise is summary_wiener.
    noise_image(anode):: filters.osp_noise(filters.wiener.microboone, 0.02, 1.4),

    filter_set: 'pure',
    filter_sets(anode):: {
        pure: filters.pure(filters.wiener.microboone, 0.20, 0.25, 1.0, 4.0),
        smooth: filters.smooth(filters.wiener.microboone),
        microboone: filters.traditional(filters.wiener.microboone),
    },
}
