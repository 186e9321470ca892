// SPDX-License-Identifier: Apache-2.0
// The main job with the node of this plugin between the deconvolved waveforms and the nodes that apply the ROIs.
local pipeline = import 'pipeline.jsonnet';

local corrected(job, factor) =
    local graph = job[std.length(job) - 1];
    local enters(edge) = std.startsWith(edge.head.node, 'SPNGApplyROI:signal') && std.startsWith(edge.tail.node, 'SPNGApply1DSpectrum:gauss');
    local name_of(edge) = 'ExampleGainCorrection:' + std.split(edge.tail.node, ':')[1];
    local through(edge) =
        if enters(edge) then
            local node = { node: name_of(edge), port: 0 };
            [{ tail: edge.tail, head: node }, { tail: node, head: edge.head }]
        else [edge];
    [part for part in job if part != graph]
    + [
        { type: 'ExampleGainCorrection', name: std.split(edge.tail.node, ':')[1], data: { factor: factor } }
        for edge in graph.data.edges
        if enters(edge)
    ]
    + [graph { data+: { edges: std.flattenArrays([through(edge) for edge in super.edges]) } }];

function(input, output, factor=1, model='default', device='auto')
    local args = import 'arguments.jsonnet';
    corrected(pipeline(input=input, output=output, model=model, device=device), args.number('factor', factor))
