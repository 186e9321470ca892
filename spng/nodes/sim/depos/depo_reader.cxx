// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/depos/depo_reader.h"

#include "spng/core/error.h"
#include "spng/core/parse_number.h"
#include "spng/core/tensor_checks.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/argsort.h>
#include <ATen/ops/floor.h>

#include <limits>
#include <string_view>

namespace spng {
namespace {

constexpr std::size_t max_other_members = 8;
constexpr const char* shapes = "depo_data (7, n) and depo_info (4, n), or (n, 7) and (n, 4)";

[[noreturn]] void reject(const std::string& what, const std::string& where, const std::string& seen,
                         const std::string& expected, const std::string& hint) {
    throw Error(ErrorKind::Input,
                {.what = what, .where = where, .seen = seen, .expected = expected, .hint = hint});
}

/// Return the ident between `prefix` and ".npy".
std::optional<int> ident_of(std::string_view name, std::string_view prefix) {
    constexpr std::string_view ending = ".npy";
    if (!name.starts_with(prefix) || !name.ends_with(ending) || name.size() < prefix.size() + ending.size()) {
        return std::nullopt;
    }
    return parse_number<int>(name.substr(prefix.size(), name.size() - prefix.size() - ending.size()));
}

bool fits(const at::Tensor& data, const at::Tensor& info, std::int64_t quantities_axis) {
    return data.dim() == 2 && info.dim() == 2 && data.size(quantities_axis) == depo_row::count &&
           info.size(quantities_axis) == depo_info_row::count &&
           data.size(1 - quantities_axis) == info.size(1 - quantities_axis);
}

at::Tensor to_integers(const at::Tensor& info, const std::string& where) {
    const at::Tensor values = info.to(at::kDouble);
    const at::Tensor is_integer =
        (values == at::floor(values)) & (values.abs() <= double{std::numeric_limits<std::int32_t>::max()});
    const at::Tensor wrong = is_integer.logical_not().sum();
    if (const auto count = *wrong.const_data_ptr<std::int64_t>(); count != 0) {
        reject("depo_info does not hold integers", where, std::to_string(count) + " other values",
               "32-bit integers: id, pdg, gen, child", "correct the program that wrote the file");
    }
    return values.to(at::kInt).contiguous();
}

} // namespace

Depositions depositions_from_arrays(const at::Tensor& data, const at::Tensor& info,
                                    const std::string& where) {
    const bool by_rows = fits(data, info, 0);
    if (!by_rows && !fits(data, info, 1)) {
        reject("the arrays of depositions do not fit", where,
               "depo_data " + describe_tensor(data) + ", depo_info " + describe_tensor(info), shapes,
               "correct the program that wrote the file");
    }
    return {(by_rows ? data : data.t()).to(at::kDouble).contiguous(),
            to_integers(by_rows ? info : info.t(), where)};
}

bool DepoReader::read_member(int& ident) {
    while (m_archive.next_member()) {
        const std::string& name = m_archive.member_name();
        const auto data = ident_of(name, "depo_data_"), info = ident_of(name, "depo_info_");
        if (!data && !info) {
            if (m_other_members.size() < max_other_members) {
                m_other_members.push_back(name);
            }
            continue;
        }
        ident = data ? *data : *info;
        const bool failed_before = m_done.contains(ident) && !m_incomplete.contains(ident);
        Halves& halves = m_incomplete[ident];
        at::Tensor& half = data ? halves.data : halves.info;
        if (failed_before || half.defined()) {
            m_incomplete.erase(ident);
            m_done.insert(ident);
            reject("the file holds an event twice", m_archive.where(), "a second " + name,
                   "each member once; unique idents", "give every event its own ident");
        }
        try {
            half = m_arrays.read(m_archive);
        } catch (const Error&) {
            m_incomplete.erase(ident);
            m_done.insert(ident);
            throw;
        }
        return true;
    }
    return false;
}

std::optional<DepoEvent> DepoReader::next() {
    int ident = 0;
    while (read_member(ident)) {
        const Halves halves = m_incomplete.at(ident);
        if (halves.data.defined() && halves.info.defined()) {
            m_incomplete.erase(ident);
            m_done.insert(ident);
            return complete(ident, halves);
        }
    }
    if (!m_incomplete.empty()) {
        const auto [first, halves] = *m_incomplete.begin();
        m_incomplete.erase(m_incomplete.begin());
        reject_incomplete(first, halves);
    }
    return std::nullopt;
}

DepoEvent DepoReader::complete(int ident, const Halves& halves) const {
    DepoEvent event{ident,
                    depositions_from_arrays(halves.data, halves.info,
                                            m_archive.path().string() + ", event " + std::to_string(ident)),
                    0};
    const at::Tensor ancestor = event.depositions.info[depo_info_row::generation] != 0;
    const at::Tensor count = ancestor.sum();
    event.ancestors = *count.const_data_ptr<std::int64_t>();
    if (event.ancestors != 0) {
        const at::Tensor order = at::argsort(ancestor.to(at::kByte), /*stable=*/true, 0, false);
        event.depositions = selected_depositions(
            event.depositions, order.slice(0, 0, event.depositions.count() - event.ancestors));
    }
    return event;
}

void DepoReader::reject_incomplete(int ident, const Halves& halves) const {
    const std::string id = std::to_string(ident);
    reject("the event is not complete", m_archive.path().string() + ", event " + id,
           (halves.data.defined() ? "depo_info_" : "depo_data_") + id + ".npy is missing",
           "depo_data_" + id + ".npy and depo_info_" + id + ".npy",
           "write both arrays; depo_info may be zeros (id, pdg, gen, child)");
}

} // namespace spng
