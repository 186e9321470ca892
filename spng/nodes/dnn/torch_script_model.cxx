// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/torch_script_model.h"

#include "spng/core/error.h"
#include "spng/nodes/dnn/bfloat16.h"
#include "spng/nodes/dnn/model_archive.h"
#include "spng/nodes/dnn/model_failure.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/version.h>

namespace spng {
namespace {

class TorchScriptModel : public Model {
public:
    TorchScriptModel(torch::jit::Module module, ModelMetadata metadata, std::string file, bool bfloat16)
        : Model(std::move(metadata), std::move(file)), m_module(std::move(module)), m_bfloat16(bfloat16) {}

    at::Tensor forward(const at::Tensor& input) const override {
        const c10::AutoGradMode no_gradients(false);
        const torch::jit::GraphOptimizerEnabledGuard no_optimiser(false);
        c10::IValue output;
        try {
            output = m_bfloat16 ? forward_in_bfloat16(input) : m_module.get_method("forward")({input});
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
        const auto layout = input.is_cuda() ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
        return m_module.get_method("forward")({input.contiguous(layout)});
    }

    torch::jit::Module m_module;
    bool m_bfloat16;
};

/// Move the tensors among the constants of a graph to a device.
void move_constants(torch::jit::Block& block, c10::Device device) {
    namespace attr = torch::jit::attr;
    for (auto* node : block.nodes()) {
        for (auto* inner : node->blocks()) {
            move_constants(*inner, device);
        }
        if (node->kind() != torch::jit::prim::Constant || !node->hasAttribute(attr::value)) {
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

/// Freeze a module on the host, then move it. Freezing compares each pair of constants, and on a device each
/// comparison waits: 4512 waits for the 48 constants of the shipped network.
torch::jit::Module frozen_on(c10::Device device, const torch::jit::Module& module) {
    torch::jit::Module frozen = torch::jit::freeze(module);
    frozen.to(device);
    for (const auto& method : frozen.get_methods()) {
        move_constants(*method.graph()->block(), device);
    }
    return frozen;
}

} // namespace

std::unique_ptr<const Model> load_torch_script(const std::filesystem::path& file, c10::Device device,
                                               bool bfloat16) {
    constexpr const char* whole_file = "a whole TorchScript file of a LibTorch not newer than " TORCH_VERSION;
    const auto bytes = model_file_size(file, "a TorchScript file");
    torch::jit::ExtraFilesMap extra{{"metadata.json", ""}};
    try {
        require_whole_archive(file, bytes, whole_file);
        const c10::AutoGradMode no_gradients(false);
        torch::jit::Module module = torch::jit::load(file.string(), c10::kCPU, extra);
        module.eval();
        return std::make_unique<TorchScriptModel>(frozen_on(device, module),
                                                  parse_model_metadata(extra["metadata.json"], file.string()),
                                                  file.string(), bfloat16);
    } catch (const Error&) {
        throw;
    } catch (const std::exception& failure) {
        throw_if_load_lacks_device(failure, file.string(), bytes, device);
        throw_load_failure(file.string(), bytes, failure_reason(failure), whole_file);
    }
}

} // namespace spng
