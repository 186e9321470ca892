// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGOverlay: add simulated signals to the raw waveforms of a file, whose noise is real.

#include "spng/graph/node.h"
#include "spng/io/file_user.h"
#include "spng/io/joined_frame_reader.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace spng {

struct OverlayConfig {
    std::string inname;
    std::string intag;
    int bits = 14;
    std::string other_channels = "reject";
    std::string output = "*";
    static constexpr auto fields() {
        using C = OverlayConfig;
        return std::make_tuple(
            field(&C::inname, "inname", "", required(),
                  "frame file of raw waveforms: .npz, .tar, .tar.gz or .tar.bz2"),
            field(&C::intag, "intag", "", any(), "tag of its waveforms; empty: the only one"),
            field(&C::bits, "bits", "bits", between(1, 15),
                  "resolution of the digitiser; counts are 0 to 2^bits - 1"),
            field(&C::other_channels, "other_channels", "", one_of("reject", "ignore"),
                  "treatment of channels of the file that do not belong to the anode"),
            field(&C::output, "output", "", not_empty(),
                  "name of the output tensor, the tag in a frame file"));
    }
};

/// Add signals to raw waveforms.
/// - int16: the sum is rounded to nearest and limited to 0 and 2^bits - 1. Samples at these limits stay as they are:
///   their true value is not known, and a dead channel at 0 stays dead.
/// - real numbers: the sum.
/// Ticks of `raw` after the last one of the signals stay as they are.
/// @param raw      (channel, tick) int16 or real [ADC]
/// @param signals  (channel, tick) real [ADC above the baseline]
/// @return (channel, tick) of the shape and type of `raw`
at::Tensor overlay(const at::Tensor& raw, const at::Tensor& signals, int bits);

/// In: waveforms (channel, tick) on the host [ADC above the baseline] of all channels of an anode, in ascending channel
/// id. Out: the raw waveforms of the next event of the file, with the signals of their channels. The result has the
/// channels, times and length of the event of the file, the ident of the input, and the channel masks of both without
/// "missing" of the input. First samples coincide. After its last event the file is read from its beginning.
class Overlay : public NodeWith<OverlayConfig>, public FileUser {
public:
    std::vector<std::filesystem::path> files_read() const override;

protected:
    void begin_run(Environment& environment) override;
    /// @throws Error(Input) for a file without events or with several tags, for another sampling period, and for
    ///         channels that do not belong to the anode
    Ports process(const Ports& inputs) override;

private:
    /// Return the next event, the first one after the last one.
    Frame next_frame();
    void open();

    std::unique_ptr<JoinedFrameReader> m_reader;
};

} // namespace spng
