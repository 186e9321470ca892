// ProtoDUNE-HD: four anodes with two faces.
// Numbers: public wire-cell-data and wire-cell-toolkit (cfg/pgrapher/experiment/pdhd and pdsp); see data/README.md.
local filters = import 'filters.jsonnet';
local wc = import 'wirecell.jsonnet';

(import 'wrapped_anode.jsonnet') {
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

    filter_sets+: { pdhd: filters.traditional(filters.wiener.pdhd) },
}
