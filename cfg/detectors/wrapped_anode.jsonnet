// What the anode plane assemblies of DUNE's horizontal drift have in common: two faces, U and V wires that wrap around
// both of them, and collection wires on each face of their own.
local filters = import 'filters.jsonnet';
local wc = import 'wirecell.jsonnet';

{
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
    gauss: filters.low_pass(0.12),

    filter_set: 'smooth',
    filter_sets: {
        smooth: filters.smooth(filters.wiener.pdsp),
        pdsp: filters.traditional(filters.wiener.pdsp),
    },
}
