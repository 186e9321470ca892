// SPDX-License-Identifier: Apache-2.0
// The main job around its chain: input and output files, groups of views, taps, context and graph.
local job_anodes = import 'anodes.jsonnet';
local pg = import 'pgraph.jsonnet';
local make_spng = import 'spng.jsonnet';
local make_options = import 'spng_options.jsonnet';
local make_taps = import 'spng_taps.jsonnet';

local indices(items) = std.range(0, std.length(items) - 1);

/// chain  function that makes the edges of a group of views by name, see cfg/pipeline.jsonnet
/// detectors  descriptions by name (detectors/all.jsonnet)
/// given  the arguments of cfg/pipeline.jsonnet by name; input may also be a part of a graph that makes frames, and output one that
///        takes the frame of all anodes
function(chain, detectors, given)
    local options = make_options(detectors, given);
    local anodes = options.anodes;
    local spng = make_spng(options.det, anodes, given.filters, given.bad_channels, options.thresholds);
    local views_of(groups) =
        if options.joins_views then groups
        else [group { name: view.name, views: [view] } for group in groups for view in group.views];
    local groups_of(anode) = views_of(options.det.groups(anode));
    // Coincidence is found among the groups of one batch.
    local batches = [
        [
            group {
                network_layout: options.network_layout,
                network_timeout: options.network_timeout,
                network_output: given.network_output,
                model_server: given.model_server,
                remote_model: given.remote_model,
                mask_threshold: options.mask_threshold,
                noise_filters: options.noise_filters,
                max_bad_share: options.max_bad_share,
                dead_is_hit: options.dead_is_hit,
            }
            for group in batch
        ]
        for batch in spng.batches(groups_of, given.model, options.joins_anodes)
    ];
    local groups = std.flattenArrays(batches);
    local models = std.set([group.model for group in groups if group.kind == 'induction' && group.model != 'none']);
    local why_no_network =
        if given.model == 'none' then 'model=none'
        else if std.objectHasAll(options.det, 'model') && spng.filter_set != options.det.filter_set
        then 'the network of ' + options.det.name + ' needs filters=' + options.det.filter_set
        else options.det.name + ' has none';
    local of_network = [name for name in ['mask_threshold', 'model_server', 'remote_model'] if given[name] != ''];
    /// One line about the job for its reports.
    local about =
        if models == [] && of_network != []
        then error "argument '" + of_network[0] + "' is about a network, and the job has no network: " + why_no_network
        else std.join(', ', [
                                options.det.name + ' anode ' + std.join(', ', [std.toString(anode) for anode in anodes]),
                                'filters ' + spng.filter_set,
                                if models == [] then 'no network: ' + why_no_network else 'network ' + std.join(', ', models),
                            ] + (if options.noise_filters == [] then [] else ['noise filter ' + std.join(', ', options.noise_filters)])
                            + [name + ' ' + given[name] for name in ['mask_threshold', 'seed_threshold', 'grow_threshold'] if given[name] != '']);
    local group_names = [group.name for group in groups];
    local wanted = [tag for tag in options.known_tags if std.member(options.out_tags, tag)];
    local wants(tag) = std.member(wanted, tag);

    // In file names, %d is replaced by the index of the anode.
    local of_each_anode(name) = [std.strReplace(name, '%d', std.toString(anode)) for anode in anodes];
    local has_each(name) = std.findSubstr('%d', name) != [];
    local has_output_file = !std.isObject(given.output);
    local is_split = has_output_file && has_each(given.output), split_frames = is_split && std.length(anodes) > 1;

    // Frames from a part of a graph are not divided into readout windows.
    local overlap = options.overlaps_files;
    local windows = spng.window(given.window);
    local is_cut = !std.isObject(given.input) && windows.core > 0;
    local files =
        if std.isArray(given.input) then given.input
        else if has_each(given.input) then of_each_anode(given.input)
        else [given.input];
    local source =
        if std.isObject(given.input) then given.input
        else spng.FrameFileSource(files,
                                  tags=spng.tags_of(given.intag),
                                  nevents=options.nevents,
                                  window=windows,
                                  series=options.series,
                                  ahead=overlap);
    local unpack = spng.FrameToTorchSetFanout(groups,
                                              given.intag,
                                              options.other_anodes,
                                              check=options.checks_input,
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
        for edge in std.uniq([edge_of(tag, each) for tag in wanted])
        if std.objectHas(each, edge)
    ];

    local region_tags = [tag for tag in options.out_tags if std.member(['signal', 'error', 'wiener', 'roi'], tag)];
    local pack = spng.TorchTensorSetToFrameFanin(groups,
                                                 results,
                                                 options.out_tags,
                                                 split_frames,
                                                 if is_cut && region_tags != [] && !wants('roi') then ['roi'] else [],
                                                 options.results_on_device);
    local out_files = if has_output_file then of_each_anode(given.output) else [];
    local end(label, i) =
        local frames = pg.output(pack, i);
        local whole = if is_cut then spng.StitchWindows(options.out_tags, region_tags, label, frames) else frames;
        if has_output_file then spng.FrameFileSink(out_files[i], label, overlap, options.frames, whole)
        else pg.fed(given.output, [whole]);
    local sinks = if split_frames then [end('anode' + anodes[i], i) for i in indices(anodes)] else [end('', 0)];
    local discards = if wants('signal') then [] else [spng.Discard(groups[i].name, chains[i].signal) for i in indices(groups)];

    local edges = std.set([edge for each in chains for edge in std.objectFields(each)]);
    local dumped = options.checked('edge to dump', options.dumped, edges);
    local stem = if has_output_file then given.output else 'spng.npz';
    local taps = std.flattenArrays([make_taps(spng, stem, is_split, dumped, groups[i], chains[i]) for i in indices(groups)]);
    // Edges that only taps read.
    local ends = sinks + discards, links = if taps == [] then [] else pg.links_of(ends);
    local read = [pg.port_of(pg.output(link.tail, link.tp)) for link in links];
    local unread = [spng.Discard(tap.name, tap) for tap in taps if !std.member(read, pg.port_of(tap.inputs[0]))];
    local graph = pg.graph(ends + unread, taps);
    pg.main(graph, given.engine, uses=[options.context { data+: { about: about } }], app_data={ events_in_flight: options.events_in_flight })
