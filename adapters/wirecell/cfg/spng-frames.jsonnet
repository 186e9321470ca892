// SPDX-License-Identifier: Apache-2.0
// A job of the Wire-Cell Toolkit's own wire-cell: frame file -> SPNGSigProc -> frame file.
//
//     wire-cell -c spng-frames.jsonnet -A input=adc.npz -A output=signal.npz -A detname=pdhd
local pg = import 'pgraph.jsonnet';
local spng = import 'spng_sigproc.jsonnet';

/// input, output  frame files (.npz, .tar, .tar.gz, .tar.bz2)
/// intag      tag of the waveforms in the input; '*': traces without tag
/// detname, tpcid, model, device  as in SPNG's cfg/pipeline.jsonnet
/// keys       further keys of SPNGSigProc; --tla-code keys='{ arguments: { noise_filter: "sticky" } }'
/// outtags    trace tags to write
function(input,
         output,
         intag='*',
         detname='pdhd',
         tpcid=0,
         model='default',
         device='auto',
         keys={},
         outtags=['gauss', 'wiener'])
    local number(value) = if std.isString(value) then std.parseInt(value) else value;
    local source = pg.pnode({
        type: 'FrameFileSource',
        data: { inname: input, tags: if intag == '*' then [] else [intag] },
    }, nin=0, nout=1);
    local sink = pg.pnode({ type: 'FrameFileSink', data: { outname: output, tags: outtags } }, nin=1, nout=0);
    local sigproc = spng.SigProc(keys={
        detname: detname,
        tpcid: number(tpcid),
        model: model,
        device: device,
    } + keys);
    local graph = pg.pipeline([source, sigproc, sink]);
    local app = { type: 'Pgrapher', data: { edges: pg.edges(graph) } };
    local main = {
        type: 'wire-cell',
        data: {
            plugins: ['WireCellPgraph', 'WireCellSio'] + spng.plugins,
            apps: ['Pgrapher'],
        },
    };
    // SPNGSigProc last: FrameFileSink of WCT 0.35 aborts at the end of a job that ended before the sink was configured.
    local nodes = pg.uses(graph);
    [main]
    + std.filter(function(node) node.type != 'SPNGSigProc', nodes)
    + std.filter(function(node) node.type == 'SPNGSigProc', nodes)
    + [app]
