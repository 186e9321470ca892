// SPDX-License-Identifier: Apache-2.0
// Graphs from parts: `local pg = import 'pgraph.jsonnet'`. A part ("pnode") is a node or a graph made of parts:
//
//     { type: 'Pnode', name, iports: [port...], oports: [port...], edges: [edge...], uses: [component...] }
//
// where a port is { node: 'Type:name', port: index } and an edge { tail: port, head: port }. Parts only concatenate
// lists; components are made unique once, by main(), so that large graphs evaluate quickly. For the same reason values
// are locals in front of objects: Jsonnet computes a field anew at each access, but a local once.
local wc = import 'wirecell.jsonnet';

local indices(list) = std.range(0, std.length(list) - 1);

/// Return an ending for keys that keeps the order of a list when the keys are sorted as text: all indices have seven digits.
local order_key(i) = '\n' + (1000000 + i);

/// Return the elements of a list in order, only the first of each key. `same(first, other)` returns true, or ends with an
/// error, for two elements with the same key. Object fields do the sorting, because the interpreter sorts them natively.
local unique(list, key, same=function(first, other) true) =
    local keys = [key(element) for element in list];
    local sorted = { [keys[i] + order_key(i)]: i for i in indices(list) };
    local order = [sorted[field] for field in std.objectFields(sorted)];
    local kept = {
        [order_key(order[j])]: list[order[j]]
        for j in indices(order)
        if j == 0 || keys[order[j]] != keys[order[j - 1]] || !same(list[order[j - 1]], list[order[j]])
    };
    [kept[field] for field in std.objectFields(kept)];

/// Return a component without its uses. Array elements are computed once, so values pass through an array.
local bare(component) =
    local fields = [field for field in std.objectFields(component) if field != 'uses'];
    local values = [component[field] for field in fields];
    { [fields[i]]: values[i] for i in indices(fields) };

/// List the components with all that they use, recursively, users last. A part is replaced by its components.
local flattened(components) = std.flattenArrays([
    (if std.objectHasAll(component, 'uses') then flattened(component.uses) else [])
    + (if component.type == 'Pnode' then [] else [component])
    for component in components
]);

/// Reject two components of one name and different contents: one would silently replace the other.
local reject_different(first, other) =
    local data(component) = if std.objectHas(component, 'data') then component.data else {};
    local names = std.setUnion(std.objectFields(data(first)), std.objectFields(data(other)));
    local value(component, name) =
        if std.objectHas(data(component), name) then std.toString(data(component)[name]) else 'absent';
    local different = [
        name + ' (' + value(first, name) + ' and ' + value(other, name) + ')'
        for name in names
        if value(first, name) != value(other, name)
    ];
    error "two components are called '" + wc.tn(first) + "' and differ in: " + std.join(', ', different);

/// List each component once, without its uses. Most have many users, so names and contents are computed once for each use.
local unique_components(components) =
    local all = flattened(components);
    local names = [wc.tn(component) for component in all];
    local contents = [std.toString(if std.objectHas(component, 'data') then component.data else {}) for component in all];
    local kept = unique(indices(all),
                        function(i) names[i],
                        function(i, k) contents[i] == contents[k] || reject_different(all[i], all[k]));
    [bare(all[i]) for i in kept];

local port_of(ports, index, which, pnode) =
    if index < std.length(ports) then ports[index]
    else error pnode.name + ' has no ' + which + ' port ' + index + ', only ' + std.length(ports);

{
    /// Make a part that is one node.
    /// inode: { type, name, data, uses } of the component; nin, nout: counts of its ports;
    /// uses: components that it refers to, or parts whose components it refers to
    pnode(inode, nin=0, nout=0, uses=[], name=null)::
        local node = wc.tn(inode);
        local ports(count) = [{ node: node, port: i } for i in std.range(0, count - 1)];
        local iports = ports(nin), oports = ports(nout), all_uses = uses + [inode];
        {
            type: 'Pnode',
            name: if name == null then node else name,
            edges: [],
            uses: all_uses,
            iports: iports,
            oports: oports,
        },

    /// Connect output port `tp` of one part to input port `hp` of another.
    edge(tail, head, tp=0, hp=0)::
        local from = port_of(tail.oports, tp, 'output', tail), to = port_of(head.iports, hp, 'input', head);
        { tail: from, head: to },

    /// Make a part of parts and further edges between them. By default its ports are the input ports of `innodes` and the
    /// output ports of `outnodes`.
    intern(innodes=[], outnodes=[], centernodes=[], edges=[], iports=[], oports=[], name='')::
        local parts = innodes + centernodes + outnodes;
        local all(key, of) = std.flattenArrays([part[key] for part in of]);
        local all_edges = all('edges', parts) + edges, all_uses = all('uses', parts);
        local all_iports = if iports == [] then all('iports', innodes) else iports;
        local all_oports = if oports == [] then all('oports', outnodes) else oports;
        {
            type: 'Pnode',
            name: name,
            edges: all_edges,
            uses: all_uses,
            iports: all_iports,
            oports: all_oports,
        },

    /// Connect parts one after the other at their ports 0. The first and the last keep all their outer ports.
    pipeline(list, name='')::
        local last = std.length(list) - 1;
        if last < 0 then error 'pipeline ' + name + ' of no parts'
        else if last == 0 then list[0]
        else $.intern(innodes=[list[0]],
                      outnodes=[list[last]],
                      centernodes=list[1:last],
                      name=name,
                      edges=[$.edge(list[i], list[i + 1]) for i in std.range(0, last - 1)]),

    /// Put parts side by side: one part with the ports of all.
    crossline(list, name=''):: $.intern(innodes=list, name=name, oports=std.flattenArrays([part.oports for part in list])),

    /// Connect all output ports of one part to the input ports of the next, port by port.
    shuntline(tail, head, name='')::
        local count = std.length(tail.oports);
        if count != std.length(head.iports)
        then error 'shuntline ' + name + ': ' + tail.name + ' has ' + count + ' output ports, ' + head.name + ' has '
                   + std.length(head.iports) + ' input ports'
        else $.intern(innodes=[tail],
                      outnodes=[head],
                      name=name,
                      edges=[$.edge(tail, head, i, i) for i in std.range(0, count - 1)]),

    shuntlines(list, name=''):: std.foldl(function(done, next) $.shuntline(done, next, name), list[1:], list[0]),

    /// Put a part into an existing edge of a graph, for example a node that dumps data.
    insert_node(graph, edge_to_break, newhead, newtail, iport=0, oport=0, name=graph.name)::
        local edges = [edge for edge in graph.edges if edge != edge_to_break] + newhead.edges + newtail.edges
                      + [
                          { tail: edge_to_break.tail, head: newhead.iports[iport] },
                          { tail: newtail.oports[oport], head: edge_to_break.head },
                      ];
        local all_uses = graph.uses + newhead.uses + newtail.uses;
        graph { name: name, edges: edges, uses: all_uses },

    /// Make a graph from links between parts: { tail, head, tp, hp }, the port indices 0 unless given. An output port may have
    /// several links: it gets a fan-out node, named after it.
    linked(links, name='', fanout_type='SPNGFanoutTensorSets')::
        local tails_of = [port_of(link.tail.oports, if 'tp' in link then link.tp else 0, 'output', link.tail) for link in links];
        local heads_of = [port_of(link.head.iports, if 'hp' in link then link.hp else 0, 'input', link.head) for link in links];
        local keys = [tail.node + '\n' + tail.port for tail in tails_of];
        // Put links from one port next to each other, in their order.
        local sorted = { [keys[i] + order_key(i)]: i for i in indices(links) };
        local order = [sorted[field] for field in std.objectFields(sorted)];
        local starts = [j for j in indices(order) if j == 0 || keys[order[j]] != keys[order[j - 1]]];
        local ends = starts[1:] + [std.length(order)];
        // For each output port: its links, and the fan-out node if there are several.
        local branches = [order[starts[k]:ends[k]] for k in indices(starts)];
        local fans = [
            local tail = tails_of[branch[0]];
            if std.length(branch) == 1 then null
            else $.fan.fanout_node(std.length(branch), std.strReplace(tail.node, ':', '-') + '-' + tail.port, fanout_type)
            for branch in branches
        ];
        local fan_of = { [keys[branches[k][0]]]: k for k in indices(branches) if fans[k] != null };
        local edges = [
            { tail: tails_of[branches[k][0]], head: if fans[k] == null then heads_of[branches[k][0]] else fans[k].iports[0] }
            for k in indices(branches)
        ] + [
            { tail: fans[k].oports[i], head: heads_of[branches[k][i]] }
            for k in indices(branches)
            if fans[k] != null
            for i in indices(branches[k])
        ];
        local parts = unique(std.flattenArrays([[link.tail, link.head] for link in links]), function(part) part.name);
        // A fan-out follows the part that feeds it, so that a serial run continues with data that are still in the caches.
        local fans_behind(part) = [
            fans[fan_of[port.node + '\n' + port.port]]
            for port in part.oports
            if std.objectHas(fan_of, port.node + '\n' + port.port)
        ];
        $.intern(centernodes=std.flattenArrays([[part] + fans_behind(part) for part in parts]), edges=edges, name=name),

    /// Nodes that pass one set to several branches, or merge the sets of several branches into one.
    fan: {
        fanout_node(multiplicity, name, type='SPNGFanoutTensorSets', data={})::
            $.pnode({ type: type, name: name, data: data { multiplicity: multiplicity } }, nin=1, nout=multiplicity),

        fanin_node(multiplicity, name, type='SPNGFaninTensorSets', data={})::
            $.pnode({ type: type, name: name, data: data { multiplicity: multiplicity } }, nin=multiplicity, nout=1),

        /// Connect one input to each of the parts.
        fanout(type, parts, name='fanout')::
            $.shuntline(self.fanout_node(std.length(parts), name, type), $.crossline(parts), name),

        /// Merge the outputs of the parts into one.
        fanin(type, parts, name='fanin')::
            $.shuntline($.crossline(parts), self.fanin_node(std.length(parts), name, type), name),

        /// Make a part with one input and one output, and the parts side by side between them.
        pipe(fanout_type, parts, fanin_type, name='fanpipe')::
            local count = std.length(parts);
            $.shuntlines([
                self.fanout_node(count, name, fanout_type),
                $.crossline(parts),
                self.fanin_node(count, name, fanin_type),
            ], name),
    },

    /// List the edges of a part, each once.
    edges(graph):: unique(graph.edges, function(edge)
        edge.tail.node + '\n' + edge.tail.port + '\n' + edge.head.node + '\n' + edge.head.port),

    /// List all components of a part, each once, used ones before their users. Components with the same name must be equal.
    components(graph, uses=[]):: unique_components(uses + graph.uses),
    uses(graph):: self.components(graph),

    /// Make the configuration of a job: the array that wire-cell reads.
    /// app: 'Pgrapher' or 'TbbFlow'; app_data: its other settings; uses: components that no part names
    main(graph, app='Pgrapher', plugins=[], uses=[], app_data={})::
        [{ type: 'wire-cell', data: { plugins: plugins, apps: [app] } }]
        + $.components(graph, uses)
        + [{ type: app, data: app_data { edges: $.edges(graph) } }],
}
