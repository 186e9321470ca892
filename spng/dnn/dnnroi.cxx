#include "spng/dnn/dnnroi.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/dnn/roi_features.h"

#include <cmath>

namespace spng {
namespace {

const Registration<DNNROI> registration{{.type = "SPNGDNNROI",
                                         .kind = "dnn",
                                         .inputs = {"images", "coincidence"},
                                         .outputs = {"regions"},
                                         .text = "regions by a trained network"}};

} // namespace

void DNNROI::prepare_node(Environment& environment) {
    m_service = &environment.service<TorchService>(config().forward, name().text() + ", key forward");
    const auto scale = m_service->metadata().scale;
    if (scale && std::abs(*scale - config().input_scale) > 1e-6 * *scale) {
        throw Error(ErrorKind::Model, {.what = "the network was made for another scale of the charge",
                                       .where = name().text() + ", key input_scale",
                                       .seen = std::to_string(config().input_scale),
                                       .expected = std::to_string(*scale),
                                       .mend = "set input_scale to what the network expects"});
    }
}

void DNNROI::check_sampling(const TensorSet& images, const NamedTensor& image) const {
    const auto rebin = m_service->metadata().rebin;
    const auto ticks = std::llround(image.axes.back().period / images.event().tick);
    if (rebin && *rebin != ticks) {
        throw Error(ErrorKind::Model, {.what = "the network was made for another sampling",
                                       .where = "tensor " + image.name,
                                       .seen = std::to_string(ticks) + " ticks in a sample",
                                       .expected = std::to_string(*rebin),
                                       .mend = "set rebin of the filters before it"});
    }
}

Ports DNNROI::process(const Ports& inputs) {
    const TensorSetPtr both = merge(inputs);
    const auto& features = m_service->config().features;
    const NamedTensor& image = both->at(features.front());
    check_sampling(*both, image);
    at::Tensor stacked;
    {
        NVTX_SCOPED_RANGE("DNNROI::stack");
        std::vector<at::Tensor> images;
        for (const auto& feature : features) {
            images.push_back(both->at(feature).data);
        }
        stacked = stack_features(images, config().input_scale, config().input_offset);
    }
    const at::Tensor probability = m_service->forward(stacked);
    NamedTensor regions = image;
    regions.name = config().output;
    regions.unit.clear();
    regions.notes.merge(m_service->notes());
    {
        NVTX_SCOPED_RANGE("DNNROI::threshold");
        regions.data = probable_regions(probability, config().mask_threshold,
                                        image.channels ? image.channels->good : at::Tensor{});
    }
    std::vector tensors{regions};
    if (!config().probability.empty()) {
        regions.name = config().probability;
        regions.data = probability;
        tensors.push_back(std::move(regions));
    }
    return {std::make_shared<const TensorSet>(both->event_ptr(), std::move(tensors))};
}

} // namespace spng
