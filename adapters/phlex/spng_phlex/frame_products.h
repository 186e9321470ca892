// SPDX-License-Identifier: Apache-2.0
#pragma once
// Frames as data products of an event-processing framework: RawFrame in, SignalFrame out. C++17, without LibTorch
// and without headers of a framework.
//
//     std::vector<std::int16_t> adc = ...;            // (channel, tick)
//     spng::RawFrame frame(std::move(adc), 2560);
//     frame.ident = 7;
//
// Copies share the samples, so that a framework may copy a product. Nothing may change the samples of a frame
// that has become a product.

#include "WireCellSpng/Pipeline.h"

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace spng {

/// Return the SampleType of a C++ type.
template <typename Sample>
constexpr SampleType sample_type_of() {
    if constexpr (std::is_same_v<Sample, std::int16_t>) {
        return SampleType::int16;
    } else if constexpr (std::is_same_v<Sample, std::uint16_t>) {
        return SampleType::uint16;
    } else if constexpr (std::is_same_v<Sample, std::int32_t>) {
        return SampleType::int32;
    } else if constexpr (std::is_same_v<Sample, std::int64_t>) {
        return SampleType::int64;
    } else if constexpr (std::is_same_v<Sample, float>) {
        return SampleType::float32;
    } else {
        static_assert(std::is_same_v<Sample, double>,
                      "samples are int16, uint16, int32, int64, float or double");
        return SampleType::float64;
    }
}

namespace detail {

// The members are set one by one: designated initializers are C++20.
inline Error frame_error(const std::string& what, const std::string& seen, const std::string& expected) {
    ErrorText text;
    text.what = what;
    text.where = "data product";
    text.seen = seen;
    text.expected = expected;
    return Error(ErrorKind::Input, text);
}

} // namespace detail

/// The raw waveforms of one event: an InputFrame whose samples live as long as its copies.
// The declared constructors keep phlex from looking into the members, whose types it does not know.
class RawFrame : public InputFrame {
public:
    RawFrame() = default;

    /// Take a frame in memory of the caller.
    /// @throws Error(Input) if the frame has samples and no owner: they could go before the product does
    explicit RawFrame(InputFrame frame) : InputFrame(std::move(frame)) {
        if (samples != nullptr && owner == nullptr) {
            throw detail::frame_error("the samples of the frame have no owner", "",
                                      "InputFrame::owner, which keeps the samples alive");
        }
    }

    /// Take over samples (channel, tick) of so many rows. All other members have their defaults.
    /// @throws Error(Input) if the samples are not a whole count of rows
    template <typename Sample>
    RawFrame(std::vector<Sample> values, std::int64_t rows) {
        const auto count = static_cast<std::int64_t>(values.size());
        if (rows <= 0 || count == 0 || count % rows != 0) {
            throw detail::frame_error("the samples of the frame do not fill its rows",
                                      std::to_string(count) + " samples, " + std::to_string(rows) + " rows",
                                      "rows of equal, positive length");
        }
        type = sample_type_of<Sample>();
        channels = rows;
        ticks = count / rows;
        auto kept = std::make_shared<const std::vector<Sample>>(std::move(values));
        samples = kept->data();
        owner = std::move(kept);
    }
};

/// The charge waveforms of one event: an OutputFrame, dense or as ROIs, with its masks and summaries.
class SignalFrame : public OutputFrame {
public:
    SignalFrame() = default;
    explicit SignalFrame(OutputFrame frame) : OutputFrame(std::move(frame)) {}

    /// Return the traces of a tag.
    /// @throws Error(Input) if there are none
    const OutputTraces& tagged(const std::string& tag) const {
        for (const OutputTraces& candidate : traces) {
            if (candidate.tag == tag) {
                return candidate;
            }
        }
        throw detail::frame_error("the frame has no traces of this tag", tag,
                                  error.empty() ? "one of the key tags" : "a frame without error");
    }

    /// Empty, or the error block of a frame that was rejected; such a frame has no traces.
    std::string error;
};

} // namespace spng
