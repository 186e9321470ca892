// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/plumbing/tensor_tap.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/rows/encodings.h"
#include "spng/graph/memory_rule.h"

#include <ATen/ops/view_as_real.h>

namespace spng {
namespace {

const Registration<TensorTap> registration{{.type = "SPNGTensorTap",
                                            .kind = "plumbing",
                                            .inputs = {"set"},
                                            .outputs = {"set"},
                                            .concurrency = Concurrency::serial,
                                            .is_tap = true,
                                            .text = "writes the sets that pass an edge to a file",
                                            .memory = passing_memory_rule()}};

} // namespace

void TensorTap::begin_run(Environment&) {
    m_archive = std::make_unique<ArchiveWriter>(config().filename);
}

Ports TensorTap::process(const Ports& inputs) {
    NVTX_SCOPED_RANGE("TensorTap::write");
    const std::string ending = "_" + std::to_string(inputs[0]->event().ident) + ".npy";
    for (const auto& tensor : inputs[0]->tensors()) {
        const at::Tensor all = dense_tensor(tensor);
        const at::Tensor data = all.is_complex() ? at::view_as_real(all) : all;
        m_archive->add(tensor.name + ending, data.cpu().contiguous());
        if (tensor.channels) {
            m_archive->add(tensor.name + "_ids" + ending, tensor.channels->ids);
        }
    }
    m_archive->mark_worth_keeping();
    return inputs;
}

} // namespace spng
