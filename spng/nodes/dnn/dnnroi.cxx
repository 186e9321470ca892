// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/dnnroi.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/log/log.h"
#include "spng/core/notes.h"
#include "spng/core/rows/encodings.h"
#include "spng/core/tensor_checks.h"
#include "spng/device/context.h"
#include "spng/graph/reported.h"
#include "spng/graph/tensor_node.h"
#include "spng/nodes/dnn/roi_features.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>

namespace spng {
namespace {

/// Memory of a forward of the shipped network [bytes per sample of one view]: its widest feature layers at
/// the resolution of the input. Other networks need more or less; SPNGTorchService measures the loaded one.
constexpr std::int64_t forward_bytes_per_sample = 64;
/// The part of it beside the layers, which a network on a server needs here too: padded features and joined output.
constexpr std::int64_t beside_bytes_per_sample = 20;

std::vector<PlannedSet> plan_memory(const DNNROIConfig& config, PlannedCall& call) {
    const auto* service = dynamic_cast<const TorchService*>(call.environment->find(config.forward));
    const PlannedTensor& image = call.inputs.at(0).at(0);
    const bool is_remote = service != nullptr && service->is_remote();
    const std::int64_t forward =
        (is_remote ? beside_bytes_per_sample : forward_bytes_per_sample) * image.samples();
    if (!is_remote) { // tiles save memory of layers
        call.ledger.network = std::max(call.ledger.network, forward);
    }
    // The features of the network if they are known before the start, else all inputs.
    const std::size_t known = service == nullptr ? 0 : service->known_features().size();
    const std::size_t count = known > 0 ? known : call.inputs.at(0).size() + call.inputs.at(1).size();
    const auto features =
        call.scratch(MemoryUse::network, static_cast<std::int64_t>(count) * 4 * image.samples());
    { const auto layers = call.scratch(MemoryUse::network, forward); }
    const auto probability = call.scratch(MemoryUse::network, 4 * image.samples());
    return {{planned_mask(call, image)}};
}

const Registration<DNNROI> registration{{.type = "SPNGDNNROI",
                                         .kind = "dnn",
                                         .inputs = {"images", "coincidence"},
                                         .outputs = {"regions"},
                                         .text = "finds ROIs with a trained network",
                                         .memory = memory_rule<DNNROI>({.call = plan_memory})}};

} // namespace

void DNNROI::prepare_node(Environment& environment) {
    m_service = &environment.service<TorchService>(config().forward, at_key("forward"));
    const auto scale = m_service->metadata().scale;
    if (scale && std::abs(*scale - config().input_scale) > 1e-6 * *scale) {
        throw Error(ErrorKind::Model, {.what = "the network was trained with another scale of the charge",
                                       .where = "key input_scale; " + m_service->notes().at("model"),
                                       .seen = std::to_string(config().input_scale),
                                       .expected = std::to_string(*scale),
                                       .hint = "set input_scale to the expected value"});
    }
    require_trained_input(config().input, m_service->features(), m_service->metadata().trained_input,
                          "key input; " + m_service->notes().at("model"));
    m_notes = m_service->notes();
    make_output_watch();
    warn_of_missing_properties();
    if (m_service->metadata().noise) {
        noise_of_planes(m_service->features().front()); // throws if the file lacks it
    }
    m_mask_threshold = config().mask_threshold >= 0 ? config().mask_threshold
                                                    : m_service->metadata().mask_threshold.value_or(0.5);
}

void DNNROI::make_output_watch() {
    m_output_watch = std::make_unique<OutputWatch>(name().text(), m_service->notes().at("model"),
                                                   m_service->rejects_output());
}

void DNNROI::begin_run(Environment&) {
    make_output_watch();
    if (const auto& noise = m_service->metadata().noise) {
        m_watch = std::make_unique<NoiseWatch>(name().text(), m_service->notes().at("model"),
                                               m_service->features().front(), *noise);
    }
}

void DNNROI::warn_of_missing_properties() {
    const ModelMetadata& metadata = m_service->metadata();
    const auto missing = properties_not_given(metadata);
    if (missing.empty() || metadata.stand_in) {
        return;
    }
    m_notes["network_not_compared"] = joined(missing);
    m_warnings.push_back(
        m_notes.at("model") + (metadata.text.empty() ? " has no metadata" : " lacks metadata") +
        ": the job does not compare " + joined(missing) + " with the training of the network" +
        (metadata.inputs.empty() ? ", and takes " + joined(m_service->features()) + " as its features" : "") +
        ". Write its input into the file: python -m scripts.dnnroi.job_input");
    log::warn(name().text(), m_warnings.back());
}

const std::vector<double>& DNNROI::noise_of_planes(const std::string& image) const {
    const auto& of_images = m_service->metadata().noise->planes;
    const auto found = of_images.find(image);
    if (found == of_images.end()) {
        throw Error(ErrorKind::Model, {.what = "the file of the network lacks the noise of an image",
                                       .where = m_service->notes().at("model"),
                                       .seen = "no " + image + " in training_noise",
                                       .expected = "the noise of each charge image",
                                       .hint = "export the network again: python -m scripts.dnnroi"});
    }
    return found->second;
}

at::Tensor DNNROI::training_noise(const std::vector<const NamedTensor*>& images) {
    const auto& planes = images.front()->channels->planes;
    return m_training_noise.get(static_cast<std::int64_t>(planes.size()), context().device(), [&] {
        std::vector<double> noise;
        for (const NamedTensor* image : images) {
            const auto& of_plane = noise_of_planes(image->name);
            for (const int plane : planes) {
                if (plane < 0 || static_cast<std::size_t>(plane) >= of_plane.size()) {
                    throw Error(ErrorKind::Model,
                                {.what = "the network was not trained on this plane",
                                 .where = "tensor " + image->name,
                                 .seen = "plane " + std::to_string(plane),
                                 .expected = "planes 0 to " + std::to_string(of_plane.size() - 1) +
                                             ", as in training_noise of the model file",
                                 .hint = "use SPNGCoincidenceROIs (-A model=none) for this group"});
                }
                noise.push_back(of_plane[plane]);
            }
        }
        return at::tensor(noise, at::TensorOptions().dtype(images.front()->summary.scalar_type()))
            .unsqueeze(1);
    });
}

at::Tensor DNNROI::expected_ratio(const std::vector<const NamedTensor*>& images) {
    if (std::ranges::any_of(images, [](const auto* image) { return !image->expected_noise.defined(); })) {
        return {};
    }
    const auto& planes = images.front()->channels->planes;
    return m_expected_ratio.get(static_cast<std::int64_t>(planes.size()), context().device(), [&] {
        std::vector<double> ratio;
        for (const NamedTensor* image : images) {
            const at::Tensor expected = image->expected_noise.cpu().contiguous();
            const std::int64_t rows = expected.size(1);
            for (std::size_t view = 0; view < planes.size(); ++view) {
                const auto own = [&](const auto* values) {
                    const auto* first = values + static_cast<std::int64_t>(view) * rows;
                    return std::vector<double>(first, first + rows);
                };
                auto noise = expected.scalar_type() == at::kDouble ? own(expected.const_data_ptr<double>())
                                                                   : own(expected.const_data_ptr<float>());
                const auto middle = noise.begin() + (rows - 1) / 2;
                std::nth_element(noise.begin(), middle, noise.end());
                ratio.push_back(*middle / noise_of_planes(image->name).at(planes[view]));
            }
        }
        return at::tensor(ratio, at::TensorOptions().dtype(images.front()->summary.scalar_type()))
            .unsqueeze(1);
    });
}

at::Tensor DNNROI::divisor_for(const std::vector<const NamedTensor*>& images, Reports& reports,
                               Notes& notes) {
    if (!m_watch) {
        return {};
    }
    std::vector<at::Tensor> rms, good;
    for (const NamedTensor* image : images) {
        if (!image->summary.defined() || !image->channels) {
            throw Error(ErrorKind::Configuration,
                        {.what = "the network needs the noise of its charge images",
                         .where = "tensor " + image->name,
                         .seen = "no summary",
                         .expected = "the RMS (view, channel) as summary",
                         .hint = "put an SPNGChannelRMS between the filter and SPNGDNNROI, as in "
                                 "cfg/pipeline.jsonnet"});
        }
        rms.push_back(image->summary);
        if (image->channels->good.defined()) {
            good.push_back(image->channels->good);
        }
    }
    const bool is_one = images.size() == 1;
    const auto joined = [is_one](const std::vector<at::Tensor>& parts) {
        return parts.empty() ? at::Tensor{} : is_one ? parts.front() : at::cat(parts);
    };
    const InputNoise noise = input_noise(joined(rms), joined(good), training_noise(images),
                                         config().hot_channel, expected_ratio(images));
    const at::Tensor& first = rms.front();
    const auto& channels = *images.front()->channels;
    std::vector<NoiseWatch::View> views;
    for (std::size_t i = 0; i < channels.planes.size(); ++i) {
        views.push_back({channels.views.at(i), channels.planes[i]});
    }
    const at::Tensor ratio = noise.ratio.narrow(0, 0, first.size(0));
    // A CUDA graph may keep this for events of later runs, which have another watch.
    const auto observe = [this, views = std::move(views)](const at::Tensor& values) {
        return m_watch->observe(values, views);
    };
    merge_notes(notes, reported(name().text(), ratio, channels.ids, observe, reports));
    return noise.divisor.view({static_cast<std::int64_t>(images.size()), first.size(0), first.size(1)});
}

void DNNROI::watch_output(const at::Tensor& probability, const NamedTensor& image, Reports& reports,
                          Notes& notes) {
    NVTX_SCOPED_RANGE("DNNROI::watch");
    const at::Tensor extremes = extremes_of(probability);
    // A CUDA graph may keep this for events of later runs.
    const at::Tensor channels = image.channels ? image.channels->ids : at::empty({0}, at::kInt);
    const auto observe = [this](const at::Tensor& values) { return m_output_watch->observe(values); };
    merge_notes(notes, reported(name().text() + " output", extremes, channels, observe, reports));
}

void DNNROI::finish() {
    if (m_watch) {
        m_watch->report();
    }
}

instrument::InputReport DNNROI::input_report() const {
    instrument::InputReport report;
    report.warnings = m_warnings;
    report.network_inputs[name().text()] = json_of(config().input);
    if (m_watch) {
        report.network_noise = m_watch->network_noise();
        const auto warnings = m_watch->warnings();
        report.warnings.insert(report.warnings.end(), warnings.begin(), warnings.end());
    }
    return report;
}

void DNNROI::check_sampling(const TensorSet& images, const NamedTensor& image) const {
    const auto rebin = m_service->metadata().rebin;
    const auto ticks = std::llround(image.axes.back().period / images.event().tick);
    if (rebin && *rebin != ticks) {
        throw Error(ErrorKind::Model, {.what = "the network was trained with another sampling",
                                       .where = "tensor " + image.name,
                                       .seen = std::to_string(ticks) + " ticks per sample",
                                       .expected = std::to_string(*rebin),
                                       .hint = "set rebin of the filters before it"});
    }
}

Ports DNNROI::process(const Ports& inputs) {
    const TensorSetPtr both = merge(inputs);
    const auto& features = m_service->features();
    const NamedTensor& image = both->at(features.front());
    check_sampling(*both, image);
    at::Tensor stacked;
    Notes notes = m_notes;
    Reports reports;
    {
        NVTX_SCOPED_RANGE("DNNROI::stack");
        std::vector<at::Tensor> tensors;
        std::vector<const NamedTensor*> images;
        for (const auto& feature : features) {
            const NamedTensor& tensor = both->at(feature);
            if (is_real(tensor.data)) {
                images.push_back(&tensor);
            }
            tensors.push_back(is_real(tensor.data) ? tensor.data : packed_mask(tensor));
        }
        stacked = stack_features(tensors, mask_samples(image), config().input_scale, config().input_offset,
                                 divisor_for(images, reports, notes));
    }
    const at::Tensor probability = m_service->forward(stacked);
    watch_output(probability, image, reports, notes);
    NamedTensor regions = like(image, config().output, {});
    regions.unit.clear();
    merge_notes(regions.notes, notes);
    {
        NVTX_SCOPED_RANGE("DNNROI::threshold");
        regions.data = probable_regions(probability, m_mask_threshold,
                                        image.channels ? image.channels->good : at::Tensor{});
        regions.encoding = PackedMask{probability.size(2)};
    }
    std::vector tensors{regions};
    if (!config().probability.empty()) {
        regions.name = config().probability;
        regions.data = probability;
        regions.encoding = DenseSamples{};
        tensors.push_back(std::move(regions));
    }
    return output_of(both, std::move(tensors), std::move(reports));
}

} // namespace spng
