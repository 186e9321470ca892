// SPDX-License-Identifier: Apache-2.0
// Taps: nodes that write the tensors of an edge to a file beside the output.
local job_anodes = import 'anodes.jsonnet';

local without_ending(name) = std.foldl(
    function(name, ending) if std.endsWith(name, ending) then name[:std.length(name) - std.length(ending)] else name,
    ['.npz', '.tar', '.tar.gz', '.tar.bz2'],
    name
);

/// Return a tap for each of the dumped edges that a group has, with the edge as its input.
/// spng: node builders of the job; output: the output file; is_split: true: a file for each anode; edges: outputs by name
function(spng, output, is_split, dumped, group, edges)
    local stem = std.strReplace(without_ending(output), '%d', job_anodes.numbers(group.anodes));
    local name = if is_split then group.plain_name else group.name;
    [
        spng.TensorTap(edge + '-' + group.name, stem + '-' + edge + '-' + name + '.npz', edges[edge])
        for edge in std.objectFields(edges)
        if std.member(dumped, edge)
    ]
