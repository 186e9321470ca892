// SPDX-License-Identifier: Apache-2.0
// Components of a detector description (detectors/*.jsonnet) that the nodes of chain and simulation share, and how nodes are made.
local make_electronics = import 'electronics.jsonnet';
local pg = import 'pgraph.jsonnet';
local wc = import 'wirecell.jsonnet';

function(det)
    local component(type, name, data, uses=[]) = { type: type, name: name, data: data, uses: uses };
    // The repository of files that do not come with this project.
    local file_source = { [if std.objectHasAll(det, 'file_source') then 'source']: det.file_source };
    local wires = component('WireSchemaFile', det.name, { filename: det.wires } + file_source);
    local electronics = make_electronics.components(det);
    {
        component:: component,
        names(components):: [wc.tn(each) for each in components],

        /// Make a node as a part of a graph. inputs: parts or outputs (pgraph.jsonnet); null: a port that is connected otherwise
        node(type, name, data, inputs, nout=1, uses=[])::
            pg.pnode(component(type, name, data), std.length(inputs), nout, uses, inputs=inputs),

        wires:: wires,
        anode_plane(anode):: component('AnodePlane', 'anode' + anode, {
            ident: anode,
            wire_schema: wc.tn(wires),
            [if std.objectHasAll(det, 'anode_parts') then 'parts']: det.anode_parts(anode),
        }, [wires]),
        field_response(anode):: component('FieldResponse', 'anode' + anode, { filename: det.field_response(anode) } + file_source),

        /// Of all planes, or of each.
        electronics:: electronics,
        electronics_of(plane):: make_electronics.of_plane(electronics, plane),

        /// The readout of the frames, which SPNGResampler brings to that of the chain if their ticks differ.
        raw_readout:: std.get(det, 'raw_readout', det.readout),
        adc_per_voltage:: std.pow(2, det.digitiser.bits) / det.digitiser.fullscale,
    }
