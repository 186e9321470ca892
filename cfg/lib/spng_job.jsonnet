// SPDX-License-Identifier: Apache-2.0
// The main job around its chain: input and output files, groups of views, taps, context and graph.
local job_anodes = import 'anodes.jsonnet';
local pg = import 'pgraph.jsonnet';
local make_spng = import 'spng.jsonnet';
local make_options = import 'spng_options.jsonnet';
local make_taps = import 'spng_taps.jsonnet';

local indices(items) = std.range(0, std.length(items) - 1);
local link(tail, head, hp=0, tp=0) = { tail: tail, head: head, tp: tp, hp: hp };

/// chain  function of the node builders (spng.jsonnet), the job, a group of views and the groups of its batch of anodes; returns
///        { links, outputs: [[tags, node]...], signal: the last node of the chain }
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
    local out_tags = options.out_tags;
    local wants(tag) = std.member(out_tags, tag);

    // In file names, %d is replaced by the index of the anode.
    local of_each_anode(name) = [std.strReplace(name, '%d', std.toString(anode)) for anode in anodes];
    local has_each(name) = std.findSubstr('%d', name) != [];
    local has_output_file = !std.isObject(given.output);
    local is_split = has_output_file && has_each(given.output);
    local taps = make_taps(spng, if has_output_file then given.output else 'spng.npz', options.dumped, is_split);

    // Frames from a part of a graph are not divided into readout windows.
    local overlap = options.overlaps_files;
    local windows = spng.window(given.window);
    local is_cut = !std.isObject(given.input) && windows.core > 0;
    local region_tags = [tag for tag in out_tags if std.member(['signal', 'error', 'wiener', 'roi'], tag)];
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
                                              max_bad_share=options.max_bad_share);

    // The part of the job that chains use. Fields refer to locals: Jsonnet computes a local once but a field at each access.
    local noise_filters = options.noise_filters, dead_is_hit = options.dead_is_hit, max_bad_share = options.max_bad_share;
    local job = {
        groups: groups,
        noise_filters: noise_filters,
        max_bad_share: max_bad_share,
        dead_is_hit: dead_is_hit,
        wants:: wants,
        indices:: indices,
        link:: link,
        tap:: taps.behind,
        taps:: taps.taps,
        /// Return the links from the group's port of the unpacked frame through a series of nodes to each of the heads.
        from_frame(group, line, heads)::
            local count = std.length(line);
            local feed(part, i) =
                if i == 0 then link(unpack, part, tp=std.find(group.name, group_names)[0]) else link(line[i - 1], part);
            [feed(line[i], i) for i in indices(line)] + [feed(head, count) for head in heads],
    };
    local chains = [chain(spng, job, group, batch) for batch in batches for group in batch];
    local results = [
        output[1]
        for each in chains
        for output in each.outputs
        if std.length([tag for tag in output[0] if wants(tag)]) > 0
    ];

    local split_frames = is_split && std.length(anodes) > 1;
    local pack = spng.TorchTensorSetToFrameFanin(groups,
                                                 std.length(results),
                                                 out_tags,
                                                 split_frames,
                                                 if is_cut && region_tags != [] && !wants('roi') then ['roi'] else [],
                                                 options.results_on_device);
    local out_files = if has_output_file then of_each_anode(given.output) else [];
    local sinks =
        if !has_output_file then [given.output]
        else if !split_frames then [spng.FrameFileSink(out_files[0], behind=overlap, frames=options.frames)]
        else [spng.FrameFileSink(out_files[i], 'anode' + anodes[i], overlap, options.frames) for i in indices(anodes)];
    local label(i) = if split_frames then 'anode' + anodes[i] else '';
    local ends =
        if !is_cut then sinks
        else [pg.pipeline([spng.StitchWindows(out_tags, region_tags, label(i)), sinks[i]], sinks[i].name) for i in indices(sinks)];

    local graph = pg.linked(
        [link(source, unpack)]
        + std.flattenArrays([each.links for each in chains])
        + (if wants('signal') then [] else [link(chains[i].signal, spng.Discard(group_names[i])) for i in indices(groups)])
        + [link(results[i], pack, i) for i in indices(results)]
        + [link(pack, ends[i], tp=i) for i in indices(ends)]
    );
    pg.main(graph, given.engine, uses=[options.context { data+: { about: about } }], app_data={ events_in_flight: options.events_in_flight })
