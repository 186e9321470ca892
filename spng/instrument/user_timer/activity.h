// SPDX-License-Identifier: Apache-2.0
#pragma once
// Activities of a processor or device that a piece of code causes: kernels, copies, fills and graph launches.

#include <c10/core/Device.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace spng {

/// Kinds of activities, one bit each; a filter is their sum.
using ActivityFilter = unsigned;
inline constexpr ActivityFilter timing_none = 0;
inline constexpr ActivityFilter timing_kernel = 1;         ///< kernels of this project (operators spng::)
inline constexpr ActivityFilter timing_kernel_library = 2; ///< kernels of LibTorch, cuFFT, cuDNN, ...
inline constexpr ActivityFilter timing_memcpy = 4;         ///< copies within and between memories
inline constexpr ActivityFilter timing_memset = 8;         ///< fills
inline constexpr ActivityFilter timing_graph = 16;         ///< launches of CUDA graphs
inline constexpr ActivityFilter timing_all = 31;

/// One activity.
struct TimingResult {
    std::string name;   ///< operator or kernel ("aten::add"), "memcpy HtoD", "memset", ...
    std::string device; ///< "cpu", "cuda:0"
    ActivityFilter kind = timing_none;
    /// [ms] since timing began: the time of issue, or with a provider the begin on the device
    double begin = 0;
    double elapsed = 0; ///< [ms]
};

/// A more precise source of device activities than pairs of events around operators, such as CUPTI. Its activities
/// replace the timed ones of the devices that it covers.
class ActivityProvider {
public:
    virtual ~ActivityProvider() = default;

    virtual bool covers(c10::DeviceType device) const = 0;

    /// Return the activities of all kinds that the calling thread issued between two times, in any order. Wait until
    /// the device has finished them.
    /// @param since, until  instrument::wall_nanoseconds(); `begin` of the results is relative to `since`
    virtual std::vector<TimingResult> activities(std::int64_t since, std::int64_t until) = 0;
};

/// Set the provider of the whole process; null restores pairs of events.
void set_activity_provider(std::shared_ptr<ActivityProvider> provider);

} // namespace spng
