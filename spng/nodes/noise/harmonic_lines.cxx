// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/noise/harmonic_lines.h"

#include "spng/core/row_chunks.h"
#include "spng/core/tensor_checks.h"
#include "spng/nodes/noise/robust_spread.h"
#include "spng/nodes/noise/tick_ranges.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/fft_irfft.h>
#include <ATen/ops/fft_rfft.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/imag.h>
#include <ATen/ops/lerp.h>
#include <ATen/ops/max_pool1d.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/polar.h>
#include <ATen/ops/real.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/sinc.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace spng {
namespace {

constexpr std::int64_t median_sampling = 16;
constexpr std::int64_t sigma_block = 64;  // ticks
constexpr std::int64_t signal_block = 16; // ticks
constexpr std::int64_t level_block = 32;  // frequencies
constexpr std::int64_t peak_reach = 4;    // on both sides of a line
constexpr double max_ratio = 5;           // of a channel in the mean of a view
constexpr double rayleigh_spread = 6 * 0.523;
constexpr double min_window = 0.1;
constexpr std::int64_t cpu_chunk_bytes = std::int64_t{16} << 20; // so that temporaries stay in the caches

/// Return whether all values are false, without waiting for a device: false there.
bool is_known_empty(const at::Tensor& flags) {
    return flags.is_cpu() && !*flags.any().const_data_ptr<bool>();
}

/// Return which ticks are free of signals, (row, tick) bool.
at::Tensor without_signals(const at::Tensor& deviation, double threshold) {
    const std::int64_t ticks = deviation.size(1);
    const std::int64_t blocks = (ticks + signal_block - 1) / signal_block;
    const auto by_block = at::constant_pad_nd(deviation, {0, blocks * signal_block - ticks})
                              .view({deviation.size(0), blocks, signal_block});
    const auto mean = by_block.mean(-1);
    const auto inside = deviation.narrow(1, 0, ticks / sigma_block * sigma_block)
                            .reshape({deviation.size(0), -1, sigma_block});
    const auto spread = (inside - inside.mean(-1, true)).abs().mean(-1);
    const auto sigma = std::get<0>(spread.median(-1, true)) * std::sqrt(std::numbers::pi / 2);
    const auto is_signal =
        (by_block.abs().amax(-1) > sigma * threshold) | (mean.abs() > robust_spread(mean) * threshold);
    const auto widened = at::max_pool1d(is_signal.to(at::kFloat), {3}, {1}, {1}) > 0;
    return widened.logical_not()
        .unsqueeze(-1)
        .expand({-1, -1, signal_block})
        .reshape({deviation.size(0), -1})
        .narrow(1, 0, ticks);
}

/// Apply a Hann window, times 2, to a spectrum (row, frequency).
at::Tensor with_hann_window(const at::Tensor& spectrum) {
    auto result = spectrum.clone();
    const std::int64_t inner = spectrum.size(1) - 2;
    result.narrow(1, 1, inner).sub_((spectrum.narrow(1, 0, inner) + spectrum.narrow(1, 2, inner)) / 2);
    return result;
}

/// Divide amplitudes (row, frequency) by their local median: of blocks, interpolated between their centres.
at::Tensor ratio_to_level(const at::Tensor& amplitude) {
    const std::int64_t count = amplitude.size(1);
    const std::int64_t blocks = count / level_block;
    const auto median = std::get<0>(
        amplitude.narrow(1, 0, blocks * level_block).reshape({-1, blocks, level_block}).median(-1));
    const auto position = (at::arange(count, amplitude.options()) - (level_block - 1) / 2.0)
                              .div(level_block)
                              .clamp(0, blocks - 1);
    const auto left = position.floor();
    const auto from = left.to(at::kLong);
    const auto level = at::lerp(median.index_select(1, from),
                                median.index_select(1, (from + 1).clamp_max(blocks - 1)), position - left);
    return at::where(level > 0, amplitude / level, 0);
}

/// Return where the amplitude is the largest of its neighbourhood.
at::Tensor is_peak(const at::Tensor& amplitude) {
    return amplitude >= at::max_pool1d(amplitude, {2 * peak_reach + 1}, {1}, {peak_reach});
}

/// Lines of rows, each (row, line); one row if they are common to all.
struct Lines {
    at::Tensor index;  ///< int64 frequency
    at::Tensor offset; ///< of the frequency of the line, -0.5 to 0.5
    at::Tensor found;  ///< bool; others are fillers
};

/// Take the largest scores above 0.
/// @param score      (row, frequency), 0 where there is no line
/// @param amplitude  (row, frequency) of the lines, for their offset
Lines strongest_lines(const at::Tensor& score, const at::Tensor& amplitude, std::int64_t max_lines) {
    auto [value, index] = at::topk(score, std::min(max_lines, score.size(1)), -1);
    const auto found = value > 0;
    index = at::where(found, index, 1);
    const auto left = at::gather(amplitude, 1, index - 1), right = at::gather(amplitude, 1, index + 1);
    const auto share = at::maximum(left, right) / at::gather(amplitude, 1, index);
    const auto offset = ((share * 2 - 1) / (share + 1)).clamp(0, 0.5).nan_to_num(0);
    return {index, at::where(right > left, offset, -offset), found};
}

/// Waveforms of one view, (channel, tick).
class ViewFilter {
public:
    ViewFilter(const at::Tensor& rows, const at::Tensor& good, const at::Tensor& bad_ticks, double tick,
               const HarmonicLineRule& rule, const at::Tensor& result)
        : m_rule(rule), m_rows(rows), m_good(good.unsqueeze(-1)), m_bad_ticks(bad_ticks), m_result(result),
          m_ticks(rows.size(1)) {
        const auto real = result.options();
        const std::int64_t frequencies = m_ticks / 2 + 1;
        m_spectrum =
            at::empty({rows.size(0), frequencies}, real.dtype(c10::toComplexType(result.scalar_type())));
        m_ratio = at::empty({rows.size(0), frequencies}, real);
        m_window = at::empty({rows.size(0), 1}, real);
        m_frequency = at::arange(frequencies, real) / (static_cast<double>(m_ticks) * tick);
        const auto index = at::arange(frequencies, rows.options().dtype(at::kLong));
        m_searched =
            (m_frequency >= rule.min_frequency) & (index >= peak_reach) & (index < frequencies - peak_reach);
    }

    void run() {
        for_chunks([&](std::int64_t first, std::int64_t count) { transform(first, count); });
        const Lines common = common_lines();
        const auto searched = m_searched & near(common).logical_not();
        for_chunks([&](std::int64_t first, std::int64_t count) { clean(first, count, common, searched); });
    }

private:
    template <class Work>
    void for_chunks(const Work& work) const {
        // Of each channel about sixteen waveforms, spectra and masks.
        for_row_chunks(m_rows.size(0), 16 * m_ticks * m_result.element_size(), work,
                       m_rows.is_cpu() ? cpu_chunk_bytes : composition_bytes);
    }

    at::Tensor samples(std::int64_t first, std::int64_t count) const {
        return m_rows.narrow(0, first, count).to(m_result.scalar_type());
    }

    void transform(std::int64_t first, std::int64_t count) {
        const auto x = samples(first, count);
        const auto median = std::get<0>(x.slice(1, 0, std::nullopt, median_sampling).median(-1, true));
        const auto deviation = at::where(m_good.narrow(0, first, count), x - median, 0);
        auto quiet = without_signals(deviation, m_rule.signal_threshold);
        if (m_bad_ticks.defined()) {
            quiet = quiet & ticks_in(m_bad_ticks.narrow(0, first, count), m_ticks).logical_not();
        }
        const auto spectrum = with_hann_window(at::fft_rfft(at::where(quiet, deviation, 0)));
        m_spectrum.narrow(0, first, count).copy_(spectrum);
        m_ratio.narrow(0, first, count).copy_(ratio_to_level(spectrum.abs()));
        const auto window = at::sin((at::arange(m_ticks, x.options()) + 0.5) *
                                    (std::numbers::pi / static_cast<double>(m_ticks)))
                                .square();
        m_window.narrow(0, first, count)
            .copy_((quiet.to(x.scalar_type()).matmul(window).unsqueeze(-1) / window.sum())
                       .clamp_min(min_window));
    }

    Lines common_lines() const {
        const auto channels = m_good.sum().clamp_min(1).to(m_ratio.scalar_type());
        at::Tensor mean = at::zeros({1, m_ratio.size(1)}, m_ratio.options()), square = at::zeros_like(mean);
        for_chunks([&](std::int64_t first, std::int64_t count) {
            const auto ratio = m_ratio.narrow(0, first, count);
            mean += ratio.clamp_max(max_ratio).sum(0, true);
            square += ratio.square().sum(0, true);
        });
        const auto threshold = (rayleigh_spread / channels.sqrt() + 1).clamp_min(m_rule.common_threshold) *
                               std::get<0>(mean.median(-1, true));
        const auto is_line = is_peak(square) & m_searched & (mean > threshold);
        const auto excess = (square - std::get<0>(square.median(-1, true))).clamp_min(0).sqrt();
        return strongest_lines(at::where(is_line, square, 0), excess, m_rule.max_lines);
    }

    /// Return which frequencies are within the reach of a line of the view, (frequency) bool.
    at::Tensor near(const Lines& common) const {
        const auto index = at::arange(m_ratio.size(1), common.index.options());
        return (((index - common.index.t()).abs() <= peak_reach) & common.found.t()).any(0);
    }

    /// Return the complex amplitudes of lines in rows from `first`, (row, line).
    at::Tensor amplitudes(std::int64_t first, const at::Tensor& index, const Lines& lines) const {
        const auto coefficient = at::gather(m_spectrum.narrow(0, first, index.size(0)), 1, index);
        const auto scale = (1 - lines.offset.square()) / at::sinc(lines.offset) * lines.found *
                           (2.0 / static_cast<double>(m_ticks));
        const auto turn = lines.offset * (-std::numbers::pi * static_cast<double>(m_ticks - 1) /
                                          static_cast<double>(m_ticks));
        return coefficient * at::polar(scale, turn) / m_window.narrow(0, first, index.size(0));
    }

    /// Return the phases of lines (line or row, tick) [radian].
    /// @param line  index and offset, (line or row, 1)
    at::Tensor phases(const at::Tensor& index, const at::Tensor& offset) const {
        const auto tick =
            at::arange(m_ticks, offset.options().dtype(at::kDouble)) / static_cast<double>(m_ticks);
        const auto cycles = (index + offset.to(at::kDouble)) * tick;
        return ((cycles - cycles.floor()) * (2 * std::numbers::pi)).to(offset.scalar_type());
    }

    void clean(std::int64_t first, std::int64_t count, const Lines& common,
               const at::Tensor& searched) const {
        const auto x = samples(first, count);
        auto out = x;
        if (!m_rule.bands.empty()) {
            auto spectrum = at::fft_rfft(x);
            for (const auto& band : m_rule.bands) {
                spectrum = spectrum * ((m_frequency < band.low) | (m_frequency > band.high));
            }
            out = at::fft_irfft(spectrum, m_ticks);
        }
        if (!is_known_empty(common.found)) {
            const auto height = amplitudes(first, common.index.expand({count, -1}).contiguous(), common);
            const auto phase = phases(common.index.t(), common.offset.t());
            const auto lines =
                at::real(height).matmul(at::cos(phase)) - at::imag(height).matmul(at::sin(phase));
            out = at::where(common.found.any(), out - lines, out);
        }
        const auto ratio = m_ratio.narrow(0, first, count);
        const auto is_candidate = searched & (ratio > m_rule.threshold);
        if (!is_known_empty(is_candidate)) {
            const Lines own =
                strongest_lines(at::where(is_candidate & is_peak(ratio), ratio, 0), ratio, m_rule.max_lines);
            const auto height = amplitudes(first, own.index, own);
            for (std::int64_t line = 0; line < own.index.size(1); ++line) {
                const auto one = [line](const at::Tensor& lines) { return lines.narrow(1, line, 1); };
                if (is_known_empty(one(own.found))) {
                    break;
                }
                const auto phase = phases(one(own.index), one(own.offset));
                out = out - (at::real(one(height)) * at::cos(phase) - at::imag(one(height)) * at::sin(phase));
            }
        }
        m_result.narrow(0, first, count).copy_(at::where(m_good.narrow(0, first, count), out, x));
    }

    const HarmonicLineRule& m_rule;
    at::Tensor m_rows, m_good, m_bad_ticks, m_result;
    std::int64_t m_ticks;
    at::Tensor m_spectrum;  ///< (channel, frequency): H
    at::Tensor m_ratio;     ///< (channel, frequency): r
    at::Tensor m_window;    ///< (channel, 1): w
    at::Tensor m_frequency; ///< (frequency) [1/ns]
    at::Tensor m_searched;  ///< (frequency) bool
};

} // namespace

at::Tensor remove_harmonic_lines(const at::Tensor& waveforms, const at::Tensor& good, double tick,
                                 const HarmonicLineRule& rule, const at::Tensor& bad_ticks) {
    const char* name = "remove_harmonic_lines";
    require_tensor((is_real(waveforms) || (waveforms.defined() && waveforms.scalar_type() == at::kShort)) &&
                       waveforms.dim() == 3,
                   name, "waveforms", waveforms, "int16, float32 or float64 (view, channel, tick)");
    require_tensor(is_mask(good) && good.sizes() == waveforms.sizes().slice(0, 2), name,
                   "mask of good channels", good, "bool, one for each row of " + describe_tensor(waveforms));
    require_tensor(!bad_ticks.defined() || (bad_ticks.scalar_type() == at::kInt && bad_ticks.dim() == 4 &&
                                            bad_ticks.sizes().slice(0, 2) == good.sizes()),
                   name, "bad ticks", bad_ticks,
                   "int32 (view, channel, range, 2), for the rows of " + describe_tensor(waveforms));
    const auto type = waveforms.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    auto result = at::empty(waveforms.sizes(), waveforms.options().dtype(type));
    // A shorter readout has too few frequencies for a local median.
    if (waveforms.size(2) < 4 * level_block || waveforms.numel() == 0) {
        return result.copy_(waveforms);
    }
    for (std::int64_t view = 0; view < waveforms.size(0); ++view) {
        const auto bad = bad_ticks.defined() ? bad_ticks.select(0, view) : at::Tensor{};
        ViewFilter(waveforms.select(0, view), good.select(0, view), bad, tick, rule, result.select(0, view))
            .run();
    }
    return result;
}

} // namespace spng
