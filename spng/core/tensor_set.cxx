// SPDX-License-Identifier: Apache-2.0
#include "spng/core/tensor_set.h"

#include "spng/core/error.h"
#include "spng/core/nearest.h"
#include "spng/core/tensor_visitor.h"

namespace spng {
namespace {

std::vector<std::string> names_of(const std::vector<NamedTensor>& tensors) {
    std::vector<std::string> names;
    for (const auto& tensor : tensors) {
        names.push_back(tensor.name);
    }
    return names;
}

} // namespace

TensorSet::TensorSet(std::shared_ptr<const EventInfo> event, std::vector<NamedTensor> tensors,
                     Reports reports, std::shared_ptr<const Completion> completion)
    : m_event(std::move(event)), m_tensors(std::move(tensors)), m_reports(std::move(reports)),
      m_completion(std::move(completion)) {
    for (std::size_t i = 0; i < m_tensors.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (m_tensors[i].name == m_tensors[j].name) {
                throw Error(ErrorKind::Internal, {.what = "two tensors of one set have the same name",
                                                  .seen = m_tensors[i].name,
                                                  .expected = "names that differ",
                                                  .hint = "give the producing nodes different output names"});
            }
        }
    }
}

const NamedTensor* TensorSet::find(const std::string& name) const {
    for (const auto& tensor : m_tensors) {
        if (tensor.name == name) {
            return &tensor;
        }
    }
    return nullptr;
}

const NamedTensor& TensorSet::at(const std::string& name) const {
    if (const auto* tensor = find(name)) {
        return *tensor;
    }
    const auto names = names_of(m_tensors);
    throw Error(ErrorKind::Internal, {.what = "no tensor '" + name + "' in the input set",
                                      .seen = joined(names),
                                      .expected = name,
                                      .hint = "connect the node that makes it; " + suggestion(name, names)});
}

const NamedTensor& TensorSet::only() const {
    if (m_tensors.size() != 1) {
        throw Error(ErrorKind::Internal,
                    {.what = "this node takes a set of one tensor",
                     .seen = std::to_string(m_tensors.size()) + " tensors: " + joined(names_of(m_tensors)),
                     .expected = "1 tensor",
                     .hint = "connect it to a node that gives one tensor"});
    }
    return m_tensors.front();
}

std::size_t TensorSet::bytes() const {
    std::size_t sum = 0;
    for (const auto& tensor : m_tensors) {
        for_each_tensor(
            tensor, [&](const at::Tensor& each, TensorRole) { sum += each.defined() ? each.nbytes() : 0; });
    }
    return sum;
}

bool TensorSet::is_on_host() const {
    bool is_on_host = true;
    const auto check = [&](const at::Tensor& each, TensorRole) {
        is_on_host = is_on_host && (!each.defined() || each.device().is_cpu());
    };
    for (const auto& tensor : m_tensors) {
        for_each_tensor(tensor, check);
        if (tensor.channels) {
            for_each_tensor(*tensor.channels, check);
        }
    }
    return is_on_host;
}

TensorSetPtr merge(const std::vector<TensorSetPtr>& sets) {
    std::vector<NamedTensor> all;
    for (const auto& set : sets) {
        all.insert(all.end(), set->tensors().begin(), set->tensors().end());
    }
    return std::make_shared<const TensorSet>(sets.front()->event_ptr(), std::move(all));
}

} // namespace spng
