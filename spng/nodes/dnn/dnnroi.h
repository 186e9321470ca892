// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGDNNROI: find ROIs with a trained network from the charge image and the multi-plane coincidences
// (docs/physics-notes.md#dnnroi).

#include "spng/device/memory/tensors_by_length.h"
#include "spng/graph/node.h"
#include "spng/instrument/report/input_report.h"
#include "spng/nodes/dnn/input/input_noise.h"
#include "spng/nodes/dnn/input/network_input.h"
#include "spng/nodes/dnn/torch_service.h"
#include "spng/nodes/dnn/watch/noise_watch.h"
#include "spng/nodes/dnn/watch/output_watch.h"

#include <memory>
#include <string>
#include <vector>

namespace spng {

struct DNNROIConfig {
    std::string forward;
    double input_scale = 1.0 / 4000;
    double input_offset = 0;
    double hot_channel = 1.8;
    double mask_threshold = -1;
    std::string output = "roi";
    std::string probability;
    NetworkInput input;
    static constexpr auto fields() {
        using C = DNNROIConfig;
        return std::make_tuple(
            field(&C::forward, "forward", "", not_empty(), "name of the SPNGTorchService component"),
            field(&C::input_scale, "input_scale", "1/electrons", above(0),
                  "factor on charge images; masks are always 0 and 1"),
            field(&C::input_offset, "input_offset", "1", any(), "added to charge images after the factor"),
            field(
                &C::hot_channel, "hot_channel", "1", at_least(1),
                "divide a channel by its own noise if it exceeds this times the noise of the view or of the "
                "training, whichever is larger; only for networks whose file gives the training noise"),
            field(
                &C::mask_threshold, "mask_threshold", "1", any(),
                "a sample is in an ROI if the output of the network is above this; below 0: the threshold in "
                "the file of the network, or 0.5")
                .or_wct("mask_thresh"),
            field(&C::output, "output", "", not_empty(), "name of the output tensor"),
            field(&C::probability, "probability", "", any(),
                  "name of a second output tensor with the output of the network; empty: none"),
            field(&C::input, "input", "", any(),
                  "the input of this job, which is compared with that of the network's training"));
    }
};

/// In: the features of the service, in either set, each (view, channel, tick) at the sampling of the network,
/// masks packed or not. Out: ROIs, a packed mask (view, channel, tick): the samples of good channels with an output above the threshold.
/// Notes identify the model.
///
/// The input of the job is compared with that of the network's training before the first event (network_input.h). If the
/// model file lacks properties of its training, they are named in one warning and in the note "network_not_compared".
///
/// If the model file gives the noise of its training, the charge images must have their RMS as summary
/// (SPNGChannelRMS). Each image with a larger noise is divided by the ratio (input_noise.h). Noise of the first
/// image outside the tried range of the model gives one warning per view (noise_watch.h). The ratio of each event
/// is in the note "network_noise" of its output, and the extremes are in the report about the input.
///
/// An output that is no probability ends the event, or gives the note "network_output" (output_watch.h).
class DNNROI : public NodeWith<DNNROIConfig>, public instrument::ReportsInput {
public:
    std::string capture_rejection() const override { return m_service->capture_rejection(); }
    /// Log the range of the noise.
    void finish() override;
    instrument::InputReport input_report() const override;

protected:
    /// @throws Error(Model) if the network was trained with another scale or for another input
    void prepare_node(Environment& environment) override;
    /// Watch the noise of the run's events only.
    void begin_run(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    void check_sampling(const TensorSet& images, const NamedTensor& image) const;
    /// Return the divisor (image, view, channel) of the charge images; undefined for a model without training noise.
    /// @param reports  gets the noise, from a device
    /// @param notes    gets the note about the noise, if it is known at once
    at::Tensor divisor_for(const std::vector<const NamedTensor*>& images, Reports& reports, Notes& notes);
    /// Return the noise of the training of an image, by plane [electrons].
    /// @throws Error(Model) if the file of the network lacks it
    const std::vector<double>& noise_of_planes(const std::string& image) const;
    /// Return the noise of the training (image and view, 1) in the type and on the device of the images' RMS.
    at::Tensor training_noise(const std::vector<const NamedTensor*>& images);
    /// Return the median of the expected noise over that of the training, likewise; undefined if an image has none.
    at::Tensor expected_ratio(const std::vector<const NamedTensor*>& images);

    void make_output_watch();
    /// Look at the output of the network now, or when it arrives from a device, in a report.
    /// @param notes  gets the note about it, if it is known at once
    /// @throws Error(Model) as OutputWatch
    void watch_output(const at::Tensor& probability, const NamedTensor& image, Reports& reports,
                      Notes& notes);
    /// Warn about properties of the training that the file of the network does not give.
    void warn_of_missing_properties();

    const TorchService* m_service = nullptr;
    Notes m_notes; ///< of each event: the model, and the properties that were not compared
    std::vector<std::string> m_warnings;
    double m_mask_threshold = 0.5;
    TensorsByLength m_training_noise; ///< by number of views
    TensorsByLength m_expected_ratio; ///< likewise
    std::unique_ptr<NoiseWatch> m_watch;
    std::unique_ptr<OutputWatch> m_output_watch;
};

} // namespace spng
