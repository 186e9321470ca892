// SPDX-License-Identifier: Apache-2.0
#include "spng/kernels/transforms/fft_plan.h"

#include "spng/core/tensor_checks.h"
#include "spng/device/memory/tensors_by_length.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>
#include <utility>

namespace spng::kernels {
namespace {

/// Find the shortest factorization into factors up to `largest`, in falling order.
/// @return nothing if there is none
std::vector<std::int64_t> shortest_factorization(std::int64_t length, std::int64_t largest) {
    std::vector<std::int64_t> best;
    for (std::int64_t factor = largest; factor >= 2; --factor) {
        if (length % factor != 0) {
            continue;
        }
        std::vector<std::int64_t> factors{factor};
        if (length > factor) {
            const auto rest = shortest_factorization(length / factor, factor);
            if (rest.empty()) {
                continue;
            }
            factors.insert(factors.end(), rest.begin(), rest.end());
        }
        if (best.empty() || factors.size() < best.size()) {
            best = std::move(factors);
        }
    }
    return best;
}

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
        std::int64_t rest = frequency, distance = length, position = 0;
        for (const std::int64_t radix : radices) {
            distance /= radix;
            position += rest % radix * distance;
            rest /= radix;
        }
        positions[frequency] = static_cast<std::int32_t>(position);
        frequencies[position] = static_cast<std::int32_t>(frequency);
    }
    return order;
}

/// Tables of one device.
struct DeviceTables {
    TensorsByLength float32, float64, order;
};

DeviceTables& tables_of(c10::Device device) {
    static std::mutex mutex;
    // Never freed: CUDA may be gone before static objects.
    static auto& all = *new std::map<std::pair<c10::DeviceType, c10::DeviceIndex>, DeviceTables>;
    const std::lock_guard lock(mutex);
    return all[{device.type(), device.index()}];
}

std::vector<std::int64_t> best_radices(std::int64_t length) {
    std::vector<std::int64_t> best;
    const auto try_innermost = [&](std::int64_t innermost) {
        if (length % innermost != 0) {
            return;
        }
        auto radices = length == innermost ? std::vector<std::int64_t>{1}
                                           : shortest_factorization(length / innermost, max_radix);
        if (!radices.empty() && (best.empty() || radices.size() + 1 < best.size())) {
            std::ranges::stable_partition(radices, [](std::int64_t radix) { return radix % 2 == 0; });
            radices.push_back(innermost);
            best = std::move(radices);
        }
    };
    for (std::int64_t odd = max_inner_radix - 1; odd >= 1; odd -= 2) {
        try_innermost(odd);
    }
    for (std::int64_t even = max_inner_radix; even >= 2; even -= 2) {
        try_innermost(even);
    }
    return best;
}

} // namespace

std::vector<std::int64_t> fft_radices(std::int64_t length) {
    require_argument(length >= 1, "fft_radices", "length", length, "1 or more");
    static std::mutex mutex;
    static std::map<std::int64_t, std::vector<std::int64_t>> known; // each search takes up to 0.2 ms
    const std::lock_guard lock(mutex);
    const auto found = known.find(length);
    return found != known.end() ? found->second : known.emplace(length, best_radices(length)).first->second;
}

bool can_transform(std::int64_t length, std::int64_t shared_bytes, c10::Device device) {
    return shared_bytes <= shared_bytes_limit(device) && !fft_radices(length).empty();
}

FftPlan fft_plan(std::int64_t length, at::ScalarType type, c10::Device device) {
    const auto radices = fft_radices(length);
    require_argument(!radices.empty(), "fft_plan", "length", length, "a length with radices");
    FftPlan plan{.length = length, .radices = 0, .roots = {}, .order = {}};
    for (std::size_t stage = 0; stage < radices.size(); ++stage) {
        plan.radices |= radices[stage] << (4 * stage);
    }
    DeviceTables& tables = tables_of(device);
    plan.roots = (type == at::kFloat ? tables.float32 : tables.float64).get(length, device, [&] {
        return roots_of(length, radices).to(type == at::kFloat ? at::kComplexFloat : at::kComplexDouble);
    });
    plan.order = tables.order.get(length, device, [&] { return order_of(length, radices); });
    return plan;
}

} // namespace spng::kernels
