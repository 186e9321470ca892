// SPDX-License-Identifier: Apache-2.0
// A phlex job with the module of SPNG (docs/frameworks.md):
//
//     PHLEX_PLUGIN_PATH=... phlex -c example.jsonnet
//
// `my_source` stands for a source of yours that provides a spng::RawFrame with the creator `frames` and the suffix `raw`.
{
    driver: {
        cpp: 'generate_layers',
        layers: { event: { parent: 'job', total: 1 } },
    },
    sources: {
        frames: { cpp: 'my_source' },
    },
    modules: {
        spng: {
            cpp: 'spng_phlex',
            input: { creator: 'frames', layer: 'event', suffix: 'raw' },
            detname: 'pdhd',
            tpcid: [0],
            tags: ['signal', 'wiener'],
            sparse: true,
        },
    },
}
