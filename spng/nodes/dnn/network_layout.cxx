// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/network_layout.h"

#include <ATen/ops/empty.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

namespace spng {
namespace {

using torch::jit::Block;
using torch::jit::Node;

/// A copy with the strides of the format, also where dimensions of length 1 would allow others: cuDNN's operators choose
/// the layout of a convolution by the strides of its weights.
at::Tensor in_format(const at::Tensor& tensor, at::MemoryFormat format) {
    return at::empty(tensor.sizes(), tensor.options(), format).copy_(tensor);
}

void set_format(Block& block, at::MemoryFormat format) {
    for (Node* const node : block.nodes()) {
        for (Block* const inner : node->blocks()) {
            set_format(*inner, format);
        }
        if (node->kind() == c10::prim::Constant && node->hasAttribute(c10::attr::value) &&
            node->kindOf(c10::attr::value) == torch::jit::AttributeKind::t &&
            node->t(c10::attr::value).dim() == 4) {
            node->t_(c10::attr::value, in_format(node->t(c10::attr::value), format));
        } else if (node->kind() == c10::aten::contiguous) {
            const torch::jit::WithInsertPoint here(node);
            node->replaceInput(1, node->owningGraph()->insertConstant(static_cast<std::int64_t>(format)));
        }
    }
}

} // namespace

std::string to_string(NetworkLayout layout) {
    switch (layout) {
    case NetworkLayout::contiguous:
        return "contiguous";
    case NetworkLayout::channels_last:
        return "channels last";
    default:
        return "as saved";
    }
}

void set_layout(torch::jit::Module& module, NetworkLayout layout) {
    if (layout != NetworkLayout::as_saved) {
        set_format(*module.get_method("forward").graph()->block(), layout == NetworkLayout::contiguous
                                                                       ? at::MemoryFormat::Contiguous
                                                                       : at::MemoryFormat::ChannelsLast);
    }
}

} // namespace spng
