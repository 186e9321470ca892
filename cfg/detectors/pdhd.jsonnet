// ProtoDUNE-HD: four anodes with two faces. U and V wires wrap around both faces; each face has collection wires of its own.
// Numbers: public wire-cell-data and wire-cell-toolkit (cfg/pgrapher/experiment/pdhd and pdsp); see data/README.md.
local wc = import 'wirecell.jsonnet';

local low_pass(sigma, power=2.0) = { sigma: sigma * wc.megahertz, power: power };
local high_pass(tau) = tau * wc.megahertz;

// Wiener-like low passes of the planes, from the public configurations of ProtoDUNE-SP and ProtoDUNE-HD.
local pdsp = [low_pass(0.1487880, 3.76194), low_pass(0.1596568, 4.36125), low_pass(0.1362300, 3.35324)];
local pdhd = [low_pass(0.221933, 6.55413), low_pass(0.222723, 8.75998), low_pass(0.225567, 3.47846)];

// The low pass of the charge for every plane: the best bandwidth for this noise (docs/decisions/regions.md).
local smooth = [low_pass(0.12), low_pass(0.12), low_pass(0.12)];

/// The traditional choice: Wiener-like images, 3 sigma with a tight high pass, 5 sigma on collection.
local wiener_set(wiener) = {
    wiener: wiener,
    induction: {
        images: {
            tight: { low: wiener, high: high_pass(0.080) },
            loose: { low: wiener, high: high_pass(0.002) },
        },
        noise: {},
        passes: [{ seed: 'tight', grow: 'loose' }],
        witness: { threshold_rms_factor: 3.0, grow_rms_factor: 1.0 },
        rois: { seed_rms_factor: 3.0, lone_seed_rms_factor: 4.0, grow_rms_factor: 1.0, neighbour_rms_factor: 2.0, pad: 1 },
    },
    collection: {
        images: { tight: { low: wiener } },
        noise: {},
        passes: [{ seed: 'tight', grow: 'tight' }],
        witness: { threshold_rms_factor: 5.0, grow_rms_factor: 2.0, pad: 1 },
    },
};

{
    name: 'pdhd',
    anodes: [0, 1, 2, 3],
    wires: 'protodunehd-wires-larsoft-v1.json.gz',

    // Anode 1 has a V plane that collects.
    field_response(anode)::
        if anode == 1 then 'np04hd-garfield-6paths-mcmc-bestfit.json.gz' else 'dune-garfield-1d565.json.gz',
    noise_spectra: 'protodunehd-noise-spectra-14mVfC-v1.json.bz2',

    electronics: { gain: 14.0 * wc.mV / wc.fC, shaping: 2.2 * wc.us, postgain: 1.0 },
    digitiser: { bits: 14, fullscale: 1.4 * wc.volt },
    readout: { tick: 500 * wc.ns, nticks: 6000 },

    // Views of equal shape make one tensor. The blocks of the two faces are ordered such that neighbouring rows are
    // neighbouring wires, also across the wrap, so the axis of channels is cyclic.
    groups: [
        {
            name: 'induction',
            kind: 'induction',
            cyclic: true,
            channels: 800,
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
            views: [
                { name: 'W0', plane: 2, faces: [0], order: [1] },
                { name: 'W1', plane: 2, faces: [1], order: [1] },
            ],
        },
    ],

    // Low pass along wires, in cycles per wire.
    wire_filter: {
        induction: { sigma: 0.75 / std.sqrt(wc.pi) },
        collection: { sigma: 10.0 / std.sqrt(wc.pi) },
    },

    // Low pass along ticks: that of the charge.
    gauss: low_pass(0.12),

    // Named sets of what finds regions: the images of each kind of group (low pass for planes U, V, W, and high pass), how
    // regions grow in them, and the Wiener-like filter of the tag `wiener`. Factors are in units of a channel's noise.
    filter_set: 'smooth',
    filter_sets: {
        // docs/decisions/regions.md
        smooth: {
            wiener: pdsp,
            induction: {
                images: {
                    tight: { low: smooth, high: high_pass(0.010) },
                    loose: { low: smooth, high: high_pass(0.002) },
                },
                long_pulses: { clip: 4.0, samples: 17 },
                noise: {},
                passes: [{ seed: 'tight', grow: 'tight' }, { seed: 'long', grow: 'loose' }],
                witness: { threshold_rms_factor: 4.0, grow_rms_factor: 1.0, weak_rms_factor: 3.0 },
                rois: { seed_rms_factor: 4.0, lone_seed_rms_factor: 5.0, grow_rms_factor: 1.0, neighbour_rms_factor: -1.0, pad: 1 },
            },
            collection: {
                images: { tight: { low: pdsp } },
                noise: { cap: 3.0 },
                passes: [{ seed: 'tight', grow: 'tight' }],
                witness: { threshold_rms_factor: 4.0, grow_rms_factor: 2.0, pad: 1 },
            },
        },
        pdsp: wiener_set(pdsp),
        pdhd: wiener_set(pdhd),
    },
}
