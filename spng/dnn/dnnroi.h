#pragma once
// SPNGDNNROI: regions of interest by a trained network from the charge image and the multi-plane
// coincidences.

#include "spng/dnn/torch_service.h"
#include "spng/graph/node.h"
#include "spng/graph/refuses_capture.h"

#include <string>

namespace spng {

struct DNNROIConfig {
    std::string forward;
    double input_scale = 1.0 / 4000;
    double input_offset = 0;
    double mask_threshold = 0.5;
    std::string output = "roi";
    std::string probability;
    static constexpr auto fields() {
        using C = DNNROIConfig;
        return std::make_tuple(
            field(&C::forward, "forward", "", not_empty(), "name of the SPNGTorchService component"),
            field(&C::input_scale, "input_scale", "1/electrons", above(0),
                  "factor on images of charge; masks are 0 and 1 whatever it is"),
            field(&C::input_offset, "input_offset", "1", any(), "added to images of charge after the factor"),
            field(&C::mask_threshold, "mask_threshold", "1", any(),
                  "a sample is in a region where the network's output is strictly above"),
            field(&C::output, "output", "", not_empty(), "name of the output tensor"),
            field(&C::probability, "probability", "", any(),
                  "name of a second output tensor with what the network gives; none when empty"));
    }
};

/// Inputs: the tensors that the service names as features, in either set, each (view, channel, tick) at the
/// sampling of the network. Output: regions, bool (view, channel, tick), where the network is sure enough and
/// the channel is good, with notes that say which model found them.
class DNNROI : public NodeWith<DNNROIConfig>, public RefusesCapture {
public:
    std::string capture_refusal() const override { return m_service->capture_refusal(); }

protected:
    /// Throws Error(Model) when the network was made for another scale.
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    void check_sampling(const TensorSet& images, const NamedTensor& image) const;

    const TorchService* m_service = nullptr;
};

} // namespace spng
