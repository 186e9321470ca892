// SPDX-License-Identifier: Apache-2.0
// The steps of the chain as parts of a graph for anodes of a detector description (detectors/*.jsonnet). Each node type has one
// function, with its name, which takes the parts that are its inputs; without them a job connects the node in another way.
local job_anodes = import 'anodes.jsonnet';
local args = import 'arguments.jsonnet';
local make_services = import 'services.jsonnet';
local wc = import 'wirecell.jsonnet';

/// det: detector description; anodes: index of the anode, or a list of indices; filters: name of one of the detector's filter
/// sets, empty for its default; bad_channels: file with a list of channels, see SPNGChannelList, empty for none; thresholds: of
/// ROIs instead of those of the filter set, { seed, grow }, each { induction, collection }, null for that of the set
function(det, anodes, filters='', bad_channels='', thresholds={}) {
    local spng = self,
    local services = make_services(det),
    local component = services.component,
    local node = services.node,
    local names = services.names,
    local set_name = if filters == '' then det.filter_set else filters,
    filter_set:: set_name,
    local set_of_anode(anode) =
        local known = det.filter_sets(anode);
        if std.objectHas(known, set_name) then known[set_name]
        else error "unknown filter set '" + set_name + "' of " + det.name + '; known: ' + std.join(', ', std.objectFields(known)),
    local sets = [set_of_anode(anode) for anode in all],
    local noise_images = if std.objectHasAll(det, 'noise_image') then [det.noise_image(anode) for anode in all],
    local set_strings = [std.toString([sets[i], if noise_images != null then noise_images[i]]) for i in indices(all)],

    local raw_readout = services.raw_readout,
    is_resampled:: raw_readout.tick != det.readout.tick,

    /// Ticks in a sample of the ROI images.
    rebin:: 4,
    /// Names of the images that a network gets.
    network_images:: ['loose', 'tight'],
    /// Names of the ROI images.
    images(group):: std.objectFields(settings(group).images),

    local all = if std.isArray(anodes) then anodes else [anodes],
    local has_several = std.length(all) > 1,
    local label = job_anodes.label(all),
    local indices(list) = std.range(0, std.length(list) - 1),
    local index_of = { [std.toString(all[i])]: i for i in indices(all) },
    local of_anode(list, anode) = list[index_of[std.toString(anode)]],
    /// The groups of the first anode, as the detector describes them.
    local anode_of(view) = std.get(view, 'anode', all[0]),
    /// The filter set of a group, and the settings of the group in it: those of its kind unless the group names others. All
    /// anodes of a group have equal sets.
    local filters_of(group) = of_anode(sets, anode_of(group.views[0])),
    local section(group) = std.get(group, 'settings', group.kind),
    local settings(group) = with_thresholds(group.kind, filters_of(group)[section(group)]),
    local with_thresholds(kind, set) =
        local threshold(name) = std.get(std.get(thresholds, name, {}), kind);
        local seed = threshold('seed'), grow = threshold('grow');
        set {
            [if kind == 'induction' then 'rois']+: {
                [if seed != null then 'seed_rms_factor']: seed,
                [if seed != null then 'lone_seed_rms_factor']: std.max(seed, set.rois.lone_seed_rms_factor),
                [if grow != null then 'grow_rms_factor']: grow,
            },
            [if kind == 'collection' then 'witness']+: {
                [if seed != null then 'threshold_rms_factor']: seed,
                [if grow != null then 'grow_rms_factor']: grow,
            },
        },
    /// The image whose noise is the summary of the tag wiener.
    local noise_image(group) =
        if noise_images != null then of_anode(noise_images, anode_of(group.views[0]))[section(group)]
        else error "the description of detector '" + det.name + "' lacks noise_image, which the tag wiener needs",
    /// Ending of the names of filters: empty for the set of the first anode, else the name of the first anode with this set.
    local filter_suffix(group) =
        local first = std.find(of_anode(set_strings, anode_of(group.views[0])), set_strings)[0];
        if first == 0 then '' else '-anode' + all[first],

    // Services -------------------------------------------------------------------------------------------------------

    local wires = services.wires,
    local electronics = services.electronics,
    local planes = [services.anode_plane(anode) for anode in all],

    // Anodes with the same field response share the services made from it, which are named after the first of them.
    local response_files = [det.field_response(anode) for anode in all],
    local first_alike(anode) = all[std.find(of_anode(response_files, anode), response_files)[0]],
    local fields = [services.field_response(anode) for anode in all],

    // Bad channels of the file, and those of the detector.
    local own_bad_channels =
        if std.objectHasAll(det, 'bad_channels') then std.flattenArrays([det.bad_channels(anode) for anode in all]) else [],
    local other_electronics = std.get(det, 'channel_response', []),
    local known_channels = component('SPNGChannelList', det.name, {
        filename: bad_channels,
        bad: own_bad_channels,
        [if other_electronics != [] then 'channel_response']: other_electronics,
        wire_schema: wc.tn(wires),
    }, [wires]),
    local channel_lists = if bad_channels == '' && own_bad_channels == [] then [] else [known_channels],
    local channel_list = { [if channel_lists != [] then 'channel_list']: wc.tn(channel_lists[0]) },

    local group_data(group) = {
        name: group.name,
        views: [
            { name: view.name, plane: view.plane, faces: view.faces, order: view.order }
            + if has_several then { anode: wc.tn(of_anode(planes, view.anode)) } else {}
            for view in group.views
        ],
    },

    /// The groups of views of the job, a list for each batch of anodes. Each group has in `model` the file of its network, or none,
    /// and in `network` the name of the service, which anodes share even if they are not batched.
    /// groups: the groups of an anode, those of the detector or other ones (batch=false); model: the argument `model` of the job;
    /// join: anodes whose responses, groups, filters and networks are the same share tensors; not evaluated if all differ
    batches(groups, model, join)::
        local files = [spng.model_file(model, anode) for anode in all];
        local shapes = [std.toString(groups(anode)) for anode in all];
        local is_one_network = std.length(std.setDiff(std.set(files), ['none'])) == 1 && std.length(std.set(shapes)) == 1;
        local kinds = [
            std.join('\n', [response_files[i], files[i], shapes[i], set_strings[i]])
            for i in indices(all)
        ];
        local alike = [[all[k] for k in std.find(kinds[i], kinds)] for i in indices(all) if std.find(kinds[i], kinds)[0] == i];
        local batches = if std.length(alike) < std.length(all) && join then alike else [[anode] for anode in all];
        [
            [
                group {
                    model: if !std.get(group, 'use_model', true) then 'none' else of_anode(files, group.anodes[0]),
                    network: if is_one_network && std.length(group.anodes) == 1 then group.plain_name else group.name,
                }
                for group in batch
            ]
            for batch in job_anodes.views(groups, batches)
        ],

    /// groups: all groups of the job
    ViewGroups(groups):: component('SPNGViewGroups', label, {
        anode: wc.tn(planes[0]),
        groups: [group_data(group) for group in groups],
    }, planes),

    TorchFRERSpectrum(plane, anode=all[0], readout=det.readout)::
        local alike = first_alike(anode);
        local field = of_anode(fields, alike);
        local shaper = services.electronics_of(plane);
        local label = (if readout == det.readout then '' else 'raw-') + 'anode' + alike + '-plane' + plane;
        component('TorchFRERSpectrum', label, {
            field_response: wc.tn(field),
            elec_response: wc.tn(shaper),
            fr_plane_id: plane,
            readout_period: readout.tick,
            ADC_mV: services.adc_per_voltage,
            default_nticks: readout.nticks,
        }, [field, shaper]),

    local low_pass(name, filter) = component('HfFilter', name, filter),
    local high_pass(name, tau) = component('LfFilter', name, { tau: tau }),

    Torch1DSpectrum(name, filters):: component('Torch1DSpectrum', name, { spectra: [wc.tn(f) for f in filters] }, filters),

    /// The filter along wires: that of the filter set if it has one, else that of the detector.
    /// image: empty, or `noise` for the filter of the noise image
    WireFilter(group, image='')::
        local label = 'wire-' + (if image == '' then '' else image + '-') + section(group) + filter_suffix(group);
        local shape = if image == 'noise' then noise_image(group).wire
        else std.get(settings(group), 'wire', det.wire_filter[group.kind]);
        spng.Torch1DSpectrum(label, [low_pass(label, shape)]),

    /// The time filter of a plane: gauss, wiener, noise (image for the summary), or one of the images of its kind of group.
    TimeFilter(name, group, plane)::
        local shape =
            if name == 'gauss' then { low: det.gauss }
            else if name == 'wiener' then { low: filters_of(group).wiener[plane] }
            else
                local image = if name == 'noise' then noise_image(group) else settings(group).images[name];
                image { low: image.low[plane] };
        local label = name + '-plane' + plane + filter_suffix(group);
        local high = std.get(shape, 'high');
        spng.Torch1DSpectrum(label, [low_pass(label, shape.low)] + (if high == null then [] else [high_pass(label, high)])),

    // Nodes ----------------------------------------------------------------------------------------------------------

    local roi_baseline(group) = if group.kind == 'induction' then 'linear' else 'restored',

    /// Ticks of a frame in a whole number of samples of the ROI images.
    local window_step =
        local divisor(a, b) = if b == 0 then a else divisor(b, a % b);
        local sample = det.readout.tick * spng.rebin;
        sample / divisor(sample, raw_readout.tick),

    /// The readout windows of long readouts, in ticks of the frames. text: core,before,after in ticks, or the core only; 0: those of the detector, -1: none
    window(text)::
        local given = [args.whole('window', each) for each in if std.isNumber(text) then [text] else args.list(text)];
        local own = std.get(det, 'window', { core: 0, before: 0, after: 0 });
        if given == [-1] then { core: 0, before: 0, after: 0 }
        else if given == [0] then own
        else if std.length(given) == 3 then { core: given[0], before: given[1], after: given[2] }
        else if std.length(given) != 1 then error "argument 'window' takes core or core,before,after in ticks, not '" + text + "'"
        else if own.core == 0 then error "the description of detector '" + det.name + "' has no readout window; give core,before,after"
        else own { core: given[0] },

    /// The tags to read for a node with this intag. Masks count from the first tick of the first tag that is read.
    tags_of(intag):: [if intag == '' then '*' else intag],

    /// files: list of files, each with other channels of the same events
    /// ahead: events to read ahead, see read_ahead of the node
    /// window: result of window(); series: frames that follow each other in time are one readout
    FrameFileSource(files, tags=['*'], nevents=-1, window=null, series=false, ahead=-1)::
        node('FrameFileSource', '', {
            inname: files[0],
            [if std.length(files) > 1 then 'further_files']: files[1:],
            tags: tags,
            nevents: nevents,
            [if window != null then 'window']: window { align: window_step },
            series: series,
            read_ahead: ahead,
        }, []),

    /// The input check of another detector with the same channel ids.
    local alternative(other, anode) = {
        detname: other.name,
        anode: anode,
        collecting: std.set([view.plane for group in other.groups(anode) if group.kind == 'collection' for view in group.views]),
        gain: adc_per_charge(other) / adc_per_charge(det),
    },
    local adc_per_charge(other) =
        local of_plane = if std.isArray(other.electronics) then other.electronics[0] else other.electronics;
        std.get(of_plane, 'gain', 1) * std.get(of_plane, 'postgain', 1) * std.pow(2, other.digitiser.bits) / other.digitiser.fullscale,
    local shape(other, anode) =
        std.sort(['%d: %d' % [view.plane, group.channels] for group in other.groups(anode) for view in group.views]),
    local tick_of(other) = std.get(other, 'raw_readout', other.readout).tick,
    local has_one_gain(other) = std.isObject(other.electronics) && std.objectHas(other.electronics, 'gain'),
    local alternatives = [
        alternative(other, anode)
        for other in if std.objectHasAll(det, 'alternatives') && has_one_gain(det) then det.alternatives else []
        if has_one_gain(other) && other.name != det.name && tick_of(other) == raw_readout.tick
        for anode in all
        if std.member(other.anodes, anode) && shape(other, anode) == shape(det, anode)
    ],

    /// Prediction of noise, polarity and pulse shape from the description of the detector, for the groups of the job.
    InputCheck(groups)::
        local views = spng.ViewGroups(groups);
        local responses = [
            spng.TorchFRERSpectrum(view.plane, anode_of(view), raw_readout)
            for group in groups
            for view in group.views
        ];
        component('SPNGInputCheck', label, {
            groups: wc.tn(views),
            frer_spectrum: names(responses),
            spectra: std.get(det, 'noise_spectra', ''),
            alternatives: alternatives,
        }, [views] + responses),

    /// Outputs: the waveforms of each group.
    /// others: reject or ignore channels of anodes that are not in the job
    /// check: compare noise, polarity and pulse shape with the description; max_bad_share: warn above this share of bad channels
    FrameToTorchSetFanout(groups, intag='', others='reject', check=false, max_bad_share=0.05, frames=null)::
        local views = spng.ViewGroups(groups);
        local checks = if check then [spng.InputCheck(groups)] else [];
        node('SPNGFrameToTorchSetFanout', label, {
            groups: wc.tn(views),
            output_groups: [group.name for group in groups],
            intag: intag,
            adc_bits: det.digitiser.bits,
            default_nticks: raw_readout.nticks,
            readout_period: raw_readout.tick,
            [if spng.is_resampled then 'chain_period']: det.readout.tick,
            [if std.objectHas(det, 'period_hint') then 'period_hint']: det.period_hint,
            max_bad_share: max_bad_share,
            [if check then 'check']: wc.tn(checks[0]),
            [if others != 'reject' then 'other_channels']: others,
        } + channel_list, [frames], std.length(groups), [views] + checks + channel_lists),

    /// The groups of a frame of charge, with the sampling of the chain. Masked channels keep their charge, so that masks end up
    /// in the output only.
    ChargeToTorchSetFanout(groups, intag='', others='reject', frames=null)::
        local views = spng.ViewGroups(groups);
        node('SPNGFrameToTorchSetFanout', label, {
            groups: wc.tn(views),
            output_groups: [group.name for group in groups],
            intag: intag,
            bad_masks: [],
            equal_is_dead: false,
            max_bad_share: 1,  // channels may be absent
            adc_bits: 31,  // largest charge of a tick that is valid: 16 * 2^31 electrons
            default_nticks: det.readout.nticks,
            readout_period: det.readout.tick,
            [if spng.is_resampled then 'chain_period']: raw_readout.tick,
            period_hint: 'resample the charge to the ticks of the chain',
            [if others != 'reject' then 'other_channels']: others,
        }, [frames], std.length(groups), [views]),

    /// In: charge [electrons]. Out: waveforms without noise [ADC above the baseline].
    ChargeToWaveforms(group, charge=null)::
        local responses = [spng.TorchFRERSpectrum(view.plane, anode_of(view)) for view in group.views];
        node('SPNGChargeToWaveforms', group.name, {
            frer_spectrum: names(responses),
            channels: group.channels,
            pad_wire_domain: !group.cyclic,
        }, [charge], uses=responses),

    /// image: see WireFilter
    Decon(group, waveforms=null, image='')::
        local responses = [spng.TorchFRERSpectrum(view.plane, anode_of(view)) for view in group.views];
        local filter = spng.WireFilter(group, image);
        node('SPNGDecon', (if image == '' then '' else image + '-') + group.name, {
            frer_spectrum: names(responses),
            wire_filter: [wc.tn(filter)],
            channels: group.channels,
            pad_wire_domain: !group.cyclic,
            // A network gets the image of the whole group, of which it knows the edges.
            [if std.get(group, 'model', 'none') != 'none' then 'few_rows']: false,
        }, [waveforms], uses=responses + [filter]),

    /// rebin: ticks of an output sample
    Apply1DSpectrum(filter, group, decon=null, rebin=1)::
        local filters = [spng.TimeFilter(filter, group, view.plane) for view in group.views];
        local response = spng.TorchFRERSpectrum(group.views[0].plane, anode_of(group.views[0]));
        node('SPNGApply1DSpectrum', filter + '-' + group.name, {
            base_spectrum_name: names(filters),
            frer_spectrum: wc.tn(response),
            rebin: rebin,
            output: filter,
        }, [decon], uses=filters + [response]),

    /// Samples of digitisers whose low bits stick; in: ADC counts.
    StickyCodes(group, waveforms=null)::
        node('SPNGStickyCodes', group.name, { adc_bits: det.digitiser.bits } + std.get(det, 'sticky_codes', {}), [waveforms]),

    /// The error of a step that needs a key of the detector.
    local lacks(key, step) =
        error "the description of detector '" + det.name + "' lacks " + key + ', which the step ' + step + ' of noise_filter needs',

    /// Return the electronics of the first view of a group. what: name of `value` of electronics, which all views must share
    local electronics_of(group, what, value) =
        local found = [services.electronics_of(view.plane) for view in group.views];
        if std.length(std.set([std.toString(value(each)) for each in found])) == 1 then found[0]
        else error "the planes of group '" + group.name + "' of detector '" + det.name + "' have different " + what
                   + ', of which a node takes one; use batch=false',
    /// The gain to which noise spectra are scaled. Spectra give the peak gain of cold electronics; of other electronics they are
    /// taken as they are.
    local spectra_gain(group) =
        local gain(each) = if each.type == 'ColdElecResponse' then each.data.gain else 0;
        gain(electronics_of(group, 'gains', function(each) if std.objectHasAll(det, 'noise_spectra') then gain(each))),

    /// Channels with other electronics, those of the detector's `channel_response` or of the file of bad channels; in: ADC counts.
    ChannelResponse(group, waveforms=null)::
        local views = spng.ViewGroups(group.groups);
        if other_electronics == [] && bad_channels == '' then lacks('channel_response', 'response')
        else node('SPNGChannelResponse', group.name, {
            groups: wc.tn(views),
            group: group.name,
            elec_response: wc.tn(electronics_of(group, 'electronics', function(each) [each.type, each.data])),
            channel_list: wc.tn(known_channels),
            readout_period: raw_readout.tick,
        }, [waveforms], uses=[views, known_channels] + electronics),

    /// Ticks in which preamplifiers chirp; in: ADC counts.
    Chirping(group, max_bad_share, waveforms=null)::
        if std.objectHas(det, 'chirping')
        then node('SPNGChirping', group.name, { max_bad_share: max_bad_share } + det.chirping, [waveforms])
        else lacks('chirping', 'chirping'),

    /// The tails that the coupling capacitors leave behind pulses; in: ADC counts.
    RCTails(group, waveforms=null)::
        if std.objectHas(det, 'rc_tails') then node('SPNGRCTails', group.name, det.rc_tails, [waveforms])
        else lacks('rc_tails', 'tails'),

    /// Lines of constant frequency; in: ADC counts. A detector may set keys of the node in `harmonic_lines`, such as bands.
    HarmonicLineFilter(group, waveforms=null)::
        node('SPNGHarmonicLineFilter', group.name, std.get(det, 'harmonic_lines', {}), [waveforms]),

    /// Front-end boards of a group, whose channels share noise. A detector gives the shifts of U, V and W in `board_shift`.
    local boards(group) = {
        board_channels: [group.board_channels],
        board_shift: if std.objectHasAll(det, 'board_shift')
        then [det.board_shift(anode_of(view))[view.plane] for view in group.views]
        else [std.get(group, 'board_shift', 0)],
    },
    local has_boards(group) = std.objectHas(group, 'board_channels'),

    /// Dead and noisy channels; in: ADC counts. A detector may set keys of the node in `channel_status`, such as max_rms.
    /// shared_noise: none, kept or removed, as the key of the node
    ChannelStatus(group, shared_noise, max_bad_share, waveforms=null)::
        local views = spng.ViewGroups(group.groups);
        local responses = [spng.TorchFRERSpectrum(view.plane, anode_of(view), raw_readout) for view in group.views];
        local keys = {
            groups: wc.tn(views),
            group: group.name,
            frer_spectrum: names(responses),
            spectra: std.get(det, 'noise_spectra', ''),
            gain: spectra_gain(group),
            shared_noise: shared_noise,
            max_bad_share: if shared_noise == 'kept' then 1 else max_bad_share,
        };
        local own_boards = if shared_noise == 'none' && has_boards(group) then boards(group) else {};
        local label = (if shared_noise == 'kept' then 'dead-' else '') + group.name;
        local data = keys + own_boards + channel_list + std.get(det, 'channel_status', {});
        node('SPNGChannelStatus', label, data, [waveforms], uses=[views] + responses + channel_lists),

    /// Negative pulses of front-end boards; in: ADC counts. The detector gives in `negative_pulses` the parts of a board that pulse
    /// separately.
    NegativePulses(group, max_bad_share, waveforms=null)::
        local views = spng.ViewGroups(group.groups);
        if !has_boards(group) then lacks('board_channels', 'negative')
        else if !std.objectHas(det, 'negative_pulses') then lacks('negative_pulses', 'negative')
        else
            local whole = boards(group), channels = group.board_channels / det.negative_pulses.parts;
            node('SPNGNegativePulses', group.name, {
                groups: wc.tn(views),
                group: group.name,
                board_channels: [channels],
                board_shift: [shift % channels for shift in whole.board_shift],
                max_bad_share: max_bad_share,
            }, [waveforms], uses=[views]),

    /// The noise that the channels of one front-end board share; in: ADC counts.
    CoherentNoiseFilter(group, waveforms=null)::
        local views = spng.ViewGroups(group.groups);
        if has_boards(group) then node('SPNGCoherentNoiseFilter', group.name, {
            groups: wc.tn(views),
            group: group.name,
        } + boards(group), [waveforms], uses=[views])
        else lacks('board_channels', 'coherent'),

    /// The deconvolved charge before ROIs, with a baseline of 0.
    RemoveBaseline(group, waveforms=null):: node('SPNGRemoveBaseline', group.name, {}, [waveforms]),

    /// From the sampling of the frames to that of the chain; behind ChargeToWaveforms, the other way.
    Resampler(group, waveforms=null):: node('SPNGResampler', group.name, {}, [waveforms]),
    /// The same, or the waveforms if both samplings are equal.
    resampled(group, waveforms):: if spng.is_resampled then spng.Resampler(group, waveforms) else waveforms,

    /// Waveforms after the group's steps on raw waveforms (noise_filters.jsonnet). Dead channels are found before shared noise is
    /// subtracted, which they lack and would get.
    noise_filtered(group, waveforms)::
        local has(step) = std.member(group.noise_filters, step);
        local status(shared_noise, input) = spng.ChannelStatus(group, shared_noise, group.max_bad_share, input);
        local filters = {
            sticky(input): spng.StickyCodes(group, input),
            response(input): spng.ChannelResponse(group, input),
            chirping(input): spng.Chirping(group, group.max_bad_share, input),
            tails(input): spng.RCTails(group, input),
            lines(input): spng.HarmonicLineFilter(group, input),
            negative(input): spng.NegativePulses(group, group.max_bad_share, input),
            coherent(input): spng.CoherentNoiseFilter(group, if has('channels') then status('kept', input) else input),
            channels(input): status(if has('coherent') then 'removed' else 'none', input),
        };
        std.foldl(function(input, step) filters[step](input), group.noise_filters, waveforms),

    /// The noise of the channels in an image that the detector's noise spectra predict.
    ImageNoise(name, group)::
        local views = spng.ViewGroups(group.groups);
        local responses = [spng.TorchFRERSpectrum(view.plane, anode_of(view)) for view in group.views];
        local filters = [spng.TimeFilter(name, group, view.plane) for view in group.views];
        local along_wires = spng.WireFilter(group);
        component('SPNGImageNoise', name + '-' + group.name, {
            groups: wc.tn(views),
            group: group.name,
            frer_spectrum: names(responses),
            wire_filter: wc.tn(along_wires),
            base_spectrum_name: names(filters),
            rebin: spng.rebin,
            spectra: std.get(det, 'noise_spectra', ''),
            gain: spectra_gain(group),
        }, [views, along_wires] + responses + filters),

    /// The noise of a view matters for a cap and for a network; with few channels it is that of the detector's spectra.
    ChannelRMS(name, group, image=null)::
        local noise = settings(group).noise;
        local is_of_view = std.get(noise, 'cap', 0) > 0 || (std.get(group, 'model', 'none') != 'none' && std.member(spng.network_images, name));
        local expected = if is_of_view then [spng.ImageNoise(name, group)] else [];
        node('SPNGChannelRMS', name + '-' + group.name, noise {
            [if is_of_view then 'expected_noise']: wc.tn(expected[0]),
        }, [image], uses=expected),

    /// Whether the noise image needs a separate deconvolution, with another filter along wires.
    has_noise_decon(group):: std.objectHas(noise_image(group), 'wire'),
    /// The noise of the noise image, with the cut of OmnibusSigProc (ROI_formation::cal_RMS).
    NoiseSummary(group, image=null):: node('SPNGChannelRMS', 'noise-' + group.name, { cut: 5 }, [image]),

    /// Whether the filter set looks for long pulses in the loose image of this kind of group.
    has_long_pulses(group):: std.objectHas(settings(group), 'long_pulses'),
    LongPulses(group, image=null):: node('SPNGLongPulses', group.name, settings(group).long_pulses { cyclic: group.cyclic }, [image]),

    /// One set of the tensors of several.
    FaninTensorSets(name, group, sets):: node('SPNGFaninTensorSets', name + '-' + group.name, { multiplicity: std.length(sets) }, sets),

    ThresholdROIs(group, images=null)::
        node('SPNGThresholdROIs', group.name, settings(group).witness {
            passes: settings(group).passes,
            output: if group.kind == 'collection' then 'roi' else 'regions',
        }, [images]),

    CoincidenceROIs(group, images=null, coincidence=null)::
        local keys = settings(group).rois { passes: settings(group).passes, cyclic: group.cyclic };
        node('SPNGCoincidenceROIs', group.name, keys, [images, coincidence]),

    /// Resolve the argument `model`. The network of a detector was trained on the images of its default filter set only.
    model_file(name, anode)::
        if name == 'standin' then 'dnnroi-standin.ts'
        else if name != 'default' then name
        else if set_name == det.filter_set && std.objectHasAll(det, 'model') then det.model(anode)
        else 'none',

    /// The input of a network: that of its training must be the same. The strings of the filters are compared as they are.
    network_input(group)::
        local anode = anode_of(group.views[0]);
        local wire = std.get(settings(group), 'wire', det.wire_filter[group.kind]);
        local low_pass(low) = '%g MHz, power %g' % [low.sigma / wc.megahertz, low.power];
        local filters(image, plane) =
            local high = std.get(image, 'high');
            'low pass ' + low_pass(image.low[plane])
            + (if high == null then '' else ', high pass %g MHz' % (high / wc.megahertz))
            + ', along wires %g' % wire.sigma;
        local names = spng.network_images;
        {
            detectors: if std.objectHasAll(det, 'network_detectors') then det.network_detectors(anode) else [det.name],
            filter_set: set_name,
            tick: det.readout.tick,
            features: names + ['mp2', 'mp3'],
            images: [
                { image: name, plane: plane, filters: filters(settings(group).images[name], plane) }
                for name in names
                for plane in std.set([view.plane for view in group.views])
            ],
        },

    TorchService(group):: component('SPNGTorchService', group.network, {
        model: group.model,
        layout: std.get(group, 'network_layout', 'auto'),
        [if std.objectHas(group, 'network_timeout') then 'timeout']: group.network_timeout,
        [if std.objectHas(group, 'network_output') then 'bad_output']: group.network_output,
        [if std.get(group, 'model_server', '') != '' then 'forward']: 'kserve',
        [if std.get(group, 'model_server', '') != '' then 'server']: group.model_server,
        [if std.get(group, 'remote_model', '') != '' then 'remote_model']: group.remote_model,
        probe: [std.length(group.views), group.channels, std.floor(det.readout.nticks / spng.rebin)],
    }),

    /// images: the loose and the tight one
    DNNROI(group, images=null, coincidence=null)::
        local service = spng.TorchService(group);
        node('SPNGDNNROI', group.name, {
            forward: wc.tn(service),
            input: spng.network_input(group),
            [if std.get(group, 'mask_threshold') != null then 'mask_threshold']: group.mask_threshold,
        }, [images, coincidence], uses=[service]),

    /// batch: all groups of the group's anodes; regions: their ROIs, in this order
    NoTileMPCoincidence(group, batch, regions, dead_is_hit=false, wire_tolerance=1)::
        local views = spng.ViewGroups(group.groups);
        node('SPNGNoTileMPCoincidence', group.name, {
            groups: wc.tn(views),
            input_groups: [each.name for each in batch],
            target_group: group.name,
            wire_tolerance: wire_tolerance,
            dead_is_hit: dead_is_hit,
        }, regions, uses=[views]),

    /// summary: null, or an image with the noise of the channels
    ApplyROI(name, group, waveforms=null, roi=null, output='signal', summary=null)::
        node('SPNGApplyROI', name + '-' + group.name, {
            baseline: roi_baseline(group),
            output: output,
            summary: summary != null,
        }, [waveforms, roi] + (if summary == null then [] else [summary])),

    ChargeError(group, waveforms=null, roi=null)::
        node('SPNGChargeError', group.name, { baseline: roi_baseline(group) }, [waveforms, roi]),

    /// sets: with the tags; split: one frame and one port for each anode, instead of one frame for all
    /// window_tags: additional tags for the readout windows of long readouts
    TorchTensorSetToFrameFanin(groups, sets, tags, split=false, window_tags=[], on_device=false)::
        local views = spng.ViewGroups(groups);
        node('SPNGTorchTensorSetToFrameFanin', label, {
            groups: wc.tn(views),
            multiplicity: std.length(sets),
            tags: tags,
            window_tags: window_tags,
            [if split then 'anodes']: names(planes),
            [if on_device then 'results_on_device']: true,
        }, sets, if split then std.length(planes) else 1, [views]),

    /// region_tags: the tags that are zero outside the ROIs
    StitchWindows(tags, region_tags, name='', frames=null)::
        node('SPNGStitchWindows', name, { tags: tags, region_tags: region_tags }, [frames]),

    /// form: dense or sparse
    FrameFileSink(filename, name='', behind=true, form='dense', frames=null)::
        node('FrameFileSink', name, { outname: filename, write_behind: behind, frames: form }, [frames], 0),

    TensorTap(name, filename, sets=null):: node('SPNGTensorTap', name, { filename: filename }, [sets]),

    Discard(name, sets=null):: node('SPNGDiscard', name, {}, [sets], 0),
}
