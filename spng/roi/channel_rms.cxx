#include "spng/roi/channel_rms.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/roi/robust_rms.h"

namespace spng {
namespace {

const Registration<ChannelRMS> registration{{.type = "SPNGChannelRMS",
                                             .kind = "roi",
                                             .inputs = {"waveforms"},
                                             .outputs = {"waveforms"},
                                             .text = "adds the noise RMS of each channel"}};

} // namespace

Ports ChannelRMS::process(const Ports& inputs) {
    NVTX_SCOPED_RANGE("ChannelRMS::rms");
    std::vector<NamedTensor> tensors = inputs[0]->tensors();
    for (auto& tensor : tensors) {
        if (config().rms == "robust") {
            const ChannelNoise noise = robust_noise(tensor.data, config().cut);
            tensor.summary = noise.rms;
            tensor.pedestal = noise.median;
        } else {
            tensor.summary = plain_rms(tensor.data);
        }
    }
    return {std::make_shared<const TensorSet>(inputs[0]->event_ptr(), std::move(tensors))};
}

} // namespace spng
