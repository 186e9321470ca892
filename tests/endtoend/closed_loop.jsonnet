// SPDX-License-Identifier: Apache-2.0
// Deconvolution and the return to ticks alone, tapped: what a known charge comes back as.
local det = import 'detectors/pdhd.jsonnet';
local pg = import 'pgraph.jsonnet';
local make_spng = import 'spng.jsonnet';

/// Both filters left out, so that deconvolution inverts the response.
local without_filters = {
    WireFilter(group, image=''):: self.Torch1DSpectrum('one', []),
    TimeFilter(name, group, plane):: self.Torch1DSpectrum('one', []),
};

/// output    stem of the dumped files, OUTPUT-GROUP.npz
/// filtered  true: with the detector's filters
function(input, output, dtype, filtered, device='cpu')
    local spng = make_spng(det, 0) + (if filtered == 'true' then {} else without_filters);
    local groups = det.groups(0);
    local waveforms = spng.FrameToTorchSetFanout(groups, frames=spng.FrameFileSource([input]));
    local end(group, i) =
        local charge = spng.Apply1DSpectrum('gauss', group, spng.Decon(group, pg.output(waveforms, i)));
        spng.Discard(group.name, spng.TensorTap(group.name, output + '-' + group.name + '.npz', charge));
    local context = { type: 'SPNGContext', data: { device: device, dtype: dtype, threads: 2 } };
    pg.main(pg.graph([end(groups[i], i) for i in std.range(0, std.length(groups) - 1)]), uses=[context])
