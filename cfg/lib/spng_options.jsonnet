// SPDX-License-Identifier: Apache-2.0
// The checked options of the main job: `local make_options = import 'spng_options.jsonnet'`.
local job_anodes = import 'anodes.jsonnet';
local args = import 'arguments.jsonnet';
local known_noise_filters = import 'noise_filters.jsonnet';

local known_tags = ['signal', 'error', 'decon_charge', 'wiener', 'loose', 'mp2', 'mp3', 'roi'];
// Names of other programs and of earlier versions.
local other_tags = { gauss: 'signal, the charge within ROIs that OmnibusSigProc calls gauss, or decon_charge, the charge before ROIs' };

local checked(what, words, known, others={}) =
    local unknown = [word for word in words if !std.member(known, word)];
    if unknown == [] then words
    else
        local meant = ['; did you mean ' + others[word] + '?' for word in unknown if std.objectHas(others, word)];
        error 'unknown ' + what + ' ' + std.join(', ', unknown) + '; known: ' + std.join(', ', known) + std.join('', meant);

local unique(what, words) =
    local repeated = std.set([word for word in words if std.count(words, word) > 1]);
    if repeated == [] then words else error what + ' ' + std.join(', ', repeated) + ' is given twice; each runs once, in a fixed order';

/// given: the arguments of cfg/pipeline.jsonnet by name, as args.read() returns them; the result has more of them
function(given)
    local det = job_anodes.detector(given.detname);
    local checked_filters = checked('noise filter',
                                    unique('noise filter', given.noise_filter),
                                    (if std.length(given.noise_filter) == 1 then ['none', 'default'] else []) + known_noise_filters);
    local chosen_filters = if checked_filters == ['default'] then std.get(det, 'noise_filters', []) else checked_filters;
    local batch_anodes = if given.batch_anodes == 'auto' then 'auto' else args.boolean('batch_anodes', given.batch_anodes);
    // A function of wire-cell (spng/job/load_job.cxx); null in other programs, which do not batch anodes by themselves.
    local batches_anodes = std.native('spng_batches_anodes');
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
    local tags = checked('tag', given.tags, known_tags, other_tags);
    local more = {
        tags: tags,
        /// The tags in the order of the output.
        ordered_tags: [tag for tag in known_tags if std.member(tags, tag)],
        noise_filters: [name for name in known_noise_filters if std.member(chosen_filters, name)],
        thresholds: { seed: threshold('seed_threshold'), grow: threshold('grow_threshold') },
        other_anodes: checked('choice for other_anodes', [given.other_anodes], ['reject', 'ignore'])[0],
        frames: checked('form of frames', [given.frames], ['dense', 'sparse'])[0],
        /// Whether anodes with equal responses and networks share tensors. Hidden, because reading it opens the device.
        joins_anodes:: if batch_anodes != 'auto' then batch_anodes else batches_anodes != null && batches_anodes(given.device),
        /// Settings of each group of views.
        of_group: {
            network_layout: checked('memory layout of the network', [given.network_layout], ['auto', 'contiguous', 'channels_last'])[0],
            network_timeout: given.network_timeout,
            network_output: given.network_output,
            model_server: given.model_server,
            remote_model: given.remote_model,
            mask_threshold: if given.mask_threshold == '' then null else fraction('mask_threshold'),
            noise_filters: more.noise_filters,
            max_bad_share: given.max_bad_share,
            dead_is_hit: given.dead_is_hit,
        },
        context: {
            type: 'SPNGContext',
            data: {
                device: given.device,
                precision: given.precision,
                cuda_graph: given.cuda_graph,
                dtype: given.dtype,
                threads: given.threads,
                verbosity: given.verbosity,
                memory_budget: std.toString(given.memory_budget),
            },
        },
        dumped(known):: checked('edge to dump', given.dump, known),
    };
    // Read all options now, so that an error names the job's file, not the node that needs the value.
    local read = given { input: null, output: null, detname: null };
    if std.toString([read, batch_anodes, more]) == '' then null
    else given + more { det: det, anodes: job_anodes.chosen(det, given.tpcid) }
