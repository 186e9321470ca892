#include "spng/roi/threshold_rois.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/roi/region_growth.h"

namespace spng {
namespace {

const Registration<ThresholdROIs> registration{{.type = "SPNGThresholdROIs",
                                                .kind = "roi",
                                                .inputs = {"images"},
                                                .outputs = {"regions"},
                                                .text = "regions where a channel exceeds its noise"}};

} // namespace

Ports ThresholdROIs::process(const Ports& inputs) {
    NVTX_SCOPED_RANGE("ThresholdROIs::threshold");
    const TensorSet& images = *inputs[0];
    const NamedTensor& image = images.at(config().image);
    at::Tensor mask;
    if (config().passes.empty()) {
        mask = above(image, config().threshold_rms_factor, config().nominal);
    }
    for (const auto& pass : config().passes) {
        const at::Tensor grown =
            grown_seeds(images, pass, config().threshold_rms_factor, 0, config().grow_rms_factor, {});
        mask = mask.defined() ? mask.logical_or(grown) : grown;
    }
    if (config().weak_rms_factor > 0) {
        mask = mask.logical_or_(above(image, config().weak_rms_factor));
    }
    if (config().pad > 0) {
        mask = grow_regions(mask, mask, config().pad, config().pad);
    }
    NamedTensor regions;
    regions.name = config().output;
    regions.data = mask;
    regions.summary = image.summary;
    regions.axes = image.axes;
    regions.channels = image.channels;
    return {std::make_shared<const TensorSet>(inputs[0]->event_ptr(), std::vector{std::move(regions)})};
}

} // namespace spng
