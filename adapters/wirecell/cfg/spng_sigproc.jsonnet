// SPDX-License-Identifier: Apache-2.0
// SPNGSigProc in jobs of the Wire-Cell Toolkit (WCT): docs/wirecell-plugin.md. Imports WCT's pgraph.jsonnet.
local pg = import 'pgraph.jsonnet';

// Keys of OmnibusSigProc that SPNGSigProc has too, and those of which it has one value: with another one, later nodes may
// expect traces that it does not make, so that it must see and reject it.
local shared = [
    'anode',
    'frame_tag',
    'gauss_tag',
    'mp2_roi_tag',
    'mp3_roi_tag',
    'rawdecon_tag',
    'save_negative_charge',
    'sparse',
    'use_roi_debug_mode',
    'use_roi_refinement',
    'use_multi_plane_protection',
    'wiener_tag',
];

{
    /// The plugins of jobs with SPNGSigProc.
    plugins:: ['WireCellSpngPlugin'],

    /// Make a node.
    /// @param keys  of docs/wirecell-plugin.md
    SigProc(name='', keys={}, uses=[])::
        pg.pnode({ type: 'SPNGSigProc', name: name, data: keys }, nin=1, nout=1, uses=uses),

    /// Make a node in place of OmnibusSigProc, with its anode, tags and other keys of equal meaning. Keys without equal meaning
    /// are left out: detname chooses the detector, whose description has their values.
    /// @param osp  pnode of OmnibusSigProc, such as that of sp.jsonnet's make_sigproc()
    /// @param keys  further keys of SPNGSigProc
    replace(osp, detname, keys={})::
        local inode = osp.uses[std.length(osp.uses) - 1];
        assert inode.type == 'OmnibusSigProc' : 'replace() takes the pnode of one OmnibusSigProc, not of ' + inode.type;
        local kept = { [key]: inode.data[key] for key in shared if std.objectHas(inode.data, key) };
        $.SigProc(inode.name, kept { detname: detname } + keys, osp.uses[:std.length(osp.uses) - 1]),
}
