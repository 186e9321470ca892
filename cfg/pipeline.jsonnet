// SPDX-License-Identifier: Apache-2.0
// The main job: raw ADC waveforms of one or several anodes in, charge waveforms with regions of interest (ROIs) out.
//
//     wire-cell -c cfg/pipeline.jsonnet -A input=adc.npz -A output=signal.npz
//
// The chain comes first, then the arguments. cfg/lib/spng.jsonnet makes the nodes; cfg/lib/spng_job.jsonnet makes the rest of the job.
local detectors = import 'detectors/all.jsonnet';
local make_job = import 'spng_job.jsonnet';

/// Make the chain of one group of views. Return its edges by name: the argument dump writes any of them, and tags those that have
/// the name of a tag.
/// waveforms: of the group; batch: the groups of its batch of anodes; batch_regions: the ROIs from thresholds of each of these
local chain(spng, group, waveforms, batch, batch_regions) =
    local is_induction = group.kind == 'induction', has_network = is_induction && group.model != 'none';
    local adc = spng.resampled(group, spng.noise_filtered(group, waveforms));
    local decon = spng.Decon(group, adc);
    local gauss = spng.Apply1DSpectrum('gauss', group, decon);
    // Images at the sampling of the ROIs, each with the noise of its channels; SPNGLongPulses makes a second loose image.
    local image = { [name]: spng.Apply1DSpectrum(name, group, decon, spng.rebin) for name in spng.images(group) };
    local with_noise(name) = spng.ChannelRMS(name, group, image[name]);
    local long(name) = if name == 'loose' && spng.has_long_pulses(group) then spng.LongPulses(group, image[name]) else with_noise(name);
    local images = spng.FaninTensorSets('images', group, [long(name) for name in spng.images(group)]);
    local regions = spng.ThresholdROIs(group, images);
    local coincidence = spng.NoTileMPCoincidence(group, batch, batch_regions, group.dead_is_hit);
    // The images of the network have the noise of single wires, not that of the sums of SPNGLongPulses.
    local network_images = spng.FaninTensorSets('network-images', group, [with_noise(name) for name in spng.network_images]);
    local roi =
        if has_network then spng.DNNROI(group, network_images, coincidence)
        else if is_induction then spng.CoincidenceROIs(group, images, coincidence)
        else regions;
    local wiener = spng.Apply1DSpectrum('wiener', group, decon);
    local noise_decon = if spng.has_noise_decon(group) then spng.Decon(group, adc, 'noise') else decon;
    local noise = spng.NoiseSummary(group, spng.Apply1DSpectrum('noise', group, noise_decon));
    image {
        adc: adc,
        decon: decon,
        gauss: gauss,
        images: images,
        regions: regions,
        signal: spng.ApplyROI('signal', group, gauss, roi),
        'error': spng.ChargeError(group, gauss, roi),
        decon_charge: spng.RemoveBaseline(group, gauss),
        wiener: spng.ApplyROI('wiener', group, wiener, roi, 'wiener', noise),
    } + if is_induction then { coincidence: coincidence, roi: roi } else {};

/// input      frame file with ADC waveforms (.npz, .tar, .tar.gz, .tar.bz2); adc-%d.npz: a file for each anode; or a list of files
/// output     frame file to write; signal-%d.npz: a file for each anode
/// frames     form of the samples in the output: dense, all of them; or sparse, only those that are not 0 (docs/sparse-frames.md)
/// intag      tag of the waveforms; empty: the only one in the file
/// detname    detector, a name in detectors/all.jsonnet, or (--tla-code) a description of the same form
/// tpcid      index of the anode; several with commas, or all
/// batch_anodes  true: anodes with equal responses and networks share tensors; auto: true on CUDA if memory allows
/// other_anodes  reject or ignore channels of anodes that are not in tpcid
/// check_input  true: warn if noise, polarity or pulse shape of the first events do not fit the detector (wire-cell --strict: fail)
/// max_bad_share  warn if a larger share of an anode's channels is absent, NaN, out of range, dead, masked or saturated, or if the
///            step channels of noise_filter masks a larger share of a view
/// device     auto, cpu, cuda, cuda:N; several with commas, or cuda:all: events are spread over them
/// engine     Pgrapher (serial) or TbbFlow (parallel)
/// events_in_flight  events processed at the same time; Pgrapher takes at most two on a device, and one on the CPU
/// overlap_files  true: read the next event and write the previous one while an event is processed
/// threads    threads inside one operation; 0: cores / threads of the graph
/// model      default: the network trained for the detector and its default filters if there is one, else none; none: ROIs
///            from thresholds and coincidence; standin: an untrained network for tests; or a model file
/// nevents    stop after this many events; -1: all
/// window     ticks of the frames in the core of a readout window of a long readout (changes the result); 0: the value of the detector; -1: never divide a readout
/// series     true: join frames that follow each other in time into one readout
/// verbosity  log lines: 0 as set by -l and -L, 1 info, 2 debug, 3 trace
/// precision  exact; or fast: the network in bfloat16 if the machine has instructions for it, TF32 on CUDA
/// cuda_graph  auto: capture the CUDA work of an event once for each shape and launch it as one graph, if memory allows; on: the same,
///            with a warning if it is impossible; off: launch each node's work, so that --timing shows the nodes
/// network_layout  memory layout of the network: auto (on CUDA the faster one, measured at the start), contiguous or channels_last
/// network_timeout  maximum time of loading the network, and of one forward, in seconds; a network that takes longer ends the job; 0: no limit
/// network_output  values of the network that are NaN, infinite or outside of 0 to 1: error, which ends the event; or warning,
///            which is noted in the output
/// model_server  address of a server on which the network runs, see docs/server.md#the-network-on-a-server: unix:PATH or HOST:PORT,
///            for gRPC with grpc:// before it; empty: the network runs in this process
/// remote_model  name of the network on the server; empty: that of the model file without ending
/// dtype      float32 or float64
/// mask_threshold  a sample is in an ROI if the output of the network is above this, 0 to 1; empty: that of the model
/// seed_threshold  ROIs begin at samples above this [noise RMS of the channel] on planes whose ROIs come from thresholds; or two
///            numbers, for induction and collection planes; empty: that of the filter set
/// grow_threshold  these ROIs grow along ticks while samples are above this [noise RMS of the channel]; in the same form
/// tags       products to write: signal, error (of the charge, docs/physics-notes.md#charge-error), decon_charge (before ROIs),
///            wiener (with the noise as summary), loose, mp2, mp3, roi
/// dump       edges to write to files beside the output: adc, decon, gauss, loose and tight (input of the network, with coincidence), images,
///            regions, coincidence, roi, signal
/// batch      false: one node for each view instead of one for views of equal shape
/// results_on_device  true: results of a CUDA device stay in its memory, for programs that take them from there; not for output files
/// dead_is_hit  true: dead channels count as hit in the coincidence of the other views
/// noise_filter  steps on the raw waveforms, with commas, in the fixed order of the chain: sticky, which interpolates samples whose
///            low bits stick; response, which corrects channels with other electronics; chirping, which masks the ticks in which
///            preamplifiers chirp; tails, which removes the tails of the RC coupling; lines, which subtracts harmonics of power
///            supplies and clocks; negative, which masks negative pulses of whole front-end boards; coherent, which subtracts the noise that the channels of a front-end board share; channels,
///            which finds dead and noisy channels and masks them; default: those of the detector; or none
/// bad_channels  JSON file with the list "bad" of the Wire-Cell Toolkit's channel noise database: channels that are treated as masked
///            in every event; channel_info there may set min_rms_cut and max_rms_cut of the step channels, and reconfig, the
///            electronics of channels, for the step response; empty: none
/// filters    named set of filters and thresholds of the detector; empty: its default
/// memory_budget  limit of tensor memory on each device: 4GB, 800MB; empty: 9/10 of the free memory on CUDA and within ulimit -v,
///            otherwise none
/// share      none; auto: wait until other jobs leave enough memory; or a folder for the reservations
/// share_timeout  maximum time to wait for other jobs, in seconds; 0: no limit
function(
    input='data/tracks10-adc.tar.bz2',
    output='spng.npz',
    frames='dense',
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
    cuda_graph='auto',
    network_layout='auto',
    network_timeout=900,
    network_output='error',
    model_server='',
    remote_model='',
    dtype='float32',
    mask_threshold='',
    seed_threshold='',
    grow_threshold='',
    tags='signal',
    dump='',
    batch=true,
    results_on_device=false,
    dead_is_hit=false,
    noise_filter='default',
    bad_channels='',
    filters='',
    memory_budget='',
    share='none',
    share_timeout=0,
)
    make_job(chain, detectors, {
        input: input,
        output: output,
        frames: frames,
        intag: intag,
        detname: detname,
        tpcid: tpcid,
        batch_anodes: batch_anodes,
        other_anodes: other_anodes,
        check_input: check_input,
        max_bad_share: max_bad_share,
        device: device,
        engine: engine,
        events_in_flight: events_in_flight,
        overlap_files: overlap_files,
        threads: threads,
        model: model,
        nevents: nevents,
        window: window,
        series: series,
        verbosity: verbosity,
        precision: precision,
        cuda_graph: cuda_graph,
        network_layout: network_layout,
        network_timeout: network_timeout,
        network_output: network_output,
        model_server: model_server,
        remote_model: remote_model,
        dtype: dtype,
        mask_threshold: mask_threshold,
        seed_threshold: seed_threshold,
        grow_threshold: grow_threshold,
        tags: tags,
        dump: dump,
        batch: batch,
        results_on_device: results_on_device,
        dead_is_hit: dead_is_hit,
        noise_filter: noise_filter,
        bad_channels: bad_channels,
        filters: filters,
        memory_budget: memory_budget,
        share: share,
        share_timeout: share_timeout,
    })
