// SPDX-License-Identifier: Apache-2.0
// The steps of the simulation as parts of a graph for one anode of a detector description (detectors/*.jsonnet). Each node type
// has one function, with its name, as in spng.jsonnet.
local make_services = import 'services.jsonnet';
local wc = import 'wirecell.jsonnet';

/// det: detector description; anode: index of the anode; seed: seed of all random numbers of the job
function(det, anode, seed=1) {
    local label = 'anode' + anode,

    local services = make_services(det),
    local node = services.node,
    local anode_plane = services.anode_plane(anode),

    // Nodes ----------------------------------------------------------------------------------------------------------

    /// kind: tracks, muons, blips, line or none; count: tracks, muons or blips in an event; plane, angles: for ideal lines, where
    /// an empty list means all angles of the line scan; extra: further keys of the node
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
        } + extra, [], uses=[anode_plane]),

    DepoFileSource(filename, nevents=-1)::
        node('SPNGDepoFileSource', label, { inname: filename, nevents: nevents }, []),

    DepoFileSink(filename, name=label, depos=null):: node('SPNGDepoFileSink', name, { outname: filename }, [depos], 0),

    /// extra: further keys of the node
    Drifter(extra={}, depos=null)::
        node('SPNGDrifter', label, {
            anode: wc.tn(anode_plane),
            volumes: det.drift_volumes(anode),
            drift_speed: det.lar.drift_speed,
            longitudinal_diffusion: det.lar.longitudinal_diffusion,
            transverse_diffusion: det.lar.transverse_diffusion,
            lifetime: det.lar.lifetime,
            seed: seed,
        } + extra, [depos], uses=[anode_plane]),

    // From drifted charge to ADC counts -------------------------------------------------------------------------------

    local field = services.field_response(anode),
    local electronics = services.electronics,
    local adc_per_voltage = services.adc_per_voltage,

    // Waveforms have the sampling of the detector's frames, the truth that of the output of the chain.
    local raw_readout = services.raw_readout,

    /// Position and time of the charge's readout. The readout starts earlier by the drift time from the response plane to the
    /// wires, so that charge deposited at the wires at det.readout.start is in the first tick, as in the Wire-Cell Toolkit's
    /// simulation.
    local readout = {
        local volumes = det.drift_volumes(anode),
        anode: wc.tn(anode_plane),
        faces: [{ face: volume.face, x: volume.response } for volume in volumes],
        drift_speed: det.lar.drift_speed,
        start: det.readout.start - det.response_plane.distance / det.lar.drift_speed,
        tick: det.readout.tick,
        nticks: det.readout.nticks,
    },

    /// extra: further keys of the node
    DepoTransform(extra={}, depos=null)::
        node('SPNGDepoTransform', label, readout {
            tick: raw_readout.tick,
            nticks: raw_readout.nticks,
            field_response: wc.tn(field),
            elec_response: [wc.tn(each) for each in electronics],
            ADC_mV: adc_per_voltage,
        } + extra, [depos], uses=[anode_plane, field] + electronics),

    /// The truth has the time at which the charge reaches the wires: after the way from the response plane at the speed of the
    /// field response.
    DepoFluxSplat(extra={}, depos=null)::
        node('SPNGDepoFluxSplat', label, readout + det.truth {
            delay: det.response_plane.distance / det.response_plane.speed,
        } + extra, [depos], uses=[anode_plane]),

    /// coherent: RMS in ADC counts of the noise that channels of one front-end board share; extra: further keys of the node
    AddNoise(coherent=0, extra={}, waveforms=null)::
        node('SPNGAddNoise', label, {
            anode: wc.tn(anode_plane),
            spectra: det.noise_spectra,
            ADC_mV: adc_per_voltage,
            tick: raw_readout.tick,
            nticks: raw_readout.nticks,
            seed: seed,
            coherent_rms: coherent,
        } + extra, [waveforms], uses=[anode_plane]),

    Digitizer(waveforms=null)::
        node('SPNGDigitizer', label, {
            anode: wc.tn(anode_plane),
            baselines: det.digitiser.baselines,
            bits: det.digitiser.bits,
        }, [waveforms], uses=[anode_plane]),

    /// filename: raw waveforms; tag: of them; others: reject or ignore channels of other anodes
    Overlay(filename, tag='', others='reject', waveforms=null)::
        node('SPNGOverlay', label, {
            inname: filename,
            intag: tag,
            bits: det.digitiser.bits,
            other_channels: others,
        }, [waveforms]),

    /// form: dense or sparse
    FrameFileSink(filename, name, form='dense', frames=null)::
        node('FrameFileSink', name, { outname: filename, frames: form }, [frames], 0),

    Discard(name, frames=null):: node('SPNGDiscard', name, {}, [frames], 0),

    Fanout(name, multiplicity, frames=null):: node('SPNGFanoutTensorSets', name, { multiplicity: multiplicity }, [frames], multiplicity),
}
