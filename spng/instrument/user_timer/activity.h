#pragma once
// What a piece of code makes a processor or device do: kernels, copies, fills and graph launches, one by one.

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
    /// ms since timing began: when it was issued, or when it began on the device where a provider knows
    double begin = 0;
    double elapsed = 0; ///< ms
};

/// A better source for what devices do than pairs of events around operators: CUPTI. What it gives replaces
/// what was timed on the devices that it covers.
class ActivityProvider {
public:
    virtual ~ActivityProvider() = default;

    virtual bool covers(c10::DeviceType device) const = 0;

    /// What the calling thread issued between two moments (instrument::wall_nanoseconds()), `begin` relative
    /// to the first, after the device has finished it; in no particular order, of any kind. May wait.
    virtual std::vector<TimingResult> activities(std::int64_t since, std::int64_t until) = 0;
};

/// Use it from now on in the whole process; null goes back to events.
void set_activity_provider(std::shared_ptr<ActivityProvider> provider);

} // namespace spng
