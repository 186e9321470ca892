// SPDX-License-Identifier: Apache-2.0
// Waveforms from a frame of charge, of real events for example: charge per channel and tick in, ADC waveforms of one anode out.
//
//     wire-cell -c cfg/from_charge.jsonnet -A input=signal.npz -A output=adc.npz
//
// The charge is that of the chain or of the Wire-Cell Toolkit: electrons by arrival time at the wires. docs/simulation.md describes
// the job. Arguments given with -A are text; numbers are read from it. With an empty file name nothing is written.
local job_anodes = import 'anodes.jsonnet';
local args = import 'arguments.jsonnet';
local memory = import 'memory.jsonnet';
local pg = import 'pgraph.jsonnet';
local make_sim = import 'sim.jsonnet';
local make_spng = import 'spng.jsonnet';

function(
    // frame file with the charge [electrons] (.npz, .tar, .tar.gz, .tar.bz2); memory: frames of a program (docs/python.md)
    input='data/tracks10-truth.npz',
    // tag of the charge, such as gauss1; empty: the only one in the file
    intag='',
    // frame file with ADC waveforms; memory: frames for the program
    output='adc.npz',
    // frame file with the waveforms without noise, ADC counts above the baseline
    signal='',
    // spectra: random noise with the measured spectra of the detector; none; or a frame file of raw waveforms, to which the
    // signals are added
    noise='spectra',
    // tag of the raw waveforms in this file; empty: the only one
    noise_tag='',
    // factor of the measured spectra; only with spectra
    noise_level=1,
    // RMS in ADC counts of the noise that the channels of one front-end board share; only with spectra
    coherent=0,
    // seed of all random numbers
    seed=1,
    // stop after this many events; -1: all
    nevents=-1,
    // detector, a name in detectors/all.jsonnet, or (--tla-code) a description of the same form
    detname='pdhd',
    // index of the anode
    tpcid=0,
    // reject or ignore channels of other anodes, of the charge and of the raw waveforms
    other_anodes='reject',
    // auto, cpu, cuda, cuda:N
    device='auto',
    // Pgrapher (serial) or TbbFlow (parallel)
    engine='Pgrapher',
    // threads inside one operation; 0: cores / threads of the graph
    threads=0,
    // float32 or float64
    dtype='float32',
    // log level: 0 as given with -l and -L, 1 info, 2 debug, 3 trace
    verbosity=0,
)
    local det = job_anodes.detector(detname);
    local anode = job_anodes.chosen(det, args.whole('tpcid', tpcid))[0];
    local spng = make_spng(det, anode);
    local sim = make_sim(det, anode, args.whole('seed', seed));
    local groups = job_anodes.views(det.groups, [[anode]])[0];

    local source =
        if input == 'memory' then memory.MemorySource()
        else spng.FrameFileSource([input], tags=spng.tags_of(intag), nevents=args.whole('nevents', nevents));
    local charge = spng.ChargeToTorchSetFanout(groups, intag, other_anodes, source);
    local waveforms(i) = spng.resampled(groups[i], spng.ChargeToWaveforms(groups[i], pg.output(charge, i)));
    local pack = spng.TorchTensorSetToFrameFanin(groups, [waveforms(i) for i in std.range(0, std.length(groups) - 1)], ['adc']);

    local is_random = noise == 'spectra';
    local level = args.number('noise_level', noise_level), shared = args.number('coherent', coherent);
    local of_spectra = (if level != 1 then ['noise_level'] else []) + (if shared != 0 then ['coherent'] else []);
    local noisy =
        if !is_random && of_spectra != []
        then error "argument '" + of_spectra[0] + "' is about random noise, and the job has none: noise=" + noise
        else if !is_random then pack
        else if !std.objectHasAll(det, 'noise_spectra')
        then error "the description of detector '" + det.name + "' lacks noise_spectra; use noise=none or a frame file"
        else sim.AddNoise(shared, { level: level }, pack);
    local readout =
        if is_random || noise == 'none' then sim.Digitizer(noisy)
        else sim.Overlay(noise, noise_tag, other_anodes, noisy);
    local sink =
        if output == 'memory' then pg.fed(memory.MemorySink(), [readout])
        else if output == '' then sim.Discard('adc', readout)
        else sim.FrameFileSink(output, 'adc', frames=readout);
    local sinks = (if signal == '' then [] else [sim.FrameFileSink(signal, 'signal', frames=pack)]) + [sink];
    local context = {
        type: 'SPNGContext',
        data: { device: device, dtype: dtype, threads: args.whole('threads', threads), verbosity: args.whole('verbosity', verbosity), about: det.name + ' anode ' + anode },
    };
    pg.main(pg.graph(sinks), engine, uses=[context])
