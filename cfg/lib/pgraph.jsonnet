// SPDX-License-Identifier: Apache-2.0
// Graphs from parts: `local pg = import 'pgraph.jsonnet'`. A part ("pnode") is a node or a graph made of parts:
//
//     { type: 'Pnode', name, iports: [port...], oports: [port...], edges: [edge...], uses: [component...] }
//
// where a port is { node: 'Type:name', port: index } and an edge { tail: port, head: port }. A node ("inode") is the
// component { type, name, data } of a part. Parts only concatenate lists; components are made unique once, by main(), so
// that large graphs evaluate quickly. For the same reason values are locals in front of objects: Jsonnet computes a field
// anew at each access, but a local once.
//
// The library has all names of the Wire-Cell Toolkit's library of this name, with the same meaning and the same names of
// arguments; differences are in docs/migration.md. `output`, `port_of`, `fed`, `graph`, `links_of`, `linked` and further arguments of some
// functions are ours.
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

/// Return an object without a key. Array elements are computed once, so values pass through an array.
local without(object, key) =
    local fields = [field for field in std.objectFields(object) if field != key];
    local values = [object[field] for field in fields];
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
    error "two components are called '" + wc.tn(first) + "' and differ in: " + std.join(', ', different)
          + '; the Wire-Cell Toolkit takes the last of them, see docs/migration.md';

/// List each component once, without its uses. Most have many users, so names and contents are computed once for each use.
local unique_components(components) =
    local all = flattened(components);
    local names = [wc.tn(component) for component in all];
    local contents = [std.toString(if std.objectHas(component, 'data') then component.data else {}) for component in all];
    local kept = unique(indices(all),
                        function(i) names[i],
                        function(i, k) contents[i] == contents[k] || reject_different(all[i], all[k]));
    [without(all[i], 'uses') for i in kept];

/// Return the name of a part for messages: that of its node if it has one.
local label(part) = if std.objectHasAll(part, 'label') then part.label else part.name;

local port_of(ports, index, which, pnode) =
    if index >= 0 && index < std.length(ports) then ports[index]
    else error label(pnode) + ' has no ' + which + ' port ' + index + ', only ' + std.length(ports);

/// Return an output as `output()` does, also for a part.
local output_of(input) = if std.objectHasAll(input, 'part') then input else { part: input, index: 0 };

/// Return the outputs that a part names as its inputs, with the index of the input.
local named_inputs(part) =
    local inputs = if std.objectHasAll(part, 'inputs') then part.inputs else [];
    [output_of(inputs[i]) { input: i } for i in indices(inputs) if inputs[i] != null];

local port_key(port) = port.node + '\n' + port.port;

local edge_key(edge) = port_key(edge.tail) + '\n' + port_key(edge.head);

/// Make a part of one node that is a fan. Rules and tags that are empty are left out.
local fan_part(library, type, name, nin, nout, multiplicity, more) =
    local data = { multiplicity: multiplicity } + { [key]: more[key] for key in std.objectFields(more) if more[key] != [] };
    library.pnode({ type: type, name: name, data: data }, nin, nout);

{
    // Ports and edges -----------------------------------------------------------------------------------------------

    /// Return port `num` of a node.
    port(inode, num=0):: { node: wc.tn(inode), port: num },

    /// Connect output port `tp` of one part to input port `hp` of another.
    edge(tail, head, tp=0, hp=0)::
        $.edge_ports(port_of(tail.oports, tp, 'output', tail), port_of(head.iports, hp, 'input', head)),

    /// Connect two ports.
    edge_ports(tport, hport):: { tail: tport, head: hport },

    /// Connect ports of two nodes, given by their references.
    edge_labels(tlabel, hlabel, tp=0, hp=0)::
        $.edge_ports({ node: tlabel, port: tp }, { node: hlabel, port: hp }),

    /// Return the two edges that replace an edge: to the port nh, and from the port nt.
    break_edge(edge, nh, nt):: [$.edge_ports(edge.tail, nh), $.edge_ports(nt, edge.head)],

    /// Return edges with the one at `index` replaced by break_edge().
    break_insert_edge(index, edges, nh, nt):: edges[:index] + $.break_edge(edges[index], nh, nt) + edges[index + 1:],

    /// Return edges in order, each once.
    unique_edges(edges):: unique(edges, edge_key),

    /// Return the indices at which a list has the item.
    find_indices(list, item):: std.find(item, list),

    // Parts ---------------------------------------------------------------------------------------------------------

    /// Make a part that is one node.
    /// inode: { type, name, data, uses } of the component; nin, nout: counts of its ports;
    /// uses: components that it refers to, or parts whose components it refers to;
    /// name: of the part; null: that of the component; inputs: see fed()
    pnode(inode, nin=0, nout=0, uses=[], name=null, inputs=[])::
        local node = wc.tn(inode);
        local ports(count) = [{ node: node, port: i } for i in std.range(0, count - 1)];
        local iports = ports(nin), oports = ports(nout), all_uses = uses + [inode];
        {
            type: 'Pnode',
            name: if name != null then name else std.get(inode, 'name', ''),
            label:: node,
            inputs:: inputs,
            edges: [],
            uses: all_uses,
            iports: iports,
            oports: oports,
        },

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
    pipeline(elements, name='')::
        local last = std.length(elements) - 1;
        if last < 0 then error 'pipeline ' + name + ' of no parts'
        else if last == 0 then elements[0]
        else $.intern(innodes=[elements[0]],
                      outnodes=[elements[last]],
                      centernodes=elements[1:last],
                      name=name,
                      edges=[$.edge(elements[i], elements[i + 1]) for i in std.range(0, last - 1)]),

    /// Put parts side by side: one part with the ports of all.
    crossline(elements, name='')::
        $.intern(innodes=elements, name=name, oports=std.flattenArrays([part.oports for part in elements])),

    /// Make a source of one output port of a part, for example of a crossline.
    oport_node(node, oport_index=0)::
        $.intern(centernodes=[node], oports=[port_of(node.oports, oport_index, 'output', node)]),

    /// Make a sink of one input port of a part.
    iport_node(node, iport_index=0)::
        $.intern(centernodes=[node], iports=[port_of(node.iports, iport_index, 'input', node)]),

    /// Connect output ports of one part to input ports of the next, port by port.
    /// uports, dports: indices of the ports; empty: all
    shuntline(upstream, downstream, uports=[], dports=[], name='')::
        local chosen(given, ports) = if given == [] then indices(ports) else given;
        local from = chosen(uports, upstream.oports), to = chosen(dports, downstream.iports);
        local count = std.length(from);
        if count != std.length(to)
        then error 'shuntline ' + name + ': ' + label(upstream) + ' has ' + count + ' output ports, ' + label(downstream)
                   + ' has ' + std.length(to) + ' input ports'
        else $.intern(innodes=[upstream],
                      outnodes=[downstream],
                      name=name,
                      edges=[$.edge(upstream, downstream, from[i], to[i]) for i in std.range(0, count - 1)]),

    /// Connect parts one after the other by shuntline().
    shuntlines(nodes, name='')::
        if nodes == [] then error 'shuntlines ' + name + ' of no parts'
        else std.foldl(function(done, next) $.shuntline(done, next, name=name), nodes[1:], nodes[0]),

    /// Make a graph without ports of parts. Parts that have a node in common are connected by it.
    components(subgraphs, name=''):: $.intern(centernodes=subgraphs, name=name),

    /// Connect output port 0 of each source to the input port of the same index of the joiner.
    /// n: not used
    join_sources(joiner, sources, n=2)::
        $.intern(outnodes=[joiner],
                 centernodes=sources,
                 edges=[$.edge(sources[i], joiner, 0, i) for i in indices(sources)]),

    /// Put a part into the edge of a graph with this index, for example a node that dumps data: the edge leads to input port
    /// `iport` of newhead, and goes on at output port `oport` of newtail.
    insert_one(pnode, index, newhead, newtail, iport=0, oport=0, name=null)::
        local head = port_of(newhead.iports, iport, 'input', newhead);
        local tail = port_of(newtail.oports, oport, 'output', newtail);
        local edges = $.break_insert_edge(index, pnode.edges, head, tail) + newhead.edges + newtail.edges;
        local all_uses = pnode.uses + newhead.uses + newtail.uses;
        pnode { name: if name != null then name else pnode.name, edges: edges, uses: all_uses },

    /// Do the same with a given edge.
    insert_node(pnode, edge_to_break, newhead, newtail, iport=0, oport=0, name=null)::
        local found = $.find_indices(pnode.edges, edge_to_break);
        if found == [] then error label(pnode) + ' has no edge ' + std.toString(edge_to_break)
        else $.insert_one(pnode, found[0], newhead, newtail, iport, oport, name),

    /// Connect the input ports of `sg` to edges of `gr`, in order, each by a fan-out node with two outputs.
    /// edge_selector(edge): true for the edges; fanout_factory(count, edge): returns the component of the fan-out
    splice(gr, sg, edge_selector, fanout_factory)::
        local all = $.edges(gr);
        local chosen = std.filter(edge_selector, all);
        local kept = [edge for edge in all if !edge_selector(edge)];
        local fans = [$.pnode(fanout_factory(i, chosen[i]), nin=1, nout=2) for i in indices(chosen)];
        local new = [
            [
                $.edge_ports(chosen[i].tail, fans[i].iports[0]),
                $.edge_ports(fans[i].oports[0], chosen[i].head),
                $.edge_ports(fans[i].oports[1], sg.iports[i]),
            ]
            for i in indices(chosen)
        ];
        if std.length(chosen) != std.length(sg.iports)
        then error 'splice: ' + std.length(chosen) + ' edges are selected, ' + label(sg) + ' has '
                   + std.length(sg.iports) + ' input ports'
        else $.intern(centernodes=[gr { edges: kept }, sg] + fans, edges=std.flattenArrays(new)),

    /// Return an output of a part that has several.
    output(part, index):: { part: part, index: index },

    /// Return the port of an output, or of output 0 of a part.
    port_of(output)::
        local found = output_of(output);
        port_of(found.part.oports, found.index, 'output', found.part),

    /// Return a part that names its inputs, for links_of(): parts, whose output 0 it gets, or outputs; null: nothing.
    fed(part, inputs):: part { inputs:: inputs },

    /// Make a graph of parts and all parts that they name as inputs. taps: see links_of()
    graph(ends, taps=[]):: $.linked($.links_of(ends, taps)),

    /// Return the links to parts, and to all parts that they name as inputs. The links to a part follow those to its inputs, so
    /// that the graph runs depth first. A part may be made several times.
    /// taps: parts with one input and one output; all other readers of their input get their output
    links_of(ends, taps=[])::
        local tap_of = { [port_key($.port_of(tap.inputs[0]))]: tap for tap in taps };
        local inputs_of(part) = [
            local key = port_key($.port_of(input)), tap = if std.objectHas(tap_of, key) then tap_of[key];
            if tap == null || label(tap) == label(part) then input else input { part: tap, index: 0 }
            for input in named_inputs(part)
        ];
        // Parts by name, each with its position: the count of parts that were found before it.
        local visit(found, part) =
            local name = if std.objectHasAll(part, 'label') then part.label else std.toString([part.iports, part.oports]);
            if std.objectHas(found, name) then found
            else
                local inputs = inputs_of(part);
                local before = std.foldl(function(seen, input) visit(seen, input.part), inputs, found);
                before { [name]: [std.length(before), part, inputs] };
        local found = std.foldl(visit, ends, {});
        local each = [found[name] for name in std.objectFields(found)];
        local ordered = { [order_key(entry[0])]: entry for entry in each };
        [
            { tail: input.part, head: ordered[key][1], tp: input.index, hp: input.input }
            for key in std.objectFields(ordered)
            for input in ordered[key][2]
        ],

    /// Make a graph from links between parts: { tail, head, tp, hp }, the port indices 0 unless given. An output port may have
    /// several links: it gets a fan-out node, named after it.
    linked(links, name='', fanout_type='SPNGFanoutTensorSets')::
        local tails_of = [port_of(link.tail.oports, if 'tp' in link then link.tp else 0, 'output', link.tail) for link in links];
        local heads_of = [port_of(link.head.iports, if 'hp' in link then link.hp else 0, 'input', link.head) for link in links];
        local keys = [port_key(tail) for tail in tails_of];
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
        local parts = unique(std.flattenArrays([[link.tail, link.head] for link in links]),
                             function(part) std.toString([part.iports, part.oports]));
        // A fan-out follows the part that feeds it, so that a serial run continues with data that are still in the caches.
        local fans_behind(part) = [fans[fan_of[port_key(port)]] for port in part.oports if std.objectHas(fan_of, port_key(port))];
        $.intern(centernodes=std.flattenArrays([[part] + fans_behind(part) for part in parts]), edges=edges, name=name),

    /// Nodes that pass one set to several branches, or merge the sets of several branches into one.
    fan:: {
        fanout_node(multiplicity, name, type='SPNGFanoutTensorSets', tag_rules=[])::
            fan_part($, type, name, 1, multiplicity, multiplicity, { tag_rules: tag_rules }),

        fanin_node(multiplicity, name, type='SPNGFaninTensorSets', tags=[], tag_rules=[])::
            fan_part($, type, name, multiplicity, 1, multiplicity, { tags: tags, tag_rules: tag_rules }),

        local out_edges(node, parts) = [$.edge(node, parts[i], i, 0) for i in indices(parts)],
        local in_edges(parts, node) = [$.edge(parts[i], node, 0, i) for i in indices(parts)],

        /// Connect one input to input port 0 of each of the parts.
        fanout(fantype, pipelines, name='fanout', tag_rules=[])::
            local node = self.fanout_node(std.length(pipelines), name, fantype, tag_rules);
            $.intern(innodes=[node], outnodes=pipelines, edges=out_edges(node, pipelines), name=name),

        /// Merge output port 0 of each of the parts into one.
        fanin(fantype, pipelines, name='fanin', outtags=[])::
            local node = self.fanin_node(std.length(pipelines), name, fantype, outtags);
            $.intern(innodes=pipelines, outnodes=[node], edges=in_edges(pipelines, node), name=name),

        /// Make a part with one input and one output, and the parts side by side between them.
        pipe(fout, pipelines, fin, name='fanpipe', outtags=[], tag_rules=[], in_tag_rules=[])::
            local count = std.length(pipelines);
            local first = self.fanout_node(count, name, fout, tag_rules);
            local last = self.fanin_node(count, name, fin, outtags, in_tag_rules);
            $.intern(innodes=[first],
                     outnodes=[last],
                     centernodes=pipelines,
                     edges=out_edges(first, pipelines) + in_edges(pipelines, last),
                     name=name),

        /// Connect one input to sinks.
        sink(fout, pipelines, name='fansink', tag_rules=[])::
            local node = self.fanout_node(std.length(pipelines), name, fout, tag_rules);
            $.intern(innodes=[node], centernodes=pipelines, edges=out_edges(node, pipelines), name=name),

        /// Make a part with one input and one output of a sink, which gets a copy of the data.
        tap(fout, sink, name='tap', tag_rules=[])::
            local node = self.fanout_node(2, name, fout, tag_rules);
            $.intern(innodes=[node], centernodes=[sink], edges=[$.edge(node, sink, 1, 0)], oports=node.oports[:1], name=name),
    },

    // Components and jobs -------------------------------------------------------------------------------------------

    /// Tell whether a value is neither null nor an empty array or object.
    isSomething(val):: val != null && !((std.isArray(val) || std.isObject(val)) && std.length(val) == 0),

    /// Return the elements of an array that are something.
    prune_array(arr):: std.filter($.isSomething, arr),

    /// Return an object without a key.
    prune_key(obj, key):: if std.objectHas(obj, key) then without(obj, key) else obj,

    /// Return the list without parts.
    strip_pnodes(arr):: [each for each in arr if each.type != 'Pnode'],

    /// Return the list l, all that obj uses, recursively, and obj, all without their uses.
    popuses(l, obj):: l + std.foldl($.popuses, std.get(obj, 'uses', []), []) + [$.prune_key(obj, 'uses')],

    /// List all components that a sequence of parts and components has and uses, used ones before their users, without their
    /// uses. A component is listed once for each of its users.
    resolve_uses(seq):: [$.prune_key(component, 'uses') for component in flattened(seq)],

    /// List the edges of a part, each once.
    edges(graph):: $.unique_edges(graph.edges),

    /// List all components of a part, each once, used ones before their users. Components with the same name must be equal.
    uses(graph):: unique_components(graph.uses),

    /// Make the configuration of a job: the array that wire-cell reads.
    /// app: 'Pgrapher' or 'TbbFlow'; program: empty to leave out the component "wire-cell";
    /// uses: components that no part names; app_data: other settings of the app
    main(graph, app='Pgrapher', plugins=[], program='wire-cell', uses=[], app_data={})::
        (if program == '' then [] else [{ type: program, data: { plugins: plugins, apps: [app] } }])
        + unique_components(uses + graph.uses)
        + [{ type: app, data: app_data { edges: $.edges(graph) } }],
}
