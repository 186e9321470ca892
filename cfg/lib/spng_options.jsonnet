// SPDX-License-Identifier: Apache-2.0
// The checked options of the main job: `local options = import 'spng_options.jsonnet'`.
//
// Arguments given with -A are text; numbers, truth values and lists are read from it.
local job_anodes = import 'anodes.jsonnet';
local args = import 'arguments.jsonnet';

local known_tags = ['signal', 'error', 'decon_charge', 'wiener', 'loose', 'mp2', 'mp3', 'roi'];
// Names of other programs and of earlier versions.
local other_tags = { gauss: 'signal, the charge within ROIs that OmnibusSigProc calls gauss, or decon_charge, the charge before ROIs' };
local known_noise_filters = import 'noise_filters.jsonnet';

local checked(what, words, known, others={}) =
    local unknown = [word for word in words if !std.member(known, word)];
    if unknown == [] then words
    else
        local meant = ['; did you mean ' + others[word] + '?' for word in unknown if std.objectHas(others, word)];
        error 'unknown ' + what + ' ' + std.join(', ', unknown) + '; known: ' + std.join(', ', known) + std.join('', meant);

local unique(what, words) =
    local repeated = std.set([word for word in words if std.count(words, word) > 1]);
    if repeated == [] then words else error what + ' ' + std.join(', ', repeated) + ' is given twice; each runs once, in a fixed order';

/// detectors: descriptions by name (detectors/all.jsonnet); given: the arguments of cfg/pipeline.jsonnet by name
function(detectors, given)
    local det =
        if std.isObject(given.detname) then given.detname
        else if std.objectHas(detectors, given.detname) then detectors[given.detname]
        else error "unknown detector '" + given.detname + "'; known: " + std.join(', ', std.objectFields(detectors));
    local anodes = job_anodes.chosen(det, given.tpcid);
    local out_tags = checked('tag', args.list(given.tags), known_tags, other_tags);
    local asked_filters = args.list(given.noise_filter);
    local checked_filters = checked('noise filter',
                                    unique('noise filter', asked_filters),
                                    (if std.length(asked_filters) == 1 then ['none', 'default'] else []) + known_noise_filters);
    local chosen_filters = if checked_filters == ['default'] then std.get(det, 'noise_filters', []) else checked_filters;
    local noise_filters = [name for name in known_noise_filters if std.member(chosen_filters, name)];
    local other_anodes = checked('choice for other_anodes', [given.other_anodes], ['reject', 'ignore'])[0];
    local frames = checked('form of frames', [given.frames], ['dense', 'sparse'])[0];
    local batch_anodes = if given.batch_anodes == 'auto' then 'auto' else args.boolean('batch_anodes', given.batch_anodes);
    // A function of wire-cell (spng/job/load_job.cxx); null in other programs, which do not batch anodes by themselves.
    local batches_anodes = std.native('spng_batches_anodes');
    local whole(name) = args.whole(name, given[name]);
    local boolean(name) = args.boolean(name, given[name]);
    local fraction(name) =
        local value = args.number(name, given[name]);
        if value >= 0 && value <= 1 then value else error "argument '" + name + "' takes a number from 0 to 1, not " + given[name];
    // A threshold for both kinds of groups, or one for each; null: that of the filter set.
    local threshold(name) =
        local values = [args.number(name, each) for each in if std.isNumber(given[name]) then [given[name]] else args.list(given[name])];
        local negative = [value for value in values if value < 0];
        if values == [] then { induction: null, collection: null }
        else if negative != [] then error "argument '" + name + "' takes numbers of 0 or more, not '" + given[name] + "'"
        else if std.length(values) <= 2 then { induction: values[0], collection: values[std.length(values) - 1] }
        else error "argument '" + name + "' takes one number, or those of induction and collection planes, not '" + given[name] + "'";
    local overlaps_files = boolean('overlap_files');
    local options = {
        out_tags: out_tags,
        known_tags: known_tags,
        dumped: args.list(given.dump),
        checked:: checked,
        noise_filters: noise_filters,
        network_layout: checked('memory layout of the network', [given.network_layout], ['auto', 'contiguous', 'channels_last'])[0],
        network_timeout: whole('network_timeout'),
        mask_threshold: if given.mask_threshold == '' then null else fraction('mask_threshold'),
        thresholds: { seed: threshold('seed_threshold'), grow: threshold('grow_threshold') },
        other_anodes: other_anodes,
        frames: frames,
        batch_anodes: batch_anodes,
        /// Whether anodes with equal responses and networks share tensors. Hidden, because reading it opens the device.
        joins_anodes:: if batch_anodes != 'auto' then batch_anodes else batches_anodes != null && batches_anodes(given.device),
        /// Whether views of equal shape share tensors.
        joins_views: boolean('batch'),
        dead_is_hit: boolean('dead_is_hit'),
        results_on_device: boolean('results_on_device'),
        checks_input: boolean('check_input'),
        max_bad_share: args.number('max_bad_share', given.max_bad_share),
        overlaps_files: overlaps_files,
        nevents: whole('nevents'),
        series: boolean('series'),
        events_in_flight: whole('events_in_flight'),
        context: {
            type: 'SPNGContext',
            data: {
                device: given.device,
                precision: given.precision,
                cuda_graph: given.cuda_graph,
                dtype: given.dtype,
                threads: whole('threads'),
                verbosity: whole('verbosity'),
                memory_budget: std.toString(given.memory_budget),
                share: given.share,
                share_timeout: whole('share_timeout'),
            },
        },
    };
    // Read all options now, so that an error names the job's file, not the node that needs the value.
    if std.toString(options) == '' then null else options { det: det, anodes: anodes }
