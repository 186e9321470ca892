// SPDX-License-Identifier: Apache-2.0
// Parts of graphs whose events come from memory: for jobs of spng::Pipeline (WireCellSpng/Pipeline.h) and of Python's spng.
local pg = import 'pgraph.jsonnet';

{
    /// Make the source. It takes the place of a file name as argument `input` of cfg/pipeline.jsonnet.
    MemorySource():: pg.pnode({ type: 'SPNGMemorySource' }, nout=1),

    /// Make a sink. It takes the place of a file name as argument `output` of cfg/pipeline.jsonnet.
    MemorySink(name=''):: pg.pnode({ type: 'SPNGMemorySink', [if name != '' then 'name']: name }, nin=1),
}
