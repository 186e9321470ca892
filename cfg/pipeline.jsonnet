// The main job: raw ADC waveforms of an anode, or of several, in, charge waveforms with regions of interest out.
//
//     wire-cell -c cfg/pipeline.jsonnet -A input=adc.npz -A output=signal.npz
//
// Arguments given with -A are text; numbers and lists are read from it.
local args = import 'arguments.jsonnet';
local detectors = import 'detectors/all.jsonnet';
local job_anodes = import 'anodes.jsonnet';
local pg = import 'pgraph.jsonnet';
local make_spng = import 'spng.jsonnet';

/// input      frame file with ADC waveforms (.npz, .tar, .tar.gz, .tar.bz2); adc-%d.npz: a file for each anode; or a list of files
/// output     frame file to write; signal-%d.npz: a file for each anode
/// intag      tag of the waveforms; empty: the only one in the file
/// detname    detector, a name in detectors/all.jsonnet, or (--tla-code) a description as those there
/// tpcid      number of the anode; several with commas, or all
/// batch_anodes  true: anodes with equal responses and networks share tensors; auto: where the device is CUDA
/// other_anodes  reject, or ignore: channels of anodes that are not in tpcid
/// check_input  true: warn if noise, polarity or pulse shape of the first events do not fit the detector (wire-cell --strict: fail)
/// max_bad_share  share of an anode's channels that may be absent, NaN, out of range, dead, masked or saturated without a warning
/// device     auto, cpu, cuda, cuda:N; several with commas, or cuda:all: events are spread over them
/// engine     Pgrapher (serial) or TbbFlow (parallel)
/// events_in_flight  events worked on at the same time; Pgrapher takes at most two on a device, and one on the CPU
/// overlap_files  true: the next event is read and the last one written while one is worked on
/// threads    threads inside one operation; 0: cores / threads of the graph
/// model      default: the network trained for the detector and its default filters, where there is one, else none; none: regions
///            from thresholds and coincidence; standin: an untrained network for tests; or a model file
/// nevents    stop after so many events; -1: all
/// window     ticks that a window of a long readout answers for, on which the result depends; 0: the detector's; -1: never cut
/// series     true: frames that follow each other in time are one readout
/// verbosity  log level: 0 as given with -l and -L, 1 info, 2 debug, 3 trace
/// precision  exact; or fast: the network in bfloat16 where the machine has instructions for it, TF32 on CUDA
/// cuda_graph  off; on, auto: capture the work of an event on CUDA once for each shape, and launch it as one
/// dtype      float32 or float64
/// tags       what to write, of: signal, gauss, wiener (with the noise as summary), loose, mp2, mp3, roi
/// dump       edges to write to files beside the output, of: adc, decon, gauss, loose (with coincidence, what a network gets), images,
///            regions, coincidence, roi, signal
/// batch      false: one node for each view instead of one for views of equal shape
/// dead_is_hit  true: dead channels count as hit when the other views ask for coincidence
/// noise_filter  none, or coherent: subtract the noise that channels of one front-end board share, before everything else
/// filters    named set of filters and thresholds of the detector; empty: its default
/// memory_budget  tensor memory that the job may take on each device: 4GB, 800MB; empty: no limit on the CPU, 9/10 of the free on CUDA
/// share      none; auto: take turns with other jobs so that memory suffices for all; or the folder for it
/// share_timeout  seconds to wait for other jobs at most; 0: no limit
function(
    input='data/tracks10-adc.tar.bz2',
    output='spng.npz',
    intag='',
    detname='pdhd',
    tpcid=0,
    batch_anodes='auto',
    other_anodes='reject',
    check_input=true,
    max_bad_share=0.05,
    device='auto',
    engine='Pgrapher',
    events_in_flight=2,
    overlap_files=true,
    threads=0,
    model='default',
    nevents=-1,
    window=0,
    series=false,
    verbosity=0,
    precision='exact',
    cuda_graph='off',
    dtype='float32',
    tags='signal',
    dump='',
    batch=true,
    dead_is_hit=false,
    noise_filter='none',
    filters='',
    memory_budget='',
    share='none',
    share_timeout=0,
)
    local det =
        if std.isObject(detname) then detname
        else if std.objectHas(detectors, detname) then detectors[detname]
        else error "unknown detector '" + detname + "'; known: " + std.join(', ', std.objectFields(detectors));
    local known_tags = ['signal', 'gauss', 'wiener', 'loose', 'mp2', 'mp3', 'roi'];
    local known_edges = ['adc', 'decon', 'gauss', 'loose', 'images', 'regions', 'coincidence', 'roi', 'signal'];
    local checked(what, words, known) =
        local unknown = [word for word in words if !std.member(known, word)];
        if unknown == [] then words
        else error 'unknown ' + what + ' ' + std.join(', ', unknown) + '; known: ' + std.join(', ', known);
    local out_tags = checked('tag', args.list(tags), known_tags);
    local dumped = checked('edge to dump', args.list(dump), known_edges);
    local filter_noise = checked('noise filter', [noise_filter], ['none', 'coherent']) == ['coherent'];
    local wants(tag) = std.member(out_tags, tag);

    local anodes = job_anodes.chosen(det, tpcid);
    local spng = make_spng(det, anodes, filters);
    local views_of(groups) =
        if args.boolean('batch', batch) then groups
        else [group { name: view.name, views: [view] } for group in groups for view in group.views];
    local groups_of(anode) = views_of(det.groups(anode));
    local join_anodes =
        if batch_anodes != 'auto' then args.boolean('batch_anodes', batch_anodes)
        else std.startsWith(device, 'cuda') || std.startsWith(device, 'gpu');
    // Coincidence is found among the groups of one batch.
    local batches = spng.batches(groups_of, model, join_anodes);
    local groups = std.flattenArrays(batches);
    local group_names = [group.name for group in groups];
    local is_induction(group) = group.kind == 'induction';

    // Files for each anode have its number in the place of %d.
    local of_each_anode(name) = [std.strReplace(name, '%d', std.toString(anode)) for anode in anodes];
    local has_place(name) = std.findSubstr('%d', name) != [];
    local is_split = has_place(output);

    // Taps stand behind the part whose output they write.
    local stem = std.foldl(function(name, ending) if std.endsWith(name, ending) then name[:std.length(name) - std.length(ending)] else name,
                           ['.npz', '.tar', '.tar.gz', '.tar.bz2'], output);
    local tap(edge, group) =
        local name = if is_split then group.plain_name else group.name;
        spng.TensorTap(edge + '-' + group.name,
                       std.strReplace(stem, '%d', job_anodes.numbers(group.anodes)) + '-' + edge + '-' + name + '.npz');
    local behind(edge, group, part) =
        if std.member(dumped, edge) then pg.pipeline([part, tap(edge, group)], part.name) else part;

    // Other jobs give the part that makes the frames, and those are not cut.
    local overlap = args.boolean('overlap_files', overlap_files);
    local windows = spng.window(window);
    local is_cut = !std.isObject(input) && windows.core > 0;
    local region_tags = [tag for tag in out_tags if std.member(['signal', 'wiener', 'roi'], tag)];
    local files = if std.isArray(input) then input else if has_place(input) then of_each_anode(input) else [input];
    local read = spng.FrameFileSource(files,
                                      ahead=overlap,
                                      nevents=args.whole('nevents', nevents),
                                      window=windows,
                                      series=args.boolean('series', series));
    local source = if std.isObject(input) then input else read;
    local others = checked('choice for other_anodes', [other_anodes], ['reject', 'ignore'])[0];
    local unpack = spng.FrameToTorchSetFanout(groups,
                                              intag,
                                              others,
                                              check=args.boolean('check_input', check_input),
                                              max_bad_share=args.number('max_bad_share', max_bad_share));
    local indices(items) = std.range(0, std.length(items) - 1);

    // The parts of a group. Each is a local, since Jsonnet computes a local once but a field at each access.
    local make_parts(group, batch) =
        local names = spng.images(group);
        local filter(name) = spng.Apply1DSpectrum(name, group, spng.rebin);
        local filters = [if name == 'loose' then behind('loose', group, filter(name)) else filter(name) for name in names];
        // Each image with the noise of its channels; the loose one may become two.
        local noise = [
            if name == 'loose' && spng.has_long_pulses(group) then spng.LongPulses(group)
            else spng.ChannelRMS(name, group)
            for name in names
        ];
        // The network measures its input against the noise of each wire by itself, not of the sums of SPNGLongPulses.
        local loose_noise =
            if spng.has_long_pulses(group) then spng.ChannelRMS('loose', group)
            else noise[std.find('loose', names)[0]];
        local decon = behind('decon', group, spng.Decon(group));
        local quiet = spng.CoherentNoiseFilter(group, groups);
        local gauss = behind('gauss', group, spng.Apply1DSpectrum('gauss', group));
        local images = behind('images', group, pg.fan.fanin_node(std.length(names), 'images-' + group.name));
        local regions = behind('regions', group, spng.ThresholdROIs(group));
        local coincidence =
            behind('coincidence', group, spng.NoTileMPCoincidence(group, batch, groups, args.boolean('dead_is_hit', dead_is_hit)));
        local roi =
            if !is_induction(group) then regions
            else behind('roi', group, if group.model == 'none' then spng.CoincidenceROIs(group) else spng.DNNROI(group));
        local apply = behind('signal', group, spng.ApplyROI('signal', group));
        local wiener = spng.Apply1DSpectrum('wiener', group);
        local noise_decon = if spng.has_noise_decon(group) then spng.Decon(group, 'noise') else decon;
        local noise_image = spng.Apply1DSpectrum('noise', group);
        local noise_summary = spng.NoiseSummary(group);
        local apply_wiener = spng.ApplyROI('wiener', group, output='wiener', summary=true);
        {
            decon: decon,
            quiet: quiet,
            gauss: gauss,
            filters: filters,
            loose: filters[std.find('loose', names)[0]],
            loose_noise: loose_noise,
            noise: noise,
            images: images,
            regions: regions,
            coincidence: coincidence,
            roi: roi,
            apply: apply,
            wiener: wiener,
            noise_decon: noise_decon,
            noise_image: noise_image,
            noise_summary: noise_summary,
            apply_wiener: apply_wiener,
        };
    local all_parts = [make_parts(group, batch) for batch in batches for group in batch];
    local port_of(group) = std.find(group.name, group_names)[0];
    local parts(group) = all_parts[port_of(group)];

    local link(tail, head, hp=0, tp=0) = { tail: tail, head: head, tp: tp, hp: hp };
    local chain(batch, number) =
        local group = batch[number], own = parts(group);
        // What stands between the input and the deconvolution.
        local between = (if filter_noise then [own.quiet] else [])
                        + (if std.member(dumped, 'adc') then [tap('adc', group)] else []);
        local decons = [own.decon] + (if wants('wiener') && spng.has_noise_decon(group) then [own.noise_decon] else []);
        local count = std.length(between);
        local feed(part, i) = if i == 0 then link(unpack, part, tp=port_of(group)) else link(between[i - 1], part);
        [feed(between[i], i) for i in std.range(0, count - 1)]
        + [feed(decon, count) for decon in decons]
        + [link(own.decon, own.gauss)]
        + [link(own.decon, filter) for filter in own.filters]
        + [link(own.filters[i], own.noise[i]) for i in indices(own.filters)]
        + [link(own.noise[i], own.images, i) for i in indices(own.noise)]
        + [link(own.images, own.regions)]
        + [link(own.regions, parts(target).coincidence, number) for target in batch if is_induction(target)]
        + (if is_induction(group) then [
               link(if group.model == 'none' then own.images else own.loose_noise, own.roi, 0),
               link(own.coincidence, own.roi, 1),
           ] else [])
        + (if is_induction(group) && group.model != 'none' && spng.has_long_pulses(group) then [link(own.loose, own.loose_noise)] else [])
        + [link(own.gauss, own.apply, 0), link(own.roi, own.apply, 1)]
        + (if wants('wiener') then [
               link(own.decon, own.wiener),
               link(own.wiener, own.apply_wiener, 0),
               link(own.roi, own.apply_wiener, 1),
               link(own.noise_decon, own.noise_image),
               link(own.noise_image, own.noise_summary),
               link(own.noise_summary, own.apply_wiener, 2),
           ] else []);

    // What the output frame is made of.
    local results(group) =
        local own = parts(group);
        (if wants('signal') then [own.apply] else [])
        + (if wants('gauss') then [own.gauss] else [])
        + (if wants('wiener') then [own.apply_wiener] else [])
        + (if wants('loose') && is_induction(group) then [own.loose] else [])
        + (if (wants('mp2') || wants('mp3')) && is_induction(group) then [own.coincidence] else [])
        + (if wants('roi') then [own.roi] else []);
    local all_results = std.flattenArrays([results(group) for group in groups]);
    local split_frames = is_split && std.length(anodes) > 1;
    local pack = spng.TorchTensorSetToFrameFanin(groups, std.length(all_results), out_tags, split_frames,
                                                 if is_cut && region_tags != [] && !wants('roi') then ['roi'] else []);
    local sinks =
        if !split_frames then [spng.FrameFileSink(of_each_anode(output)[0], behind=overlap)]
        else local names = of_each_anode(output); [spng.FrameFileSink(names[i], 'anode' + anodes[i], overlap) for i in indices(anodes)];
    local ends =
        if !is_cut then sinks
        else
            local label(i) = if split_frames then 'anode' + anodes[i] else '';
            [pg.pipeline([spng.StitchWindows(out_tags, region_tags, label(i)), sinks[i]], sinks[i].name) for i in indices(sinks)];

    local graph = pg.linked(
        [link(source, unpack)]
        + std.flattenArrays([chain(batch, i) for batch in batches for i in indices(batch)])
        + (if wants('signal') then [] else [link(parts(group).apply, spng.Discard(group.name)) for group in groups])
        + [link(all_results[i], pack, i) for i in indices(all_results)]
        + [link(pack, ends[i], tp=i) for i in indices(ends)]
    );
    local context = {
        type: 'SPNGContext',
        data: {
            device: device,
            precision: precision,
            cuda_graph: cuda_graph,
            dtype: dtype,
            threads: args.whole('threads', threads),
            verbosity: args.whole('verbosity', verbosity),
            memory_budget: std.toString(memory_budget),
            share: share,
            share_timeout: args.whole('share_timeout', share_timeout),
        },
    };
    pg.main(graph, engine, uses=[context], app_data={ events_in_flight: args.whole('events_in_flight', events_in_flight) })
