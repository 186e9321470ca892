// SPDX-License-Identifier: Apache-2.0
// The main job around its chain: input and output files, groups of views, taps, context and graph.
local job_anodes = import 'anodes.jsonnet';
local pg = import 'pgraph.jsonnet';
local make_spng = import 'spng.jsonnet';
local make_options = import 'spng_options.jsonnet';
local make_taps = import 'spng_taps.jsonnet';

local indices(items) = std.range(0, std.length(items) - 1);

/// chain  function that makes the edges of a group of views by name, see cfg/pipeline.jsonnet
/// given  the arguments of cfg/pipeline.jsonnet by name; input may also be a part of a graph that makes frames, and output one that
///        takes the frame of all anodes
function(chain, given)
    local options = make_options(given);
    local det = options.det, anodes = options.anodes;
    local spng = make_spng(det, anodes, options.filters, options.bad_channels, options.thresholds);
    local views_of(groups) =
        if options.batch then groups
        else [group { name: view.name, views: [view] } for group in groups for view in group.views];
    // Coincidence is found among the groups of one batch.
    local batches = [
        [group + options.of_group for group in batch]
        for batch in spng.batches(function(anode) views_of(det.groups(anode)), options.model, options.joins_anodes)
    ];
    local groups = std.flattenArrays(batches);
    local models = std.set([group.model for group in groups if group.kind == 'induction' && group.model != 'none']);
    local why_no_network =
        if options.model == 'none' then 'model=none'
        else if std.objectHasAll(det, 'model') && spng.filter_set != det.filter_set
        then 'the network of ' + det.name + ' needs filters=' + det.filter_set
        else det.name + ' has none';
    local of_network = [name for name in ['mask_threshold', 'model_server', 'remote_model'] if options[name] != ''];
    /// One line about the job for its reports.
    local about =
        if models == [] && of_network != []
        then error "argument '" + of_network[0] + "' is about a network, and the job has no network: " + why_no_network
        else std.join(', ', [
                                det.name + ' anode ' + std.join(', ', [std.toString(anode) for anode in anodes]),
                                'filters ' + spng.filter_set,
                                if models == [] then 'no network: ' + why_no_network else 'network ' + std.join(', ', models),
                            ] + (if options.noise_filters == [] then [] else ['noise filter ' + std.join(', ', options.noise_filters)])
                            + [name + ' ' + options[name] for name in ['mask_threshold', 'seed_threshold', 'grow_threshold'] if options[name] != '']);
    local group_names = [group.name for group in groups];
    local wants(tag) = std.member(options.tags, tag);

    // In file names, %d is replaced by the index of the anode.
    local of_each_anode(name) = [std.strReplace(name, '%d', std.toString(anode)) for anode in anodes];
    local has_each(name) = std.findSubstr('%d', name) != [];
    local has_output_file = !std.isObject(options.output);
    local is_split = has_output_file && has_each(options.output), split_frames = is_split && std.length(anodes) > 1;

    // Frames from a part of a graph are not divided into readout windows.
    local overlap = options.overlap_files;
    local windows = spng.window(options.window);
    local is_cut = !std.isObject(options.input) && windows.core > 0;
    local files =
        if std.isArray(options.input) then options.input
        else if has_each(options.input) then of_each_anode(options.input)
        else [options.input];
    local source =
        if std.isObject(options.input) then options.input
        else spng.FrameFileSource(files,
                                  tags=spng.tags_of(options.intag),
                                  nevents=options.nevents,
                                  window=windows,
                                  series=options.series,
                                  ahead=if overlap then -1 else 0);
    local unpack = spng.FrameToTorchSetFanout(groups,
                                              options.intag,
                                              options.other_anodes,
                                              check=options.check_input,
                                              max_bad_share=options.max_bad_share,
                                              frames=source);

    // The chains of a batch refer to each other: the coincidence of a group needs the ROIs of the others.
    local chains_of(batch) =
        local waveforms(group) = pg.output(unpack, std.find(group.name, group_names)[0]);
        local chains = [chain(spng, group, waveforms(group), batch, [each.regions for each in chains]) for group in batch];
        chains;
    local chains = std.flattenArrays([chains_of(batch) for batch in batches]);
    // The masks MP2 and MP3 come from one edge, and collection planes have the ROIs from thresholds.
    local edge_of(tag, edges) =
        if tag == 'mp2' || tag == 'mp3' then 'coincidence'
        else if tag == 'roi' && !std.objectHas(edges, 'roi') then 'regions'
        else tag;
    local results = [
        each[edge]
        for each in chains
        for edge in std.uniq([edge_of(tag, each) for tag in options.ordered_tags])
        if std.objectHas(each, edge)
    ];

    local region_tags = [tag for tag in options.tags if std.member(['signal', 'error', 'wiener', 'roi'], tag)];
    local pack = spng.TorchTensorSetToFrameFanin(groups,
                                                 results,
                                                 options.tags,
                                                 split_frames,
                                                 if is_cut && region_tags != [] && !wants('roi') then ['roi'] else [],
                                                 options.results_on_device);
    local out_files = if has_output_file then of_each_anode(options.output) else [];
    local end(label, i) =
        local frames = pg.output(pack, i);
        local whole = if is_cut then spng.StitchWindows(options.tags, region_tags, label, frames) else frames;
        if has_output_file then spng.FrameFileSink(out_files[i], label, overlap, options.frames, whole)
        else pg.fed(options.output, [whole]);
    local sinks = if split_frames then [end('anode' + anodes[i], i) for i in indices(anodes)] else [end('', 0)];
    local discards = if wants('signal') then [] else [spng.Discard(groups[i].name, chains[i].signal) for i in indices(groups)];

    local edges = std.set([edge for each in chains for edge in std.objectFields(each)]);
    local dumped = options.dumped(edges);
    local stem = if has_output_file then options.output else 'spng.npz';
    local taps = std.flattenArrays([make_taps(spng, stem, is_split, dumped, groups[i], chains[i]) for i in indices(groups)]);
    // Edges that only taps read.
    local ends = sinks + discards, links = if taps == [] then [] else pg.links_of(ends);
    local read = [pg.port_of(pg.output(link.tail, link.tp)) for link in links];
    local unread = [spng.Discard(tap.name, tap) for tap in taps if !std.member(read, pg.port_of(tap.inputs[0]))];
    local graph = pg.graph(ends + unread, taps);
    pg.main(graph, options.engine, uses=[options.context { data+: { about: about } }], app_data={ events_in_flight: options.events_in_flight })
