#include "spng/roi/coincidence_rois.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/roi/region_growth.h"

namespace spng {
namespace {

const Registration<CoincidenceROIs> registration{{.type = "SPNGCoincidenceROIs",
                                                  .kind = "roi",
                                                  .inputs = {"images", "coincidence"},
                                                  .outputs = {"regions"},
                                                  .text = "regions from seeds that the other views confirm"}};

} // namespace

Ports CoincidenceROIs::process(const Ports& inputs) {
    NVTX_SCOPED_RANGE("CoincidenceROIs::grow");
    const TensorSet& images = *inputs[0];
    const at::Tensor confirmed = inputs[1]->at("mp2").data.logical_or(inputs[1]->at("mp3").data);
    const NamedTensor& neighbour_image = images.at(config().neighbour_image);
    at::Tensor mask;
    for (const auto& pass : config().passes) {
        const at::Tensor core =
            grown_seeds(images, pass, config().seed_rms_factor, config().lone_seed_rms_factor,
                        config().grow_rms_factor, confirmed);
        if (mask.defined()) {
            mask = mask.logical_or(core);
        } else {
            mask = with_neighbours(core, config().cyclic)
                       .logical_and_(confirmed)
                       .logical_and_(above(neighbour_image, config().neighbour_rms_factor))
                       .logical_or_(core);
        }
    }
    NamedTensor regions;
    regions.name = config().output;
    regions.data = grow_regions(mask, mask, config().pad, config().pad);
    regions.axes = neighbour_image.axes;
    regions.channels = neighbour_image.channels;
    return {std::make_shared<const TensorSet>(inputs[0]->event_ptr(), std::vector{std::move(regions)})};
}

} // namespace spng
