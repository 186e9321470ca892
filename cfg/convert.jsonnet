// SPDX-License-Identifier: Apache-2.0
// The converter of frame files: dense to sparse frames and back, and from one container to another.
//
//     wire-cell -c cfg/convert.jsonnet -A input=sparse.npz -A output=dense.npz
//
// All events, tags, channel masks, summaries and notes are kept. Dense frames that were converted to sparse ones and back are
// the same bytes.
local args = import 'arguments.jsonnet';
local pg = import 'pgraph.jsonnet';

function(
    // frame file, dense or sparse (.npz, .tar, .tar.gz, .tar.bz2)
    input='data/tracks10-truth.npz',
    // frame file to write
    output='frames.npz',
    // form of the samples in the output: dense, all of them, which the Wire-Cell Toolkit reads; or sparse, only those that are not
    // 0
    frames='dense',
    // tags to keep, with commas; *: all. An event with none of them is an error
    tags='*',
    // stop after this many events; -1: all
    nevents=-1,
    // log lines: 0 as set by -l and -L, 1 info, 2 debug, 3 trace
    verbosity=0,
)
    local context = {
        type: 'SPNGContext',
        data: { device: 'cpu', verbosity: args.whole('verbosity', verbosity) },
    };
    local source = pg.pnode({
        type: 'FrameFileSource',
        data: { inname: input, tags: args.list(tags), nevents: args.whole('nevents', nevents) },
    }, nout=1, uses=[context]);
    local sink = pg.pnode({ type: 'FrameFileSink', data: { outname: output, frames: frames } }, nin=1);
    pg.main(pg.pipeline([source, sink]))
