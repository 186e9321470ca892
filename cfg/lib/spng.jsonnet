// The steps of the chain as parts of a graph, one function for each node type and with its name, for one anode of a
// detector description (detectors/*.jsonnet). Job files put them together.
local pg = import 'pgraph.jsonnet';
local wc = import 'wirecell.jsonnet';

/// det: detector description; anode: number of the anode; filters: name of one of its filter sets, empty for its default
function(det, anode, filters='') {
    local spng = self,
    local set_name = if filters == '' then det.filter_set else filters,
    local set =
        if std.objectHas(det.filter_sets, set_name) then det.filter_sets[set_name]
        else error "unknown filter set '" + set_name + "' of " + det.name + '; known: ' + std.join(', ', std.objectFields(det.filter_sets)),

    /// Ticks of a sample of the images in which regions are found.
    rebin:: 4,
    /// Names of those images.
    images(group):: std.objectFields(set[group.kind].images),
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

    /// That of the filter set where it has one of its own, else the detector's.
    WireFilter(kind)::
        spng.Torch1DSpectrum('wire-' + kind, [low_pass('wire-' + kind, std.get(set[kind], 'wire', det.wire_filter[kind]))]),

    /// The time filter of a plane: gauss, wiener, or one of the images of its kind of group.
    TimeFilter(name, group, plane)::
        local shape =
            if name == 'gauss' then { low: det.gauss }
            else if name == 'wiener' then { low: set.wiener[plane] }
            else local image = set[group.kind].images[name]; image { low: image.low[plane] };
        local label = name + '-plane' + plane;
        local high = std.get(shape, 'high');
        spng.Torch1DSpectrum(label, [low_pass(label, shape.low)] + (if high == null then [] else [high_pass(label, high)])),

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

    /// The noise that the channels of one front-end board share; in: ADC counts.
    CoherentNoiseFilter(group, groups)::
        local views = spng.ViewGroups(groups);
        node('SPNGCoherentNoiseFilter', group.name, {
            groups: wc.tn(views),
            group: group.name,
            board_channels: [group.board_channels],
        }, 1, 1, [views]),

    ChannelRMS(name, group):: node('SPNGChannelRMS', name + '-' + group.name, set[group.kind].noise, 1, 1),

    /// Whether the filter set looks for long pulses in the loose image of this kind of group.
    has_long_pulses(group):: std.objectHas(set[group.kind], 'long_pulses'),
    LongPulses(group):: node('SPNGLongPulses', group.name, set[group.kind].long_pulses { cyclic: group.cyclic }, 1, 1),

    ThresholdROIs(group)::
        node('SPNGThresholdROIs', group.name, set[group.kind].witness {
            passes: set[group.kind].passes,
            output: if group.kind == 'collection' then 'roi' else 'regions',
        }, 1, 1),

    /// Inputs: images, coincidence.
    CoincidenceROIs(group)::
        node('SPNGCoincidenceROIs', group.name, set[group.kind].rois { passes: set[group.kind].passes, cyclic: group.cyclic }, 2, 1),

    /// The model that a user means: the detector's own knows the images of its default filter set only.
    model_file(name)::
        if name == 'standin' then 'dnnroi-standin.ts'
        else if name != 'default' then name
        else if set_name == det.filter_set && std.objectHasAll(det, 'model') then det.model(anode)
        else 'none',

    TorchService(group, model):: component('SPNGTorchService', group.name, {
        model: model,
        probe: [std.length(group.views), group.channels, std.floor(det.readout.nticks / spng.rebin)],
    }),

    /// Inputs: the loose image, coincidence. model: a file
    DNNROI(group, model)::
        local service = spng.TorchService(group, model);
        node('SPNGDNNROI', group.name, { forward: wc.tn(service) }, 2, 1, [service]),

    NoTileMPCoincidence(group, groups, dead_is_hit=false, wire_tolerance=1)::
        local views = spng.ViewGroups(groups);
        node('SPNGNoTileMPCoincidence', group.name, {
            groups: wc.tn(views),
            input_groups: [each.name for each in groups],
            target_group: group.name,
            wire_tolerance: wire_tolerance,
            dead_is_hit: dead_is_hit,
        }, std.length(groups), 1, [views]),

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
