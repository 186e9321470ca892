// SPDX-License-Identifier: Apache-2.0
#include "spng/kernels/transforms/fft_plan.h"

#include "spng/core/tensor_checks.h"
#include "spng/detector/fft_size.h"
#include "spng/device/memory/tensors_by_length.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>
#include <span>
#include <tuple>
#include <utility>

namespace spng::kernels {
namespace {

constexpr std::int64_t bank_bytes = 128; ///< of all banks of shared memory

/// Return where a forward transform with these radices leaves a frequency.
std::int64_t position_of(std::int64_t frequency, std::int64_t length, std::span<const std::int64_t> radices) {
    std::int64_t position = 0;
    for (const std::int64_t radix : radices) {
        length /= radix;
        position += frequency % radix * length;
        frequency /= radix;
    }
    return position;
}

/// Return the mean cycles of an access to shared memory: 1 if elements that fit into its 32 banks are never in the
/// same ones. A part of the threads is enough, since patterns repeat.
/// @param together  elements that fit
/// @param element   returns the element of a thread
template <class Element>
double ways_of_access(std::int64_t threads, std::int64_t together, const Element& element) {
    constexpr std::int64_t enough = 512;
    std::int64_t cycles = 0, accesses = 0;
    for (std::int64_t first = 0; first < std::min(threads, enough); first += together) {
        std::array<std::int64_t, warp_threads> in_bank = {};
        for (std::int64_t thread = first; thread < std::min(first + together, threads); ++thread) {
            ++in_bank[element(thread) % together];
        }
        cycles += *std::ranges::max_element(in_bank);
        ++accesses;
    }
    return static_cast<double>(cycles) / static_cast<double>(accesses);
}

/// Finds the order of radices with the fewest bank conflicts.
class OrderSearch {
public:
    OrderSearch(std::int64_t length, FftUse use, std::size_t stages)
        : m_length(length), m_together(bank_bytes / (use == FftUse::row ? 8 : tile_bytes)), m_use(use),
          m_radices(stages) {
        visit(0, length, 0);
    }

    /// Return the order; nothing if there is no factorization with so many stages.
    const std::vector<std::int64_t>& best() const { return m_best; }

private:
    /// Try all radices of a stage and those inside.
    /// @param size  of the transforms that are left
    /// @param ways  sum of the stages outside
    void visit(std::size_t stage, std::int64_t size, double ways) {
        if (!m_best.empty() && ways >= m_fewest_ways) {
            return;
        }
        if (stage == m_radices.size()) {
            compare(ways);
            return;
        }
        const bool is_innermost = stage + 1 == m_radices.size();
        for (std::int64_t radix = is_innermost ? max_inner_radix : max_radix; radix >= 2; --radix) {
            if (is_innermost ? size == radix : size % radix == 0) {
                m_radices[stage] = radix;
                visit(stage + 1, size / radix, ways + ways_of_stage(stage, radix, size / radix));
            }
        }
    }

    double ways_of_stage(std::size_t stage, std::int64_t radix, std::int64_t distance) const {
        // All elements of a set have the conflicts of its first one, since equal distances rotate the banks.
        const double ways = ways_of_access(m_length / radix, m_together, [&](std::int64_t set) {
            const std::int64_t offset = set % distance;
            return (set - offset) * radix + offset;
        });
        // Outermost stages read or write memory instead, and both innermost ones of a tile are one.
        const bool is_once = stage == 0 || (m_use == FftUse::tile && stage + 1 == m_radices.size());
        return is_once ? ways : 2 * ways;
    }

    void compare(double ways) {
        if (m_use == FftUse::row) {
            ways += ways_of_access(m_length, m_together, [&](std::int64_t frequency) {
                return position_of(frequency, m_length, m_radices);
            });
        }
        if (m_best.empty() || ways < m_fewest_ways) {
            m_best = m_radices;
            m_fewest_ways = ways;
        }
    }

    std::int64_t m_length, m_together;
    FftUse m_use;
    double m_fewest_ways = 0;
    std::vector<std::int64_t> m_radices, m_best;
};

/// Return exp(-2 pi i part / whole).
c10::complex<double> root_of_unity(std::int64_t part, std::int64_t whole) {
    const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(part % whole) /
                              static_cast<long double>(whole);
    return {static_cast<double>(std::cos(angle)), static_cast<double>(-std::sin(angle))};
}

at::Tensor roots_of(std::int64_t length, const std::vector<std::int64_t>& radices) {
    std::vector<c10::complex<double>> roots;
    std::int64_t distance = length;
    for (const std::int64_t radix : radices) {
        distance /= radix;
        for (std::int64_t q = 1; q < radix; ++q) {
            for (std::int64_t j = 0; j < distance; ++j) {
                roots.push_back(root_of_unity(j * q, radix * distance));
            }
        }
    }
    for (std::int64_t k = 0; k <= length / 2; ++k) {
        roots.push_back(root_of_unity(k, 2 * length));
    }
    at::Tensor tensor = at::empty({static_cast<std::int64_t>(roots.size())}, at::kComplexDouble);
    std::copy(roots.begin(), roots.end(), tensor.mutable_data_ptr<c10::complex<double>>());
    return tensor;
}

at::Tensor order_of(std::int64_t length, const std::vector<std::int64_t>& radices) {
    at::Tensor order = at::empty({2, length}, at::kInt);
    auto* positions = order.mutable_data_ptr<std::int32_t>();
    auto* frequencies = positions + length;
    for (std::int64_t frequency = 0; frequency < length; ++frequency) {
        const std::int64_t position = position_of(frequency, length, radices);
        positions[frequency] = static_cast<std::int32_t>(position);
        frequencies[position] = static_cast<std::int32_t>(frequency);
    }
    return order;
}

/// Tables of one device and use.
struct DeviceTables {
    TensorsByLength float32, float64, order;
};

DeviceTables& tables_of(c10::Device device, FftUse use) {
    static std::mutex mutex;
    // Never freed: CUDA may be gone before static objects.
    static auto& all = *new std::map<std::tuple<c10::DeviceType, c10::DeviceIndex, FftUse>, DeviceTables>;
    const std::lock_guard lock(mutex);
    return all[{device.type(), device.index(), use}];
}

std::vector<std::int64_t> best_radices(std::int64_t length, FftUse use) {
    if (length <= max_inner_radix) {
        return {1, length};
    }
    std::vector<std::int64_t> best;
    if (fast_fft_size(length) == length) { // otherwise no radices divide it
        for (std::size_t stages = 2; best.empty(); ++stages) {
            best = OrderSearch(length, use, stages).best();
        }
    }
    return best;
}

} // namespace

std::vector<std::int64_t> fft_radices(std::int64_t length, FftUse use) {
    require_argument(length >= 1, "fft_radices", "length", length, "1 or more");
    static std::mutex mutex;
    static std::map<std::pair<std::int64_t, FftUse>, std::vector<std::int64_t>> known;
    const std::lock_guard lock(mutex);
    const auto found = known.find({length, use});
    return found != known.end()
               ? found->second
               : known.emplace(std::pair{length, use}, best_radices(length, use)).first->second;
}

bool can_transform(std::int64_t length, FftUse use, std::int64_t shared_bytes, c10::Device device) {
    return shared_bytes <= shared_bytes_limit(device) && !fft_radices(length, use).empty();
}

FftPlan fft_plan(std::int64_t length, FftUse use, at::ScalarType type, c10::Device device) {
    const auto radices = fft_radices(length, use);
    require_argument(!radices.empty(), "fft_plan", "length", length, "a length with radices");
    FftPlan plan{.length = length, .radices = 0, .roots = {}, .order = {}};
    for (std::size_t stage = 0; stage < radices.size(); ++stage) {
        plan.radices |= radices[stage] << (4 * stage);
    }
    DeviceTables& tables = tables_of(device, use);
    plan.roots = (type == at::kFloat ? tables.float32 : tables.float64).get(length, device, [&] {
        return roots_of(length, radices).to(type == at::kFloat ? at::kComplexFloat : at::kComplexDouble);
    });
    plan.order = tables.order.get(length, device, [&] { return order_of(length, radices); });
    return plan;
}

} // namespace spng::kernels
