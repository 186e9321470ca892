// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGChannelResponse: optional node before SPNGDecon. It brings channels with other electronics to the nominal one
// (docs/physics-notes.md#channels-with-other-electronics).

#include "spng/detector/electronics/electronics_response.h"
#include "spng/graph/tensor_node.h"

#include <ATen/core/Tensor.h>

#include <string>

namespace spng {

struct ChannelResponseConfig {
    std::string groups = "SPNGViewGroups";
    std::string group;
    std::string elec_response = "ColdElecResponse";
    std::string channel_list = "SPNGChannelList";
    double readout_period = 500;
    static constexpr auto fields() {
        using C = ChannelResponseConfig;
        return std::make_tuple(
            field(&C::groups, "groups", "", not_empty(), "name of the SPNGViewGroups component"),
            field(&C::group, "group", "", required(), "name of the view group of the input"),
            field(&C::elec_response, "elec_response", "", not_empty(),
                  "name of the ColdElecResponse or WarmElecResponse component, the nominal electronics"),
            field(&C::channel_list, "channel_list", "", not_empty(),
                  "name of the SPNGChannelList component with the electronics of channels"),
            field(&C::readout_period, "readout_period", "ns", above(0), "sampling period of the waveforms"));
    }
};

/// Length of the kernels of response_kernel() [ticks].
inline constexpr std::int64_t response_kernel_ticks = 256;

/// Return the kernel that turns waveforms behind `own` electronics into waveforms behind `nominal` ones: the inverse
/// transform of nominal(f) / own(f), the transforms of the continuous responses. Where the ratio exceeds four times
/// its value at frequency 0 its magnitude is limited to that, so that a slower channel does not amplify noise without
/// bound.
/// @param period  of the samples [ns]
/// @return (response_kernel_ticks) float64, cyclic: tick 0 first, ticks before it at the end
at::Tensor response_kernel(const Electronics& nominal, const Electronics& own, double period);

/// Convolve the deviation of each row from its median with the kernel of the row. The median stays.
/// @param waveforms  (row, tick) int16, float32 or float64; finite
/// @param kernels    (kind, response_kernel_ticks), of the type of the result
/// @param kinds      (row) int64: kernel of each row
/// @return shape of `waveforms`, float64 for float64 and float32 otherwise
/// @throws Error(Internal) for other shapes or types
at::Tensor correct_response(const at::Tensor& waveforms, const at::Tensor& kernels, const at::Tensor& kinds);

/// In and out: waveforms (view, channel, tick) [ADC]. The output is real and keeps the baselines; channels that are not
/// in the list keep their samples.
class ChannelResponse : public TensorNode<ChannelResponseConfig> {
protected:
    void prepare_node(Environment& environment) override;
    NamedTensor step(NamedTensor tensor, const EventInfo& event) override;

private:
    at::Tensor m_kernels; ///< (kind, response_kernel_ticks) real, on the device
    at::Tensor
        m_rows; ///< (listed) int64 rows of the input with all axes but the last flattened, on the device
    at::Tensor m_kinds; ///< (listed) int64, on the device
};

} // namespace spng
