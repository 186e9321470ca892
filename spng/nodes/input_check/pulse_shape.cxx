// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/input_check/pulse_shape.h"

#include "spng/core/rows/multiversion.h"
#include "spng/core/tensor_checks.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/fft_irfft.h>
#include <ATen/ops/fft_rfft.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/polar.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace spng {
namespace {

constexpr std::array<double, 11> shaping_ratios{0.45, 0.6, 0.75, 0.87, 0.94, 1, 1.06, 1.13, 1.25, 1.45, 1.7};
// Delay from wire to wire [ns]. Steep tracks beyond `max_slope` are in the templates, so that they are recognised.
constexpr std::array<double, 11> slopes{0, 500, 1000, 1500, 2000, 2500, 3000, 3500, 4000, 5000, 6500};
constexpr double max_slope = 3000;
constexpr std::int64_t smearings = 7, shifts = 8; // widths of diffusion; parts of a tick
constexpr double smearing_step = 200;             // ns
constexpr std::int64_t variants_of_slope = smearings * shifts;
constexpr std::int64_t variants = static_cast<std::int64_t>(slopes.size()) * variants_of_slope;
constexpr std::int64_t crop = 96; // ticks of a template around its peak before it is smeared
constexpr auto ticks = static_cast<std::size_t>(shape_ticks);

// Noise adds to the freedom of a fit: it favours short shaping times, for which more widths of diffusion are possible.
// The value is the mean of 10 simulated events of muons.
constexpr double bias = 0.985;

using Row = std::array<double, ticks>;
using Matrix = std::array<Row, ticks>;

/// Path of the field response, and the charge that follows it: that between `begin` and `end` [pitches].
struct Impact {
    std::int64_t path;
    double begin, end;
};

/// Return the paths and their mirror images, in the order of their positions.
std::vector<Impact> impacts_of(const PlaneResponse& plane) {
    std::vector<std::pair<double, std::int64_t>> positions;
    for (std::size_t path = 0; path < plane.pitch_positions.size(); ++path) {
        const double position = plane.pitch_positions[path] / plane.pitch;
        positions.emplace_back(position, path);
        positions.emplace_back(-position, path);
    }
    std::sort(positions.begin(), positions.end());
    std::vector<Impact> impacts;
    for (std::size_t i = 0; i < positions.size(); ++i) {
        const double before = positions[i == 0 ? i : i - 1].first;
        const double after = positions[i + 1 == positions.size() ? i : i + 1].first;
        // Paths at equal positions share an interval: each has one half.
        impacts.push_back(
            {positions[i].second, (before + positions[i].first) / 2, (positions[i].first + after) / 2});
    }
    return impacts;
}

/// Return the current of charge that is spread evenly across the wires and arrives later from wire to wire.
/// @param integrals  of the current of each path, (path, sample + 1)
/// @param slope      delay from wire to wire [samples]
/// @param reach      delay that is added, so that no charge arrives before sample 0 [samples]
/// @return (sample), float64
at::Tensor current_of_track(const std::vector<Impact>& impacts, const at::Tensor& integrals, double slope,
                            std::int64_t reach) {
    const std::int64_t samples = integrals.size(1) - 1;
    at::Tensor line = at::zeros({samples + 2 * reach}, at::kDouble);
    auto* sum = line.mutable_data_ptr<double>();
    for (const Impact& impact : impacts) {
        const double width = impact.end - impact.begin;
        if (!(width > 0)) {
            continue;
        }
        const double* const integral = integrals.const_data_ptr<double>() + impact.path * integrals.size(1);
        // At least one sample, to be able to divide by it.
        const double length = std::max(width * slope, 1.0);
        const double first = impact.begin * slope + static_cast<double>(reach);
        const auto collected = [&](double time) {
            const double clamped = std::clamp(time, 0.0, static_cast<double>(samples));
            const auto index = std::min(static_cast<std::int64_t>(clamped), samples - 1);
            return std::lerp(integral[index], integral[index + 1], clamped - static_cast<double>(index));
        };
        const auto begin = static_cast<std::int64_t>(first);
        const auto end = std::min(begin + samples + static_cast<std::int64_t>(length) + 2, line.size(0));
        for (std::int64_t i = std::max<std::int64_t>(begin, 0); i < end; ++i) {
            const double time = static_cast<double>(i) - first;
            sum[i] += width / length * (collected(time) - collected(time - length));
        }
    }
    return line;
}

/// Return the part of each row around the largest sample, (row, crop).
at::Tensor cropped(const at::Tensor& kernels) {
    std::vector<at::Tensor> rows;
    const at::Tensor peaks = kernels.abs().argmax(1);
    for (std::int64_t row = 0; row < kernels.size(0); ++row) {
        const std::int64_t first = peaks.const_data_ptr<std::int64_t>()[row] - crop / 3;
        rows.push_back(kernels[row].roll(-first).narrow(0, 0, crop));
    }
    return at::stack(rows);
}

/// Return the position of the minimum of the parabola through three points, or x[1] if it has none.
double minimum_of_parabola(const std::array<double, 3>& x, const std::array<double, 3>& y) {
    const double left = (y[1] - y[0]) / (x[1] - x[0]), right = (y[2] - y[1]) / (x[2] - x[1]);
    const double curvature = (right - left) / (x[2] - x[0]);
    return curvature > 0 ? std::clamp((x[0] + x[1]) / 2 - left / (2 * curvature), x[0], x[2]) : x[1];
}

/// Return the inverse of the Cholesky factor of the noise's covariance: it makes the noise white.
/// @return nothing if the covariance is not positive definite
std::optional<Matrix> whitening(const Autocorrelation& autocorrelation) {
    constexpr double more_white_noise = 0.05; // the templates are not exact at frequencies with little noise
    Matrix factor{}, inverse{};
    for (std::size_t i = 0; i < ticks; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            double rest = autocorrelation[i - j] + (i == j ? more_white_noise : 0);
            for (std::size_t k = 0; k < j; ++k) {
                rest -= factor[i][k] * factor[j][k];
            }
            if (i == j && !(rest > 1e-6)) {
                return std::nullopt;
            }
            factor[i][j] = i == j ? std::sqrt(rest) : rest / factor[j][j];
        }
    }
    for (std::size_t column = 0; column < ticks; ++column) {
        for (std::size_t i = column; i < ticks; ++i) {
            double rest = i == column ? 1 : 0;
            for (std::size_t k = column; k < i; ++k) {
                rest -= factor[i][k] * inverse[k][column];
            }
            inverse[i][column] = rest / factor[i][i];
        }
    }
    return inverse;
}

Row product(const Matrix& matrix, const Row& row) {
    Row result{};
    for (std::size_t i = 0; i < ticks; ++i) {
        result[i] = std::inner_product(row.begin(), row.end(), matrix[i].begin(), 0.0);
    }
    return result;
}

/// Linear operation on a shape that makes the noise white and removes a linear baseline.
class Projection {
public:
    explicit Projection(const Autocorrelation& autocorrelation) {
        Autocorrelation white{};
        white[0] = 1;
        auto matrix = whitening(autocorrelation);
        m_matrix = matrix ? *matrix : *whitening(white);
        for (std::size_t power = 0; power < m_baseline.size(); ++power) {
            Row& own = m_baseline[power];
            for (std::size_t tick = 0; tick < ticks; ++tick) {
                own[tick] = std::pow(static_cast<double>(tick) - (ticks - 1) / 2.0, power);
            }
            own = product(m_matrix, own);
            for (std::size_t other = 0; other < power; ++other) {
                subtract(own, m_baseline[other]);
            }
            const double norm = std::sqrt(std::inner_product(own.begin(), own.end(), own.begin(), 0.0));
            for (double& value : own) {
                value /= norm;
            }
        }
    }

    Row operator()(const float* shape) const {
        Row row{};
        std::copy(shape, shape + ticks, row.begin());
        row = product(m_matrix, row);
        for (const Row& baseline : m_baseline) {
            subtract(row, baseline);
        }
        return row;
    }

private:
    static void subtract(Row& row, const Row& direction) {
        const double share = std::inner_product(row.begin(), row.end(), direction.begin(), 0.0);
        for (std::size_t tick = 0; tick < ticks; ++tick) {
            row[tick] -= share * direction[tick];
        }
    }

    Matrix m_matrix{};
    std::array<Row, 2> m_baseline{};
};

double power_of(const Row& row) {
    return std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
}

/// The best fits of a pulse.
struct Fits {
    double power = 0;
    std::array<double, shaping_ratios.size()> residual{};
    std::array<double, shaping_ratios.size()> slope{};
};

/// Set the scalar products of a shape and all variants of one shaping time.
/// @param templates  (tick, variant)
SPNG_MULTIVERSION void multiply(const float* templates, const float* shape, float* products) {
    std::fill(products, products + variants, 0.0F);
    for (std::int64_t tick = 0; tick < shape_ticks; ++tick, templates += variants) {
        for (std::int64_t variant = 0; variant < variants; ++variant) {
            products[variant] += shape[tick] * templates[variant];
        }
    }
}

/// @param templates  (shaping, tick, variant), each of unit norm
Fits fits_of(const Row& shape, const std::vector<float>& templates) {
    Fits fits;
    fits.power = power_of(shape);
    std::array<float, ticks> samples{};
    std::transform(shape.begin(), shape.end(), samples.begin(),
                   [](double sample) { return static_cast<float>(sample); });
    std::array<float, variants> products{};
    for (std::size_t ratio = 0; ratio < shaping_ratios.size(); ++ratio) {
        multiply(templates.data() + ratio * ticks * variants, samples.data(), products.data());
        const auto best = std::max_element(products.begin(), products.end());
        const double amplitude = std::max(*best, 0.0F); // inverted pulses do not match
        fits.residual[ratio] = fits.power - amplitude * amplitude;
        fits.slope[ratio] = slopes[static_cast<std::size_t>((best - products.begin()) / variants_of_slope)];
    }
    return fits;
}

} // namespace

PulseShapes::PulseShapes(const PlaneResponse& plane, double period, const Electronics& electronics,
                         const ResponseKernelConfig& config) {
    const auto impacts = impacts_of(plane);
    const at::Tensor current = plane.current.to(at::kDouble);
    const at::Tensor integrals = at::zeros({current.size(0), current.size(1) + 1}, at::kDouble).contiguous();
    integrals.narrow(1, 1, current.size(1)).copy_(current.cumsum(1));
    const auto reach = static_cast<std::int64_t>(std::ceil(impacts.back().end * slopes.back() / period)) + 1;
    std::vector<at::Tensor> lines;
    for (const double slope : slopes) {
        lines.push_back(current_of_track(impacts, integrals, slope / period, reach));
    }
    const at::Tensor currents = at::stack(lines);

    // Spectra of the smearings and shifts, (smearing, shift, frequency).
    const at::Tensor phase =
        at::arange(crop / 2 + 1, at::kDouble) * (2 * std::numbers::pi / static_cast<double>(crop));
    const at::Tensor widths = at::arange(smearings, at::kDouble) * (smearing_step / config.tick);
    const at::Tensor gaussians = (widths.square().unsqueeze(1) * phase.square() * -0.5).exp();
    const at::Tensor delays = at::arange(shifts, at::kDouble).unsqueeze(1) * phase / (-double{shifts});
    const at::Tensor changes = gaussians.unsqueeze(1) * at::polar(at::ones_like(delays), delays);

    m_templates.reserve(shaping_ratios.size() * static_cast<std::size_t>(variants) * ticks);
    for (const double ratio : shaping_ratios) {
        Electronics other = electronics;
        other.shaping *= ratio;
        const at::Tensor kernels = cropped(response_kernel(currents, period, other, config));
        const at::Tensor spectra = at::fft_rfft(kernels).unsqueeze(1).unsqueeze(1);
        const at::Tensor pulses =
            at::fft_irfft(spectra * changes, crop).reshape({variants, crop}).contiguous();
        const at::Tensor peaks = pulses.abs().argmax(1);
        for (std::int64_t variant = 0; variant < variants; ++variant) {
            const auto* sample = pulses.const_data_ptr<double>() + variant * crop;
            const std::int64_t first = std::clamp<std::int64_t>(
                peaks.const_data_ptr<std::int64_t>()[variant] - shape_peak, 0, crop - shape_ticks);
            double norm = 0;
            for (std::int64_t i = first; i < first + shape_ticks; ++i) {
                norm += sample[i] * sample[i];
            }
            for (std::int64_t i = first; i < first + shape_ticks; ++i) {
                m_templates.push_back(static_cast<float>(sample[i] / std::sqrt(norm)));
            }
        }
    }
}

PulseShapes::Estimate PulseShapes::estimate(const std::vector<std::vector<float>>& shapes,
                                            const Autocorrelation& autocorrelation) const {
    for (const auto& shape : shapes) {
        require_argument(shape.size() == shape_ticks, "PulseShapes", "length of the pulse",
                         static_cast<std::int64_t>(shape.size()), std::to_string(shape_ticks));
    }
    const Projection projection(autocorrelation);
    std::vector<float> templates(m_templates.size()); // (shaping, tick, variant)
    for (std::size_t ratio = 0; ratio < shaping_ratios.size(); ++ratio) {
        for (std::size_t variant = 0; variant < variants; ++variant) {
            const Row row = projection(m_templates.data() + (ratio * variants + variant) * ticks);
            const double norm = std::sqrt(power_of(row));
            for (std::size_t tick = 0; tick < ticks; ++tick) {
                templates[(ratio * ticks + tick) * variants + variant] = static_cast<float>(row[tick] / norm);
            }
        }
    }
    std::vector<Fits> fits(shapes.size());
    at::parallel_for(
        0, static_cast<std::int64_t>(shapes.size()), 16, [&](std::int64_t begin, std::int64_t end) {
            for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
                fits[i] = fits_of(projection(shapes[i].data()), templates);
            }
        });
    // Each sample has noise 1; in addition, the templates describe real tracks to half a per cent.
    std::erase_if(fits, [](const Fits& fit) {
        return *std::min_element(fit.residual.begin(), fit.residual.end()) >
               3 * double{shape_ticks} + 0.005 * fit.power;
    });
    const auto sums = [&fits] {
        std::array<double, shaping_ratios.size()> sum{};
        for (const Fits& fit : fits) {
            for (std::size_t ratio = 0; ratio < sum.size(); ++ratio) {
                // Large pulses differ from the templates by more than the noise.
                sum[ratio] += fit.residual[ratio] / (1 + 0.0005 * fit.power);
            }
        }
        return sum;
    };
    const auto index_of_best = [](const auto& sum) {
        return static_cast<std::size_t>(std::min_element(sum.begin(), sum.end()) - sum.begin());
    };
    const std::size_t first_best = index_of_best(sums());
    std::erase_if(fits, [&](const Fits& fit) { return fit.slope[first_best] > max_slope; });
    const auto sum = sums();
    const std::size_t middle = std::clamp<std::size_t>(index_of_best(sum), 1, sum.size() - 2);
    const double ratio =
        minimum_of_parabola({shaping_ratios[middle - 1], shaping_ratios[middle], shaping_ratios[middle + 1]},
                            {sum[middle - 1], sum[middle], sum[middle + 1]});
    return {ratio / bias, fits.size()};
}

} // namespace spng
