#pragma once
// SPNGDNNROI: regions of interest by a trained network from the charge image and the multi-plane
// coincidences.

#include "spng/device/memory/tensors_by_length.h"
#include "spng/graph/node.h"
#include "spng/graph/uncapturable.h"
#include "spng/nodes/dnn/input_noise.h"
#include "spng/nodes/dnn/noise_watch.h"
#include "spng/nodes/dnn/torch_service.h"

#include <memory>
#include <string>

namespace spng {

struct DNNROIConfig {
    std::string forward;
    double input_scale = 1.0 / 4000;
    double input_offset = 0;
    double hot_channel = 1.8;
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
            field(&C::hot_channel, "hot_channel", "1", at_least(1),
                  "a channel with more than this times the noise of its view, or of the training if that is "
                  "larger, is divided by its own; only for networks whose file gives that noise"),
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
///
/// If the model file gives the noise of its training, the first feature must have its RMS as summary
/// (SPNGChannelRMS), and images of charge are divided by their noise over that of the training where it is
/// larger (input_noise.h). Noise outside the range that the file gives as tried leads to a warning, once for
/// each view (noise_watch.h).
class DNNROI : public NodeWith<DNNROIConfig>, public Uncapturable {
public:
    std::string capture_rejection() const override { return m_service->capture_rejection(); }
    /// Reports the noise that was seen.
    void finish() override;

protected:
    /// Throws Error(Model) when the network was made for another scale.
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    void check_sampling(const TensorSet& images, const NamedTensor& image) const;
    /// Divisor (view, channel) of the images of charge; undefined for a model that does not give its noise.
    at::Tensor divisor_for(const NamedTensor& image);
    /// Noise of the training (view, 1), type and device of the image's RMS.
    at::Tensor training_noise(const NamedTensor& image);

    const TorchService* m_service = nullptr;
    TensorsByLength m_training_noise; ///< by number of views
    std::unique_ptr<NoiseWatch> m_watch;
};

} // namespace spng
