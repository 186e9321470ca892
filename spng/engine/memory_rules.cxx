#include "spng/engine/memory_rules.h"

#include "spng/core/fft_size.h"

#include <utility>

namespace spng {
namespace {

// Numbers of copies below are those of the CPU's steps (AllocationScope around each call); compositions of
// ATen operations on devices take up to twice as much for a moment.

using Sets = std::vector<PlannedSet>;

std::int64_t whole(const nlohmann::json& data, const char* key, std::int64_t standard) {
    return data.contains(key) && data[key].is_number() ? data[key].get<std::int64_t>() : standard;
}

bool truth(const nlohmann::json& data, const char* key) {
    return data.contains(key) && data[key].is_boolean() && data[key].get<bool>();
}

std::int64_t bytes_of(const PlannedSet& set) {
    std::int64_t bytes = 0;
    for (const auto& tensor : set) {
        bytes += tensor.block->bytes();
    }
    return bytes;
}

/// ADC samples of all channels, two bytes each.
Sets read_frame(PlannedCall& call) {
    std::int64_t samples = 0;
    for (const auto& group : call.groups) {
        samples += group.samples();
    }
    return Sets(call.outputs, {call.make({1, samples, 1, nullptr}, MemoryUse::input, 2)});
}

Sets split_frame(PlannedCall& call) {
    Sets outputs;
    for (const auto& group : call.groups) {
        outputs.push_back({call.make(group, MemoryUse::input, 2)});
    }
    outputs.resize(call.outputs);
    return outputs;
}

Sets remove_noise(PlannedCall& call) {
    const PlannedTensor& adc = call.inputs.at(0).at(0);
    const auto working = call.scratch(MemoryUse::input, adc.samples() * call.real);
    return {{call.make(adc, MemoryUse::input, call.real)}};
}

/// Baseline and padding, transform along ticks, along channels, product, transform back: three spectra beside
/// the result, and one more where channels are padded.
Sets deconvolve(PlannedCall& call) {
    const PlannedTensor& adc = call.inputs.at(0).at(0);
    const bool padded = truth(call.data, "pad_wire_domain");
    const std::int64_t row = 2 * call.real * planned_frequencies(adc.ticks);
    const std::int64_t working = adc.views * planned_channels(adc.channels, padded) * row * (padded ? 4 : 3);
    const auto held = call.scratch(MemoryUse::spectra, working);
    PlannedTensor spectrum = adc;
    spectrum.block = call.scratch(MemoryUse::spectra, adc.views * adc.channels * row);
    return {{spectrum}};
}

/// A product of the needed frequencies, then the inverse transform, which keeps the padding.
Sets filter(PlannedCall& call) {
    const PlannedTensor& spectrum = call.inputs.at(0).at(0);
    const std::int64_t rebin = whole(call.data, "rebin", 1);
    const std::int64_t product =
        spectrum.views * spectrum.channels * planned_frequencies(spectrum.ticks) * 2 * call.real / rebin;
    const auto held = call.scratch(MemoryUse::images, product);
    PlannedTensor image = spectrum;
    image.ticks = spectrum.ticks / rebin;
    image.block = call.scratch(MemoryUse::images, product); // a padded waveform is as large as its spectrum
    return {{image}};
}

Sets add_noise_estimate(PlannedCall& call) {
    const auto working = call.scratch(MemoryUse::images, bytes_of(call.inputs.at(0)) / 4);
    return {call.inputs.at(0)};
}

Sets find_long_pulses(PlannedCall& call) {
    const PlannedTensor& image = call.inputs.at(0).at(0);
    const auto lengths = call.data.contains("samples") && call.data["samples"].is_array()
                             ? static_cast<std::int64_t>(call.data["samples"].size())
                             : 2;
    const auto working = call.scratch(MemoryUse::images, image.samples() * call.real * 5 / 4);
    PlannedSet images = call.inputs.at(0);
    for (std::int64_t i = 0; i < lengths; ++i) {
        images.push_back(call.make(image, MemoryUse::images, call.real));
    }
    return {images};
}

Sets find_regions(PlannedCall& call) {
    const PlannedTensor& image = call.inputs.at(0).at(0);
    const auto working = call.scratch(MemoryUse::masks, image.samples() / 2);
    return Sets(call.outputs, {call.make(image, MemoryUse::masks, 1)});
}

Sets find_coincidence(PlannedCall& call) {
    // The products are for one of the groups; the largest is the worst.
    PlannedTensor target = call.inputs.at(0).at(0);
    for (const auto& set : call.inputs) {
        target = set.at(0).samples() > target.samples() ? set.at(0) : target;
    }
    const auto working = call.scratch(MemoryUse::masks, target.samples());
    return {{call.make(target, MemoryUse::masks, 1), call.make(target, MemoryUse::masks, 1)}};
}

/// Memory of a forward of the shipped network, bytes per sample of one view: its widest layers of features at
/// the input's resolution. Others may take more or less; SPNGTorchService measures its own.
constexpr std::int64_t forward_bytes_per_sample = 64;
constexpr std::int64_t network_features = 3;

Sets run_network(PlannedCall& call) {
    const PlannedTensor& image = call.inputs.at(0).at(0);
    const auto features = call.scratch(MemoryUse::network, network_features * 4 * image.samples());
    { const auto layers = call.scratch(MemoryUse::network, forward_bytes(image.samples())); }
    const auto probability = call.scratch(MemoryUse::network, 4 * image.samples());
    return {{call.make(image, MemoryUse::masks, 1)}};
}

Sets apply_regions(PlannedCall& call) {
    const PlannedTensor& waveform = call.inputs.at(0).at(0);
    const auto working = call.scratch(MemoryUse::images, waveform.samples() * call.real);
    return {{call.make(waveform, MemoryUse::images, call.real)}};
}

/// float32 at the readout's rate, one frame for each kind of input.
Sets pack_frame(PlannedCall& call) {
    PlannedSet frame;
    for (const auto& set : call.inputs) {
        for (PlannedTensor tensor : set) {
            tensor.ticks = call.ticks;
            frame.push_back(call.make(tensor, MemoryUse::images, 4));
        }
    }
    return Sets(call.outputs, frame);
}

Sets end(PlannedCall&) {
    return {};
}

} // namespace

Sets pass_on(PlannedCall& call) {
    PlannedSet all;
    for (const auto& set : call.inputs) {
        all.insert(all.end(), set.begin(), set.end());
    }
    return Sets(call.outputs, all);
}

std::int64_t forward_bytes(std::int64_t samples) {
    return forward_bytes_per_sample * samples;
}

std::int64_t planned_frequencies(std::int64_t ticks) {
    constexpr std::int64_t response_ticks = 280; // of the detectors in cfg/detectors, 130 us and more
    return fast_fft_size(ticks + response_ticks, 4) / 2 + 1;
}

std::int64_t planned_channels(std::int64_t channels, bool padded) {
    constexpr std::int64_t response_wires = 20; // beside the one of interest
    return padded ? fast_fft_size(channels + response_wires) : channels;
}

void MemoryLedger::add(MemoryUse use, std::int64_t bytes) {
    m_live.at(static_cast<std::size_t>(use)) += bytes;
    if (sum_of(m_live) > sum_of(m_peak)) {
        m_peak = m_live;
        m_peak_place = m_place;
    }
}

PlannedTensor PlannedCall::make(PlannedTensor like, MemoryUse use, std::int64_t bytes_per_sample) const {
    like.block = scratch(use, like.samples() * bytes_per_sample);
    return like;
}

MemoryBlockPtr PlannedCall::scratch(MemoryUse use, std::int64_t bytes) const {
    return std::make_shared<const MemoryBlock>(ledger, use, bytes);
}

const std::map<std::string, MemoryRule>& memory_rules() {
    static const std::map<std::string, MemoryRule> rules{
        {"FrameFileSource", read_frame},
        {"SPNGFrameToTorchSetFanout", split_frame},
        {"SPNGCoherentNoiseFilter", remove_noise},
        {"SPNGDecon", deconvolve},
        {"SPNGApply1DSpectrum", filter},
        {"SPNGChannelRMS", add_noise_estimate},
        {"SPNGLongPulses", find_long_pulses},
        {"SPNGThresholdROIs", find_regions},
        {"SPNGCoincidenceROIs", find_regions},
        {"SPNGNoTileMPCoincidence", find_coincidence},
        {"SPNGDNNROI", run_network},
        {"SPNGApplyROI", apply_regions},
        {"SPNGTorchTensorSetToFrameFanin", pack_frame},
        {"SPNGFanoutTensorSets", pass_on},
        {"SPNGFaninTensorSets", pass_on},
        {"SPNGTensorTap", pass_on},
        {"SPNGStitchWindows", pass_on},
        {"SPNGDiscard", end},
        {"FrameFileSink", end},
    };
    return rules;
}

} // namespace spng
