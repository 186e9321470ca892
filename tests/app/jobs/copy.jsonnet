// SPDX-License-Identifier: Apache-2.0
// Reads a frame file and writes it again: the smallest job, for tests of the command line.
local pg = import 'pgraph.jsonnet';

/// changes   added to the data of the sink, to make the configuration wrong in a test
function(input, output='out.npz', nevents=-1, engine='Pgrapher', changes={}, plugins=['WireCellSpng'], device='cpu')
    local context = { type: 'SPNGContext', name: '', data: { device: device, threads: 1 } };
    local source = pg.pnode({ type: 'FrameFileSource', name: 'in', data: { inname: input, nevents: nevents } }, nout=1, uses=[context]);
    local sink = pg.pnode({ type: 'FrameFileSink', name: 'out', data: { outname: output } + changes }, nin=1);
    pg.main(pg.pipeline([source, sink]), engine, plugins)
