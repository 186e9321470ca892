// The steps of the simulation as parts of a graph, one function for each node type and with its name, for one anode of a
// detector description (detectors/*.jsonnet). Job files put them together.
local pg = import 'pgraph.jsonnet';
local wc = import 'wirecell.jsonnet';

/// det: detector description; anode: number of the anode; seed: of all random numbers of the job
function(det, anode, seed=1) {
    local label = 'anode' + anode,

    // Services, equal to those of spng.jsonnet ----------------------------------------------------------------------

    local component(type, name, data, uses=[]) = { type: type, name: name, data: data, uses: uses },

    local wires = component('WireSchemaFile', det.name, { filename: det.wires }),
    local anode_plane = component('AnodePlane', label, { ident: anode, wire_schema: wc.tn(wires) }, [wires]),

    // Nodes ----------------------------------------------------------------------------------------------------------

    local node(type, name, data, nin, nout, uses=[]) =
        pg.pnode(component(type, name, data), nin=nin, nout=nout, uses=uses),

    /// kind: tracks, muons, blips, line or none; count: of tracks, muons or blips in an event; plane, angles: of ideal lines,
    /// all angles of the line scan when the list is empty; extra: further keys of the node
    TrackDepos(kind, count=10, nevents=1, plane=0, angles=[], extra={})::
        node('SPNGTrackDepos', label, {
            anode: wc.tn(anode_plane),
            volumes: det.drift_volumes(anode),
            kind: kind,
            count: count,
            nevents: nevents,
            seed: seed,
            line: { plane: plane, [if angles != [] then 'angles']: angles } + det.line_centre(anode),
            electric_field: det.lar.electric_field,
        } + extra, 0, 1, [anode_plane]),

    DepoFileSource(filename, nevents=-1)::
        node('SPNGDepoFileSource', label, { inname: filename, nevents: nevents }, 0, 1),

    DepoFileSink(filename, name=label):: node('SPNGDepoFileSink', name, { outname: filename }, 1, 0),

    /// extra: further keys of the node
    Drifter(extra={})::
        node('SPNGDrifter', label, {
            anode: wc.tn(anode_plane),
            volumes: det.drift_volumes(anode),
            drift_speed: det.lar.drift_speed,
            longitudinal_diffusion: det.lar.longitudinal_diffusion,
            transverse_diffusion: det.lar.transverse_diffusion,
            lifetime: det.lar.lifetime,
            seed: seed,
        } + extra, 1, 1, [anode_plane]),
}
