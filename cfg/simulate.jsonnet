// SPDX-License-Identifier: Apache-2.0
// The simulation: tracks or depositions in, ADC waveforms of one anode and their truth out.
//
//     wire-cell -c cfg/simulate.jsonnet -A output=adc.npz -A truth=truth.npz
//
// Arguments given with -A are text; numbers and lists are read from it. With an empty file name nothing is written.
local job_anodes = import 'anodes.jsonnet';
local args = import 'arguments.jsonnet';
local pg = import 'pgraph.jsonnet';
local pipeline = import 'pipeline.jsonnet';
local make_sim = import 'sim.jsonnet';

function(
    // frame file with ADC waveforms. This, truth and signal may also be parts of a graph that take frames
    output='adc.npz',
    // frame file with the signals that the chain of cfg/pipeline.jsonnet makes from the waveforms, in the same job
    process='',
    // argument `model` of that chain
    model='default',
    // argument `tags` of that chain
    tags='signal',
    // frame file with the true charge (tag truth) and true ROIs (regions of interest, tag roi)
    truth='',
    // frame file with the waveforms without noise, ADC counts above the baseline
    signal='',
    // form of the samples in the files `process` and `truth`: dense, all of them; or sparse, only those that are not 0
    frames='dense',
    // file of depositions to simulate; empty: generate them; or a part of a graph that makes them
    depos='',
    // kind of the generated depositions: tracks, muons, blips, line (the ideal lines of the line scan) or none
    kind='tracks',
    // count of tracks, muons or blips in an event
    tracks=10,
    // kind=line: only this angle to the pitch direction, in degrees (or several, with commas); empty: all of the scan
    angle='',
    // kind=line: the plane whose pitch direction the lines follow, 0 U, 1 V, 2 W
    plane=0,
    // false: the depositions of the file have already drifted to the response plane
    drift=true,
    // file for the generated depositions
    write_depos='',
    // file for the drifted depositions
    charge_output='',
    // false: no noise
    noise=true,
    // RMS in ADC counts of the noise that the channels of one front-end board share
    coherent=0,
    // seed of all random numbers
    seed=1,
    // count of events to generate, or maximum to read; -1: all of the file
    nevents='',
    // detector, a name in detectors/all.jsonnet, or (--tla-code) a description of the same form
    detname='pdhd',
    // index of the anode
    tpcid=0,
    // auto, cpu, cuda, cuda:N
    device='auto',
    // Pgrapher (serial) or TbbFlow (parallel)
    engine='Pgrapher',
    // threads inside one operation; 0: cores / threads of the graph
    threads=0,
    // exact; or fast: the network in bfloat16 if the machine has instructions for it, TF32 on CUDA
    precision='exact',
    // float32 or float64
    dtype='float32',
    // log level: 0 as given with -l and -L, 1 info, 2 debug, 3 trace
    verbosity=0,
)
    local found = job_anodes.detector(detname);
    local lacking = [key for key in ['drift_volumes', 'lar', 'noise_spectra', 'truth'] if !std.objectHasAll(found, key)];
    local det =
        if lacking == [] then found
        else error "the description of detector '" + found.name + "' lacks what the simulation needs: " + std.join(', ', lacking);
    local sim = make_sim(det, args.whole('tpcid', tpcid), args.whole('seed', seed));
    local events(default) = if nevents == '' then default else args.whole('nevents', nevents);

    local source =
        if std.isObject(depos) then depos
        else if depos != '' then sim.DepoFileSource(depos, events(-1))
        else sim.TrackDepos(kind,
                            args.whole('tracks', tracks),
                            events(1),
                            args.whole('plane', plane),
                            [args.number('angle', each) for each in args.list(angle)]);

    local is_drifted = depos != '' && !args.boolean('drift', drift);
    local charge = if is_drifted then source else sim.Drifter(depos=source);
    local transform = sim.DepoTransform(depos=charge);
    local waveforms =
        if args.boolean('noise', noise) then sim.AddNoise(args.number('coherent', coherent), waveforms=transform) else transform;
    // The waveforms go to their file, to the pipeline, or to both.
    local ends = sim.Fanout('adc', if output != '' && process != '' then 2 else 1, sim.Digitizer(waveforms));

    local file(filename, sink) = if filename == '' then [] else [sink];
    local frame_sink(target, name, frames, form='dense') =
        if std.isObject(target) then pg.fed(target, [frames]) else sim.FrameFileSink(target, name, form, frames);
    local sinks =
        file(write_depos, sim.DepoFileSink(write_depos, 'deposited', source))
        + file(charge_output, sim.DepoFileSink(charge_output, 'drifted', charge))
        + file(truth, frame_sink(truth, 'truth', sim.DepoFluxSplat(depos=charge), frames))
        + file(signal, frame_sink(signal, 'signal', transform))
        + file(output, frame_sink(output, 'adc', ends))
        + (if output == '' && process == '' then [sim.Discard('adc', ends)] else []);
    local simulation = pg.graph(sinks + [ends]);
    local context = {
        type: 'SPNGContext',
        data: { device: device, precision: precision, dtype: dtype, threads: args.whole('threads', threads), verbosity: args.whole('verbosity', verbosity), about: det.name + ' anode ' + tpcid },
    };
    if process == '' then pg.main(simulation, engine, uses=[context])
    else pipeline(
        input=pg.intern(centernodes=[simulation], oports=[ends.oports[std.length(ends.oports) - 1]], name='simulation'),
        output=process,
        frames=frames,
        detname=detname,
        tpcid=tpcid,
        device=device,
        engine=engine,
        threads=threads,
        model=model,
        verbosity=verbosity,
        precision=precision,
        dtype=dtype,
        tags=tags,
    )
