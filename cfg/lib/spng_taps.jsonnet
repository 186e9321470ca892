// SPDX-License-Identifier: Apache-2.0
// Taps: nodes that write the tensors of an edge to a file beside the output.
local job_anodes = import 'anodes.jsonnet';
local pg = import 'pgraph.jsonnet';

local without_ending(name) = std.foldl(
    function(name, ending) if std.endsWith(name, ending) then name[:std.length(name) - std.length(ending)] else name,
    ['.npz', '.tar', '.tar.gz', '.tar.bz2'],
    name
);

/// spng: node builders of the job; output: the output file; dumped: the edges to write; is_split: true: a file for each anode
function(spng, output, dumped, is_split) {
    local stem = without_ending(output),
    local tap(edge, group) =
        local name = if is_split then group.plain_name else group.name;
        spng.TensorTap(edge + '-' + group.name,
                       std.strReplace(stem, '%d', job_anodes.numbers(group.anodes)) + '-' + edge + '-' + name + '.npz'),

    /// Return the tap of an edge as a list, which is empty if the job does not dump the edge.
    taps(edge, group):: if std.member(dumped, edge) then [tap(edge, group)] else [],

    /// Return the part whose output is the edge, followed by the tap if the job dumps the edge.
    behind(edge, group, part):: if std.member(dumped, edge) then pg.pipeline([part, tap(edge, group)], part.name) else part,
}
