// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/depos/depositions.h"

#include "spng/core/error.h"
#include "spng/core/tensor_checks.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/argsort.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <utility>
#include <vector>

namespace spng {
namespace {

constexpr const char* data_shape = "float64 (7, deposition)";
constexpr const char* info_shape = "int32 (4, deposition)";

bool is_data(const at::Tensor& tensor) {
    return tensor.defined() && tensor.scalar_type() == at::kDouble && tensor.dim() == 2 &&
           tensor.size(0) == depo_row::count;
}

bool is_info(const at::Tensor& tensor, std::int64_t count) {
    return tensor.defined() && tensor.scalar_type() == at::kInt && tensor.dim() == 2 &&
           tensor.size(0) == depo_info_row::count && tensor.size(1) == count;
}

} // namespace

Depositions no_depositions() {
    return {at::zeros({depo_row::count, 0}, at::kDouble), at::zeros({depo_info_row::count, 0}, at::kInt)};
}

void require_depositions(const Depositions& depositions, const char* operation) {
    require_tensor(is_data(depositions.data), operation, "depo_data", depositions.data, data_shape);
    require_tensor(is_info(depositions.info, depositions.count()), operation, "depo_info", depositions.info,
                   info_shape);
}

Depositions selected_depositions(const Depositions& depositions, const at::Tensor& order) {
    return {depositions.data.index_select(1, order), depositions.info.index_select(1, order)};
}

Depositions sorted_by_time(const Depositions& depositions) {
    require_depositions(depositions, "sorted_by_time");
    return selected_depositions(depositions,
                                at::argsort(depositions.data[depo_row::time], /*stable=*/true, 0, false));
}

std::string DepositionFaults::text() const {
    std::string text;
    const auto add = [&](std::int64_t count, const char* fault) {
        if (count != 0) {
            text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + fault;
        }
    };
    add(not_finite, "not finite");
    add(no_charge, "without charge");
    add(wrong_sign, "with charge of the opposite sign");
    add(negative_spread, "with negative spread");
    add(implausible, "beyond any detector");
    return text;
}

CheckedDepositions checked_depositions(const Depositions& depositions) {
    require_depositions(depositions, "checked_depositions");
    const at::Tensor& data = depositions.data;
    const at::Tensor finite = at::isfinite(data).all(0);
    const at::Tensor charge = data[depo_row::charge];
    const at::Tensor limits =
        at::tensor({max_time, max_charge, max_position, max_position, max_position, max_spread, max_spread},
                   at::kDouble)
            .unsqueeze(1);
    const at::Tensor positive = at::where(finite, charge, 0.0).sum() > 0;
    // A deposition counts for the first of these faults.
    const std::vector<at::Tensor> faulty{finite.logical_not(), charge == 0, (charge > 0) != positive,
                                         (data.slice(0, depo_row::sigma_long) < 0).any(0),
                                         (data.abs() > limits.to(data.device())).any(0)};
    at::Tensor good = faulty[0].logical_not();
    std::vector<at::Tensor> counts{positive.to(at::kLong), faulty[0].sum()};
    for (std::size_t i = 1; i < faulty.size(); ++i) {
        counts.push_back((faulty[i] & good).sum());
        good = good & faulty[i].logical_not();
    }
    const at::Tensor on_host = at::stack(counts).cpu();
    const auto* count = on_host.const_data_ptr<std::int64_t>();
    CheckedDepositions result{depositions, {count[1], count[2], count[3], count[4], count[5], count[0] != 0}};
    if (const std::int64_t dropped = result.faults.dropped(); dropped != 0) {
        const at::Tensor order = at::argsort(good.logical_not().to(at::kByte),
                                             /*stable=*/true, 0, false);
        result.depositions =
            selected_depositions(depositions, order.slice(0, 0, depositions.count() - dropped));
    }
    if (result.faults.sign_flipped) {
        result.depositions.data = result.depositions.data.clone();
        result.depositions.data[depo_row::charge].neg_();
    }
    return result;
}

TensorSetPtr deposition_set(std::shared_ptr<const EventInfo> event, Depositions depositions) {
    require_depositions(depositions, "deposition_set");
    const auto tensor = [](const char* name, at::Tensor data) {
        NamedTensor result;
        result.name = name;
        result.data = std::move(data);
        result.axes = {{"quantity", "", 0, 1}, {"deposition", "", 0, 1}};
        return result;
    };
    return std::make_shared<const TensorSet>(
        std::move(event), std::vector{tensor(depo_data_name, std::move(depositions.data)),
                                      tensor(depo_info_name, std::move(depositions.info))});
}

Depositions depositions_in(const TensorSet& set) {
    const auto found = [&](const char* name) {
        const NamedTensor* tensor = set.find(name);
        return tensor == nullptr ? at::Tensor{} : tensor->data;
    };
    Depositions result{found(depo_data_name), found(depo_info_name)};
    const bool data_fits = is_data(result.data);
    if (!data_fits || !is_info(result.info, result.count())) {
        throw Error(ErrorKind::Input, {.what = "the set holds no depositions",
                                       .where = data_fits ? depo_info_name : depo_data_name,
                                       .seen = describe_tensor(data_fits ? result.info : result.data),
                                       .expected = data_fits ? info_shape : data_shape,
                                       .hint = "connect a source of depositions: SPNGTrackDepos or "
                                               "SPNGDepoFileSource"});
    }
    return result;
}

} // namespace spng
