// The simulation: tracks or depositions in, ADC waveforms of one anode and their truth out.
//
//     wire-cell -c cfg/simulate.jsonnet -A output=adc.npz -A truth=truth.npz
//
// Arguments given with -A are text; numbers and lists are read from it. An empty file name writes nothing.
local args = import 'arguments.jsonnet';
local detectors = import 'detectors/all.jsonnet';
local pg = import 'pgraph.jsonnet';
local make_sim = import 'sim.jsonnet';

/// output     frame file with ADC waveforms
/// truth      frame file with the true charge (tag truth) and true regions of interest (tag roi)
/// signal     frame file with the waveforms without noise, ADC counts above the baseline
/// depos      file of depositions to simulate; empty: generate them
/// kind       what to generate: tracks, muons, blips, line (the ideal lines of the line scan) or none
/// tracks     how many tracks, muons or blips an event has
/// angle      kind=line: only this angle to the pitch direction, in degrees (or several, with commas); empty: all of the scan
/// plane      kind=line: the plane whose pitch direction the lines follow, 0 U, 1 V, 2 W
/// drift      false: the depositions of the file have drifted to the response plane
/// write_depos  file for the generated depositions
/// charge_output  file for the drifted depositions
/// noise      false: no noise
/// coherent   RMS in ADC counts of the noise that the channels of one front-end board share
/// seed       of all random numbers
/// nevents    events to generate, or to read at most; -1: all of the file
/// detname    detector, a name in detectors/all.jsonnet
/// tpcid      number of the anode
/// device     auto, cpu, cuda, cuda:N
/// engine     Pgrapher (serial) or TbbFlow (parallel)
/// threads    threads inside one operation; 0: cores / threads of the graph
/// dtype      float32 or float64
/// verbosity  log lines: 0 what -l and -L ask for, 1 info, 2 debug, 3 trace
function(
    output='adc.npz',
    truth='',
    signal='',
    depos='',
    kind='tracks',
    tracks=10,
    angle='',
    plane=0,
    drift=true,
    write_depos='',
    charge_output='',
    noise=true,
    coherent=0,
    seed=1,
    nevents='',
    detname='pdhd',
    tpcid=0,
    device='auto',
    engine='Pgrapher',
    threads=0,
    dtype='float32',
    verbosity=0,
)
    local det =
        if std.objectHas(detectors, detname) then detectors[detname]
        else error "unknown detector '" + detname + "'; known: " + std.join(', ', std.objectFields(detectors));
    local sim = make_sim(det, args.whole('tpcid', tpcid), args.whole('seed', seed));
    local events(default) = if nevents == '' then default else args.whole('nevents', nevents);

    local source =
        if depos != '' then sim.DepoFileSource(depos, events(-1))
        else sim.TrackDepos(kind,
                            args.whole('tracks', tracks),
                            events(1),
                            args.whole('plane', plane),
                            [args.number('angle', each) for each in args.list(angle)]);

    // A part with what follows it: files on the way are branches.
    local link(tail, head, tp=0, hp=0) = { tail: tail, head: head, tp: tp, hp: hp };
    local spread(name, tail, heads) =
        if std.length(heads) == 1 then [link(tail, heads[0])]
        else
            local fan = sim.Fanout(name, std.length(heads));
            [link(tail, fan)] + [link(fan, heads[i], tp=i) for i in std.range(0, std.length(heads) - 1)];
    local branch(filename, part) = if filename == '' then [] else [part];

    local drifter = sim.Drifter();
    local transform = sim.DepoTransform();
    local splat = sim.DepoFluxSplat();
    local digitizer = sim.Digitizer();
    local noisy = sim.AddNoise(args.number('coherent', coherent));
    local is_drifted = depos != '' && !args.boolean('drift', drift);
    local charge = branch(charge_output, sim.DepoFileSink(charge_output, 'drifted')) + branch(truth, splat) + [transform];
    local deposited = branch(write_depos, sim.DepoFileSink(write_depos, 'deposited'));
    local first_waveforms = if args.boolean('noise', noise) then noisy else digitizer;

    local graph = pg.linked(
        (if is_drifted then spread('charge', source, deposited + charge)
         else spread('deposited', source, deposited + [drifter]) + spread('charge', drifter, charge))
        + (if truth == '' then [] else [link(splat, sim.FrameFileSink(truth, 'truth'))])
        + spread('waveforms', transform, branch(signal, sim.FrameFileSink(signal, 'signal')) + [first_waveforms])
        + (if args.boolean('noise', noise) then [link(noisy, digitizer)] else [])
        + [link(digitizer, sim.FrameFileSink(output, 'adc'))]
    );
    local context = {
        type: 'SPNGContext',
        data: { device: device, dtype: dtype, threads: args.whole('threads', threads), verbosity: args.whole('verbosity', verbosity) },
    };
    pg.main(graph, engine, uses=[context])
