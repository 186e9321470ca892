// The main job: raw ADC waveforms of one anode in, charge waveforms with regions of interest out.
//
//     wire-cell -c cfg/pipeline.jsonnet -A input=adc.npz -A output=signal.npz
//
// Arguments given with -A are text; numbers and lists are read from it.
local args = import 'arguments.jsonnet';
local detectors = import 'detectors/all.jsonnet';
local pg = import 'pgraph.jsonnet';
local make_spng = import 'spng.jsonnet';

/// input      frame file with ADC waveforms (.npz, .tar, .tar.gz, .tar.bz2)
/// output     frame file to write
/// intag      tag of the waveforms; empty: the only one in the file
/// detname    detector, a name in detectors/all.jsonnet
/// tpcid      number of the anode
/// device     auto, cpu, cuda, cuda:N; several with commas, or cuda:all: events are spread over them
/// engine     Pgrapher (serial) or TbbFlow (parallel)
/// threads    threads inside one operation; 0: cores / threads of the graph
/// model      default: the network trained for the detector and its default filters, where there is one, else none; none: regions
///            from thresholds and coincidence; standin: an untrained network for tests; or a model file
/// nevents    stop after so many events; -1: all
/// verbosity  log lines: 0 what -l and -L ask for, 1 info, 2 debug, 3 trace
/// precision  exact or fast (TF32 on CUDA)
/// dtype      float32 or float64
/// tags       what to write, of: signal, gauss, wiener (with its RMS as summary), loose, mp2, mp3, roi
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
    device='auto',
    engine='Pgrapher',
    threads=0,
    model='default',
    nevents=-1,
    verbosity=0,
    precision='exact',
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
        if std.objectHas(detectors, detname) then detectors[detname]
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

    local spng = make_spng(det, args.whole('tpcid', tpcid), filters);
    local model_file = spng.model_file(model);
    local groups =
        if args.boolean('batch', batch) then det.groups
        else [group { name: view.name, views: [view] } for group in det.groups for view in group.views];
    local induction = [group for group in groups if group.kind == 'induction'];
    local is_induction(group) = group.kind == 'induction';

    // Taps stand behind the part whose output they write.
    local stem = std.foldl(function(name, ending) if std.endsWith(name, ending) then name[:std.length(name) - std.length(ending)] else name,
                           ['.npz', '.tar', '.tar.gz', '.tar.bz2'], output);
    local tap(edge, group) = spng.TensorTap(edge + '-' + group.name, stem + '-' + edge + '-' + group.name + '.npz');
    local behind(edge, group, part) =
        if std.member(dumped, edge) then pg.pipeline([part, tap(edge, group)], part.name) else part;

    // Other jobs give the part that makes the frames.
    local source = if std.isObject(input) then input else spng.FrameFileSource(input, nevents=args.whole('nevents', nevents));
    local unpack = spng.FrameToTorchSetFanout(groups, intag);
    local indices(items) = std.range(0, std.length(items) - 1);

    // The parts of each group, by its name.
    local parts = {
        [group.name]: {
            local image_names = spng.images(group),
            decon: behind('decon', group, spng.Decon(group)),
            quiet: spng.CoherentNoiseFilter(group, groups),
            gauss: behind('gauss', group, spng.Apply1DSpectrum('gauss', group)),
            local filter(name) = spng.Apply1DSpectrum(name, group, spng.rebin),
            filters: { [name]: if name == 'loose' then behind('loose', group, filter(name)) else filter(name) for name in image_names },
            // Each image with the noise of its channels; the loose one may become two.
            noise: {
                [name]:
                    if name == 'loose' && spng.has_long_pulses(group) then spng.LongPulses(group)
                    else spng.ChannelRMS(name, group)
                for name in image_names
            },
            images: behind('images', group, pg.fan.fanin_node(std.length(image_names), 'images-' + group.name)),
            regions: behind('regions', group, spng.ThresholdROIs(group)),
            coincidence: behind('coincidence', group, spng.NoTileMPCoincidence(group, groups, args.boolean('dead_is_hit', dead_is_hit))),
            roi:
                if !is_induction(group) then self.regions
                else behind('roi', group, if model_file == 'none' then spng.CoincidenceROIs(group) else spng.DNNROI(group, model_file)),
            apply: behind('signal', group, spng.ApplyROI('signal', group)),
            wiener: spng.Apply1DSpectrum('wiener', group),
            apply_wiener: spng.ApplyROI('wiener', group, output='wiener', summary=true),
        }
        for group in groups
    };

    local link(tail, head, hp=0, tp=0) = { tail: tail, head: head, tp: tp, hp: hp };
    local chain(number) =
        local group = groups[number], own = parts[group.name], names = spng.images(group);
        // What stands between the input and the deconvolution.
        local between = (if filter_noise then [own.quiet] else [])
                        + (if std.member(dumped, 'adc') then [tap('adc', group)] else []) + [own.decon];
        [link(unpack, between[0], tp=number)]
        + [link(between[i], between[i + 1]) for i in std.range(0, std.length(between) - 2)]
        + [link(own.decon, own.gauss)]
        + [link(own.decon, own.filters[name]) for name in names]
        + [link(own.filters[name], own.noise[name]) for name in names]
        + [link(own.noise[names[i]], own.images, i) for i in indices(names)]
        + [link(own.images, own.regions)]
        + [link(own.regions, parts[target.name].coincidence, number) for target in induction]
        + (if is_induction(group) then [
               link(if model_file == 'none' then own.images else own.filters.loose, own.roi, 0),
               link(own.coincidence, own.roi, 1),
           ] else [])
        + [link(own.gauss, own.apply, 0), link(own.roi, own.apply, 1)]
        + (if wants('wiener') then [
               link(own.decon, own.wiener),
               link(own.wiener, own.apply_wiener, 0),
               link(own.roi, own.apply_wiener, 1),
           ] else []);

    // What the output frame is made of.
    local results(group) =
        local own = parts[group.name];
        (if wants('signal') then [own.apply] else [])
        + (if wants('gauss') then [own.gauss] else [])
        + (if wants('wiener') then [own.apply_wiener] else [])
        + (if wants('loose') && is_induction(group) then [own.filters.loose] else [])
        + (if (wants('mp2') || wants('mp3')) && is_induction(group) then [own.coincidence] else [])
        + (if wants('roi') then [own.roi] else []);
    local all_results = std.flattenArrays([results(group) for group in groups]);
    local pack = spng.TorchTensorSetToFrameFanin(groups, std.length(all_results), out_tags);

    local graph = pg.linked(
        [link(source, unpack)]
        + std.flattenArrays([chain(i) for i in indices(groups)])
        + (if wants('signal') then [] else [link(parts[group.name].apply, spng.Discard(group.name)) for group in groups])
        + [link(all_results[i], pack, i) for i in indices(all_results)]
        + [link(pack, spng.FrameFileSink(output))]
    );
    local context = {
        type: 'SPNGContext',
        data: {
            device: device,
            precision: precision,
            dtype: dtype,
            threads: args.whole('threads', threads),
            verbosity: args.whole('verbosity', verbosity),
            memory_budget: std.toString(memory_budget),
            share: share,
            share_timeout: args.whole('share_timeout', share_timeout),
        },
    };
    pg.main(graph, engine, uses=[context])
