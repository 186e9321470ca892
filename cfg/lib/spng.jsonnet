// The steps of the chain as parts of a graph, one function for each node type and with its name, for one anode of a
// detector description (detectors/*.jsonnet). Job files put them together.
local pg = import 'pgraph.jsonnet';
local wc = import 'wirecell.jsonnet';

/// det: detector description; anode: number of the anode
function(det, anode) {
    local spng = self,
    local label = 'anode' + anode,

    // Services -------------------------------------------------------------------------------------------------------

    local component(type, name, data, uses=[]) = { type: type, name: name, data: data, uses: uses },

    local wires = component('WireSchemaFile', det.name, { filename: det.wires }),
    local field = component('FieldResponse', label, { filename: det.field_response(anode) }),
    local electronics = component('ColdElecResponse', det.name, det.electronics),
    local anode_plane = component('AnodePlane', label, { ident: anode, wire_schema: wc.tn(wires) }, [wires]),

    local group_data(group) = {
        name: group.name,
        views: [{ name: view.name, plane: view.plane, faces: view.faces, order: view.order } for view in group.views],
    },

    /// groups: those of the detector, or other ones (batch=false)
    ViewGroups(groups):: component('SPNGViewGroups', label, {
        anode: wc.tn(anode_plane),
        groups: [group_data(group) for group in groups],
    }, [anode_plane]),

    TorchFRERSpectrum(plane)::
        component('TorchFRERSpectrum', label + '-plane' + plane, {
            field_response: wc.tn(field),
            elec_response: wc.tn(electronics),
            fr_plane_id: plane,
            readout_period: det.readout.tick,
            ADC_mV: std.pow(2, det.digitiser.bits) / det.digitiser.fullscale,
            default_nticks: det.readout.nticks,
        }, [field, electronics]),

    local low_pass(name, filter) = component('HfFilter', name, filter),
    local high_pass(name, tau) = component('LfFilter', name, { tau: tau }),

    Torch1DSpectrum(name, filters):: component('Torch1DSpectrum', name, { spectra: [wc.tn(f) for f in filters] }, filters),

    WireFilter(kind):: spng.Torch1DSpectrum('wire-' + kind, [low_pass('wire-' + kind, det.wire_filter[kind])]),

    /// The time filter of a plane; name is gauss, or wiener with or without one of det.high_pass before it: tight, loose.
    TimeFilter(name, group, plane)::
        if name == 'gauss' then spng.Torch1DSpectrum('gauss', [low_pass('gauss', det.gauss)])
        else
            local wiener = low_pass('wiener-' + det.wiener_set + '-plane' + plane, det.wiener_sets[det.wiener_set][plane]);
            local has_high_pass = group.kind == 'induction' && std.objectHas(det.high_pass, name);
            spng.Torch1DSpectrum(
                name + '-plane' + plane,
                [wiener] + (if has_high_pass then [high_pass(name, det.high_pass[name])] else [])
            ),

    // Nodes ----------------------------------------------------------------------------------------------------------

    local node(type, name, data, nin, nout, uses=[]) =
        pg.pnode(component(type, name, data), nin=nin, nout=nout, uses=uses),

    local names(components) = [wc.tn(c) for c in components],

    FrameFileSource(filename, tags=['*'], nevents=-1)::
        node('FrameFileSource', '', { inname: filename, tags: tags, nevents: nevents }, 0, 1),

    FrameToTorchSetFanout(groups, intag='')::
        local views = spng.ViewGroups(groups);
        node('SPNGFrameToTorchSetFanout', label, {
            groups: wc.tn(views),
            output_groups: [group.name for group in groups],
            intag: intag,
            adc_bits: det.digitiser.bits,
        }, 1, std.length(groups), [views]),

    Decon(group)::
        local responses = [spng.TorchFRERSpectrum(view.plane) for view in group.views];
        local filter = spng.WireFilter(group.kind);
        node('SPNGDecon', group.name, {
            frer_spectrum: names(responses),
            wire_filter: [wc.tn(filter)],
            channels: group.channels,
            pad_wire_domain: !group.cyclic,
        }, 1, 1, responses + [filter]),

    /// rebin: ticks of an output sample
    Apply1DSpectrum(filter, group, rebin=1)::
        local filters = [spng.TimeFilter(filter, group, view.plane) for view in group.views];
        local response = spng.TorchFRERSpectrum(group.views[0].plane);
        node('SPNGApply1DSpectrum', filter + '-' + group.name, {
            base_spectrum_name: names(filters),
            frer_spectrum: wc.tn(response),
            rebin: rebin,
            output: filter,
        }, 1, 1, filters + [response]),

    ThresholdROIs(name, group, factor)::
        node('SPNGThresholdROIs', name + '-' + group.name, { threshold_rms_factor: [factor], output: name }, 1, 1),

    NoTileMPCoincidence(group, groups, data={})::
        local views = spng.ViewGroups(groups);
        node('SPNGNoTileMPCoincidence', group.name, {
            groups: wc.tn(views),
            input_groups: [each.name for each in groups],
            target_group: group.name,
        } + data, std.length(groups), 1, [views]),

    /// Inputs: waveform, regions.
    ApplyROI(name, group, output='signal', summary=false)::
        node('SPNGApplyROI', name + '-' + group.name, {
            baseline: if group.kind == 'induction' then 'linear' else 'restored',
            output: output,
            summary: summary,
        }, 2, 1),

    TorchTensorSetToFrameFanin(groups, multiplicity, tags)::
        local views = spng.ViewGroups(groups);
        node('SPNGTorchTensorSetToFrameFanin', label, { groups: wc.tn(views), multiplicity: multiplicity, tags: tags },
             multiplicity, 1, [views]),

    FrameFileSink(filename):: node('FrameFileSink', '', { outname: filename }, 1, 0),

    TensorTap(name, filename):: node('SPNGTensorTap', name, { filename: filename }, 1, 1),

    Discard(name):: node('SPNGDiscard', name, {}, 1, 0),
}
