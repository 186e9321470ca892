// SPDX-License-Identifier: Apache-2.0
// The main job: raw ADC waveforms of one or several anodes in, charge waveforms with regions of interest (ROIs) out.
//
//     wire-cell -c cfg/pipeline.jsonnet -A input=adc.npz -A output=signal.npz
//
// The chain comes first, then the arguments. cfg/lib/spng.jsonnet makes the nodes; cfg/lib/spng_job.jsonnet makes the rest of the job.
local args = import 'arguments.jsonnet';
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

// The arguments, each with its text in Markdown for `wire-cell --describe cfg/pipeline.jsonnet`, which makes the table of
// docs/user-guide.md. `input` and `output` may also be parts of a graph, which make frames and take the frame of all anodes.
function(
    // frame file with ADC waveforms; with `%d`: one file for each anode
    input='data/tracks10-adc.tar.bz2',
    // frame file to write; its ending chooses the format; with `%d`: one file for each anode
    output='spng.npz',
    // form of the samples in the output: `dense`, all of them; or `sparse`, only those that are not 0: [sparse
    // frames](sparse-frames.md)
    frames='dense',
    // tag of the waveforms; empty: the only one in the file
    intag='',
    // detector, a name in `cfg/detectors/all.jsonnet`
    detname='pdhd',
    // index of the anode; several with commas, or `all`: [several anodes](#several-anodes)
    tpcid=0,
    // `true`: anodes with equal responses and networks share tensors; `false`: each anode has its own nodes; `auto`: `true` on
    // CUDA if memory allows, else `false`
    batch_anodes='auto',
    // channels of anodes that are not in `tpcid`: `reject` is an error, `ignore` leaves them out
    other_anodes='reject',
    // compare noise, polarity and pulse shape of the first events with the detector's files: [doubtful input](#doubtful-input)
    check_input=true,
    // share of an anode's channels that may be absent, NaN, out of range, dead, masked or saturated, and of a view's channels that
    // `noise_filter=channels` may mask, without a warning
    max_bad_share=0.05,
    // `auto`, `cpu`, `cuda`, `cuda:N`; `gpu` and `gpuN` mean `cuda` and `cuda:N`. `auto` is CUDA if the driver finds a device,
    // else the CPU. Several with commas, or `cuda:all`: [events are spread over them](#several-devices)
    device='auto',
    // `Pgrapher` (serial) or `TbbFlow` (parallel)
    engine='Pgrapher',
    // events processed at the same time, each in its own memory; Pgrapher takes at most two on a device, and one on the CPU
    events_in_flight=2,
    // read the next event and write the previous one while an event is processed
    overlap_files=true,
    // threads inside one operation; 0: cores / threads of the graph
    threads=0,
    // `default`: the [network](dnnroi.md) trained for the anode and its default filters if there is one, else `none`; `none`: ROIs
    // from thresholds and coincidence; `standin`: an untrained network for tests; or a model file
    model='default',
    // stop after this many events; -1: all. Each readout window of a [long readout](#long-readouts) is an event
    nevents=-1,
    // ticks of the input in the core of a readout window of a [long readout](#long-readouts); 0: the value of the detector, -1:
    // never divide a readout
    window=0,
    // `true`: frames that follow each other in time form one readout
    series=false,
    // log level: 0 as given with `-l` and `-L`, 1 info, 2 debug, 3 trace
    verbosity=0,
    // `exact`: float32, the same bytes each time; `fast`: the network in bfloat16 on CUDA and on processors with instructions for
    // it (AVX512_BF16, AMX), on CUDA also TF32; ROIs agree to 99.5 %, charge to 0.1 %
    precision='exact',
    // `auto`: capture the work of an event on a CUDA device as a CUDA graph, once for each shape, and launch it as a whole, if the
    // memory budget allows it; the log gives the reason if not (`-L info`). `on`: the same with warnings, and a graph goes before
    // a second event in flight. `off`: launch the work of each node, for [times of nodes](#the-timing-table)
    // ([how](decisions/streams.md#one-launch-for-an-event))
    cuda_graph='auto',
    // memory layout of a TorchScript network: `contiguous`, `channels_last`, or `auto`: as saved on the CPU, on CUDA
    // `channels_last` if a measurement at the start finds it a tenth faster (results differ by rounding; log at `-L info`, and the
    // entry `layout` in the [notes](#which-files-ran) of the output)
    network_layout='auto',
    // maximum time of loading the network, and of one forward, in seconds; a network that takes longer ends `wire-cell` with
    // status 1; 0: no limit
    network_timeout=900,
    // values of the network that are NaN, infinite or outside of 0 to 1: `error`, which ends the event; or `warning`, logged once
    // and in the note `network_output` of each such event
    network_output='error',
    // address of a [server](server.md#the-network-on-a-server) on which the network runs: `unix:PATH`, `HOST:PORT`, for gRPC
    // `grpc://` before it; empty: in this process
    model_server='',
    // name of the network on that server; empty: that of the model file without ending
    remote_model='',
    // `float32`, or `float64` for reference runs
    dtype='float32',
    // a sample is in an ROI if the output of the network is above this, 0 to 1; empty: that of the model, or 0.5
    mask_threshold='',
    // ROIs begin at samples above this, in units of the channel's noise: [thresholds](#thresholds); empty: that of the filter set
    seed_threshold='',
    // ROIs grow along ticks while samples are above this, in the same units; empty: that of the filter set
    grow_threshold='',
    // products to write, comma-separated: `signal`, `error`, `decon_charge`, `wiener`, `loose`, `mp2`, `mp3`, `roi`
    tags='signal',
    // edges to write, comma-separated, by their names in the chain of `cfg/pipeline.jsonnet`: `adc`, `decon`, `gauss`, `loose`,
    // `tight`, `images`, `regions`, `coincidence`, `roi`, `signal`, `error`, `decon_charge`, `wiener`
    dump='',
    // `false`: one node for each view instead of one for views of equal shape
    batch=true,
    // `true`: results of a CUDA device stay in its memory, for [programs](embedding.md) that take them from there; not for output
    // files
    results_on_device=false,
    // `true`: dead channels count as hit in the coincidence of the other views
    dead_is_hit=false,
    // [steps on the raw waveforms](#steps-on-raw-waveforms), with commas; `default`: those of the detector, which are none for
    // simulated data; or `none`
    noise_filter='default',
    // JSON file with a list of [bad channels](#bad-channels); empty: none
    bad_channels='',
    // named filter set of the detector; empty: its default
    filters='',
    // tensor memory that the job may take on each device: `4GB`, `800MB`, `1.5GiB`. Empty: on CUDA, and on the CPU in a limited
    // address space (`ulimit -v`), 9/10 of the memory that is free at the start; otherwise no limit ([memory](#memory))
    memory_budget='',
)
    make_job(chain, args.read({
        any: {
            input: input,
            output: output,
            frames: frames,
            intag: intag,
            detname: detname,
            tpcid: tpcid,
            batch_anodes: batch_anodes,
            other_anodes: other_anodes,
            device: device,
            engine: engine,
            model: model,
            window: window,
            precision: precision,
            cuda_graph: cuda_graph,
            network_layout: network_layout,
            network_output: network_output,
            model_server: model_server,
            remote_model: remote_model,
            dtype: dtype,
            mask_threshold: mask_threshold,
            seed_threshold: seed_threshold,
            grow_threshold: grow_threshold,
            bad_channels: bad_channels,
            filters: filters,
            memory_budget: memory_budget,
        },
        list: { tags: tags, dump: dump, noise_filter: noise_filter },
        whole: {
            events_in_flight: events_in_flight,
            threads: threads,
            nevents: nevents,
            verbosity: verbosity,
            network_timeout: network_timeout,
        },
        real: { max_bad_share: max_bad_share },
        boolean: {
            check_input: check_input,
            overlap_files: overlap_files,
            series: series,
            batch: batch,
            results_on_device: results_on_device,
            dead_is_hit: dead_is_hit,
        },
    }))
