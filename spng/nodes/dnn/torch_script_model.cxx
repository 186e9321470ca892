// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/torch_script_model.h"

#include "spng/core/error.h"
#include "spng/device/bfloat16.h"
#include "spng/nodes/dnn/model_archive.h"
#include "spng/nodes/dnn/model_failure.h"

#include <ATen/ops/empty.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/version.h>

namespace spng {
namespace {

/// A copy with the strides of the format, also where dimensions of length 1 would allow others: cuDNN's operators choose
/// the layout of a convolution by the strides of its weights.
at::Tensor in_format(const at::Tensor& tensor, at::MemoryFormat format) {
    return at::empty(tensor.sizes(), tensor.options(), format).copy_(tensor);
}

void set_format(torch::jit::Block& block, at::MemoryFormat format) {
    for (torch::jit::Node* const node : block.nodes()) {
        for (torch::jit::Block* const inner : node->blocks()) {
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

/// Give the weights and images of a frozen module a layout. Call before the first forward.
void set_layout(torch::jit::Module& module, NetworkLayout layout) {
    if (layout != NetworkLayout::as_saved) {
        set_format(*module.get_method("forward").graph()->block(), layout == NetworkLayout::contiguous
                                                                       ? at::MemoryFormat::Contiguous
                                                                       : at::MemoryFormat::ChannelsLast);
    }
}

/// Move the tensors among the constants of a graph to a device.
void move_constants(torch::jit::Block& block, c10::Device device) {
    namespace attr = c10::attr;
    for (torch::jit::Node* const node : block.nodes()) {
        for (torch::jit::Block* const inner : node->blocks()) {
            move_constants(*inner, device);
        }
        if (node->kind() != c10::prim::Constant || !node->hasAttribute(attr::value)) {
            continue;
        }
        if (node->kindOf(attr::value) == torch::jit::AttributeKind::t) {
            node->t_(attr::value, node->t(attr::value).to(device));
        } else if (node->kindOf(attr::value) == torch::jit::AttributeKind::ts) {
            auto tensors = node->ts(attr::value);
            for (auto& tensor : tensors) {
                tensor = tensor.to(device);
            }
            node->ts_(attr::value, std::move(tensors));
        }
    }
}

/// Move a frozen module, whose parameters are constants of its code, which Module::to() leaves where they are.
void move_to(c10::Device device, torch::jit::Module& module) {
    module.to(device);
    for (const auto& method : module.get_methods()) {
        move_constants(*method.graph()->block(), device);
    }
}

class TorchScriptModel : public Model {
public:
    TorchScriptModel(torch::jit::Module module, ModelMetadata metadata, std::string file, bool bfloat16,
                     NetworkLayout layout)
        : Model(std::move(metadata), std::move(file)), m_module(std::move(module)), m_bfloat16(bfloat16),
          m_layout(layout) {}

    at::Tensor forward(const at::Tensor& input) const override {
        const c10::AutoGradMode no_gradients(false);
        const torch::jit::GraphOptimizerEnabledGuard no_optimiser(false);
        c10::IValue output;
        try {
            output = m_bfloat16 ? forward_in_bfloat16(input) : forward_in_layout(input);
        } catch (const std::exception& failure) {
            throw_forward_failure(failure, file(), input);
        }
        if (!output.isTensor()) {
            throw_wrong_output("type " + output.tagKind(), file());
        }
        return m_bfloat16 ? output.toTensor().to(input.scalar_type()) : output.toTensor();
    }

private:
    c10::IValue forward_in_bfloat16(const at::Tensor& input) const {
        const Bfloat16Scope scope(input.device().type());
        return forward_in_layout(input);
    }

    c10::IValue forward_in_layout(const at::Tensor& input) const {
        const bool has_channels_last = m_layout == NetworkLayout::channels_last ||
                                       (m_layout == NetworkLayout::as_saved && m_bfloat16 && input.is_cuda());
        return m_module.get_method("forward")({input.contiguous(
            has_channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous)});
    }

    torch::jit::Module m_module;
    bool m_bfloat16;
    NetworkLayout m_layout;
};

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

std::unique_ptr<const Model> load_torch_script(const std::filesystem::path& file, c10::Device device,
                                               bool bfloat16, NetworkLayout layout) {
    constexpr const char* whole_file = "a whole TorchScript file of a LibTorch not newer than " TORCH_VERSION;
    const auto bytes = model_file_size(file, "a TorchScript file");
    torch::jit::ExtraFilesMap extra{{"metadata.json", ""}};
    try {
        require_whole_archive(file, whole_file);
        require_no_file_access(file);
        const c10::AutoGradMode no_gradients(false);
        torch::jit::Module module = torch::jit::load(file.string(), c10::kCPU, extra);
        module.eval();
        // Freezing compares each pair of constants: on a device that is 4512 waits for the 48 of the shipped network.
        module = torch::jit::freeze(module);
        set_layout(module, layout);
        move_to(device, module);
        return std::make_unique<TorchScriptModel>(std::move(module),
                                                  parse_model_metadata(extra["metadata.json"], file.string()),
                                                  file.string(), bfloat16, layout);
    } catch (const Error&) {
        throw;
    } catch (const std::exception& failure) {
        throw_if_load_lacks_device(failure, file.string(), bytes, device);
        throw_load_failure(file, file.string(), failure_reason(failure), whole_file);
    }
}

} // namespace spng
