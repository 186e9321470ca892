// ProtoDUNE-HD: four anodes with two faces. U and V wires wrap around both faces; each face has collection wires of its own.
// Numbers: public wire-cell-data and wire-cell-toolkit (cfg/pgrapher/experiment/pdhd and pdsp); see data/README.md.
local wc = import 'wirecell.jsonnet';

local wiener(sigma, power) = { sigma: sigma * wc.megahertz, power: power };

{
    name: 'pdhd',
    anodes: [0, 1, 2, 3],
    wires: 'protodunehd-wires-larsoft-v1.json.bz2',

    // Anode 1 has a V plane that collects.
    field_response(anode)::
        if anode == 1 then 'np04hd-garfield-6paths-mcmc-bestfit.json.bz2' else 'dune-garfield-1d565.json.bz2',
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

    // Low pass along ticks: for the charge, and the Wiener-like ones of the three planes in named sets.
    gauss: { sigma: 0.12 * wc.megahertz, power: 2.0 },
    wiener_sets: {
        pdsp: [wiener(0.1487880, 3.76194), wiener(0.1596568, 4.36125), wiener(0.1362300, 3.35324)],
        pdhd: [wiener(0.221933, 6.55413), wiener(0.222723, 8.75998), wiener(0.225567, 3.47846)],
    },
    wiener_set: 'pdsp',
    // High pass of the induction views: the loose one keeps long signals, the tight one rejects noise.
    high_pass: { tight: 0.080 * wc.megahertz, loose: 0.002 * wc.megahertz },
}
